import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { parse } from "yaml";
import { writeFolder } from "../../../cli/write-folder.ts";
import { IpamError } from "../../../core/errors.ts";
import type { SourceFile } from "../../../schema/yaml.ts";
import { root } from "../../support/console.ts";
import { cli, filesOf, folderOf, lockText, projectOf } from "../../support/schema/cli.ts";

const list = ".nodeippool-rendered";
const files = (...names: string[]): SourceFile[] => names.map((path) => ({ path, text: `# ${path}\n` }));
const made = (...names: string[]) => ({
  ...Object.fromEntries(names.map((name) => [name, `# ${name}\n`])),
  [list]: names.map((name) => `${name}\n`).join(""),
});

/** A folder beside another one, so that there is something to escape to. */
const place = (before: Record<string, string> = {}) => {
  const parent = folderOf({
    "outside/secret.yaml": "mine",
    ...Object.fromEntries(Object.entries(before).map(([name, text]) => [`out/${name}`, text])),
  });
  return { parent, out: join(parent, "out"), outside: join(parent, "outside") };
};
const refusal = (call: () => unknown) => {
  try {
    call();
  } catch (error) {
    if (error instanceof IpamError) return `${error.code}: ${error.message}`;
    throw error;
  }
  return "nothing";
};

it("is refused where a file has the name of the folder", async () => {
  const folder = projectOf({ "a.yaml": "" });
  await cli(["allocate"], folder);
  expect(await cli(["render", "--out", "a.yaml"], folder)).toMatchObject({
    status: 2,
    stderr: "invalid: a.yaml is a file, and render writes a folder\n  Name a folder by --out.\n",
  });
});

describe("writeFolder", () => {
  it("makes the folder, writes, keeps, rewrites and removes", () => {
    const { out } = place();
    expect(writeFolder(out, files("a.yaml", "b/c.yaml"), "-", "default")).toEqual({ written: 2, removed: 0 });
    expect(filesOf(out)).toEqual(made("a.yaml", "b/c.yaml"));
    expect(writeFolder(out, files("a.yaml", "b/c.yaml"), "-", "default")).toEqual({ written: 0, removed: 0 });
    expect(writeFolder(out, [{ path: "a.yaml", text: "new" }], "-", "default")).toEqual({ written: 1, removed: 1 });
    expect(filesOf(out)).toEqual({ "a.yaml": "new", [list]: "a.yaml\n" });
  });

  it("knows the files of both sides where git left a conflict in the list", () => {
    const out = folderOf({ "r/a.yaml": "a\n", "r/b.yaml": "b\n", "r/c.yaml": "c\n" });
    const sides = [
      "a.yaml",
      "<<<<<<< HEAD",
      "b.yaml",
      "||||||| 1234567",
      "=======",
      "c.yaml",
      ">>>>>>> 116a32a (x: https://e.org/1)",
    ];
    writeFileSync(join(out, "r", list), `${sides.join("\n")}\n`);
    expect(writeFolder(join(out, "r"), [{ path: "c.yaml", text: "new\n" }], "-", "default")).toMatchObject({
      removed: 2,
    });
    expect(readFileSync(join(out, "r", list), "utf8")).toBe("c.yaml\n");
  });

  it("knows its files where git wrote the list with CR LF", () => {
    const { out } = place();
    writeFolder(out, files("a.yaml", "b/c.yaml"), "-", "default");
    writeFileSync(join(out, list), "a.yaml\r\nb/c.yaml\r\n");
    expect(writeFolder(out, files("a.yaml"), "-", "default")).toEqual({ written: 0, removed: 1 });
    expect(filesOf(out)).toEqual(made("a.yaml"));
  });

  it("writes names in one order, whatever order they come in", () => {
    const { out } = place();
    writeFolder(out, files("b.yaml", "a.yaml", "B.yaml"), "-", "default");
    expect(readFileSync(join(out, list), "utf8")).toBe("B.yaml\na.yaml\nb.yaml\n");
  });

  it("keeps the modification time of a file that does not change", () => {
    const { out } = place();
    writeFolder(out, files("a.yaml"), "-", "default");
    const before = lstatSync(join(out, "a.yaml"), { bigint: true });
    writeFolder(out, files("a.yaml", "b.yaml"), "-", "default");
    expect(lstatSync(join(out, "a.yaml"), { bigint: true }).mtimeNs).toBe(before.mtimeNs);
  });

  it("a file of its own that somebody removed is written again, or is gone already", () => {
    const { out } = place({ [list]: "a.yaml\nb.yaml\n" });
    expect(writeFolder(out, files("a.yaml"), "-", "default")).toEqual({ written: 1, removed: 1 });
    expect(filesOf(out)).toEqual(made("a.yaml"));
  });

  it("after a crash it knows every file that it may have written", () => {
    const { out } = place();
    writeFolder(out, files("a.yaml"), "-", "default");
    writeFileSync(join(out, list), "a.yaml\nb.yaml\nc.yaml\n");
    writeFileSync(join(out, "b.yaml"), "half");
    expect(writeFolder(out, files("b.yaml"), "-", "default")).toEqual({ written: 1, removed: 2 });
    expect(filesOf(out)).toEqual(made("b.yaml"));
  });

  it("killed at any moment it leaves no manifest that its list does not name", async () => {
    const { out } = place();
    const names = Array.from({ length: 20_000 }, (_, i) => `${i}.yaml`);
    const script = `
      const { writeFolder } = await import(${JSON.stringify(join(root, "cli/write-folder.ts"))});
      writeFolder(${JSON.stringify(out)}, ${JSON.stringify(files(...names))}, "-", "default");`;
    writeFileSync(join(out, "../write.mts"), script);
    const child = spawn(process.execPath, [join(out, "../write.mts")], { stdio: "ignore" });
    const ended = once(child, "exit");
    await vi.waitFor(() => expect(existsSync(join(out, "9.yaml"))).toBe(true), { timeout: 20_000, interval: 1 });
    child.kill("SIGKILL");
    expect((await ended)[1]).toBe("SIGKILL");
    const there = readdirSync(out).filter((name) => name.endsWith(".yaml"));
    const listed = new Set(readFileSync(join(out, list), "utf8").split("\n"));
    expect(there.length).toBeLessThan(names.length);
    expect(there.filter((name) => !listed.has(name))).toEqual([]);
    expect(writeFolder(out, files("a.yaml"), "-", "default")).toEqual({ written: 1, removed: names.length });
  });
});

describe("writeFolder refuses before it writes anything", () => {
  const escapes = [
    "../outside/secret.yaml",
    "/etc/passwd",
    "a/../../outside/secret.yaml",
    "./a.yaml",
    "a//b.yaml",
    "..",
    ".",
    "b/.",
  ];

  it.each(escapes)("to remove %s, which its list names", (name) => {
    const { parent, out } = place({ [list]: `a.yaml\n${name}\n`, "a.yaml": "old" });
    const before = filesOf(parent);
    expect(refusal(() => writeFolder(out, files("b.yaml"), "-", "default"))).toMatch(/^invalid: .* is no path inside /);
    expect(filesOf(parent)).toEqual(before);
  });

  it.each(escapes)("to write %s", (name) => {
    const { parent, out } = place();
    const before = filesOf(parent);
    expect(refusal(() => writeFolder(out, files("b.yaml", name), "-", "default"))).toMatch(
      /^invalid: .* is no path inside /,
    );
    expect(filesOf(parent)).toEqual(before);
  });

  it("to follow a link, of a file or of a folder, listed or not", () => {
    for (const [link, name] of [
      ["a.yaml", "a.yaml"],
      ["sub", "sub/secret.yaml"],
      ["sub", "sub/new.yaml"],
    ] as const)
      for (const listed of ["", `${name}\n`]) {
        const { parent, out, outside } = place({ [list]: listed });
        symlinkSync(link === "sub" ? outside : join(outside, "secret.yaml"), join(out, link));
        const before = filesOf(parent);
        expect(refusal(() => writeFolder(out, files("b.yaml", name), "-", "default"))).toMatch(
          /^invalid: .* is a symbolic link/,
        );
        expect(filesOf(parent)).toEqual(before);
      }
  });

  it("a file that no render wrote", () => {
    const { parent, out } = place({ [list]: "a.yaml\n", "a.yaml": "old", "b.yaml": "mine" });
    const before = filesOf(parent);
    expect(refusal(() => writeFolder(out, files("a.yaml", "b.yaml"), "-", "default"))).toMatch(
      /^invalid: .*b\.yaml is there, but no render wrote it\n {2}If an earlier render wrote it, commit .*\.nodeippool-rendered, which git lacks\./,
    );
    expect(filesOf(parent)).toEqual(before);
  });

  it("policies that it does not have in its list, wanted or not; not those of a rendered folder below, nor what is no policy", () => {
    const policy = "kind: NodeNetworkConfigurationPolicy\nspec: {desiredState: {}}\n";
    const { parent, out } = place({
      [list]: "a.yaml\n",
      ...{
        "a.yaml": policy,
        "b.yaml": policy,
        "below/c.yaml": `kind: List\nitems: [{kind: Namespace}, ${JSON.stringify(parse(policy))}]\n`,
        "other/d.yaml": policy,
        [`other/${list}`]: "d.yaml\n",
      },
      "kustomization.yaml": "patches: [{path: patch.yaml, target: {kind: NodeNetworkConfigurationPolicy}}]\n",
      "patch.yaml": "kind: NodeNetworkConfigurationPolicy\nspec: {maxUnavailable: 1}\n",
      "chart.yaml": "{{ if .Values.on }}\nkind: NodeNetworkConfigurationPolicy\n{{ end }}\n",
    });
    const before = filesOf(parent);
    for (const wanted of [files("a.yaml"), files("a.yaml", "b.yaml")])
      expect(refusal(() => writeFolder(out, wanted, "-", "default"))).toMatch(
        /^invalid: .*b\.yaml has a policy, and is not in .*\.nodeippool-rendered\n.*below\/c\.yaml has .*\n {2}Render .* rm \S+b\.yaml \S+c\.yaml$/,
      );
    expect(filesOf(parent)).toEqual(before);
    rmSync(join(out, list));
    expect(refusal(() => writeFolder(out, files("a.yaml"), "-", "default"))).toMatch(
      /a\.yaml has a policy, and is not in (?:.*\n)+ {2}Render into a folder of its own; or, if git lacks the list, /,
    );
    writeFileSync(join(out, list), "a.yaml\n");
    for (const name of ["b.yaml", "below/c.yaml"]) rmSync(join(out, name));
    expect(writeFolder(out, files("a.yaml"), "-", "default")).toEqual({ written: 1, removed: 0 });
  });

  it("a folder that holds what render reads", () => {
    const { out, parent } = place({ "src/a.yaml": "kind: A\n" });
    for (const folder of [out, parent])
      expect(refusal(() => writeFolder(folder, files("b.yaml"), join(out, "src"), "default"))).toMatch(
        /^invalid: --out \S+ holds \S+src, which render reads\n {2}Render into a folder of its own/,
      );
    writeFileSync(join(parent, "outside/nodes.txt"), "n1\n");
    expect(
      refusal(() =>
        writeFolder(join(parent, "outside"), [], join(out, "src"), "default", [join(parent, "outside/nodes.txt")]),
      ),
    ).toMatch(/outside holds \S+nodes\.txt, which render reads/);
  });

  it("a folder of another claim set, whose policies would go", () => {
    const { out } = place();
    const other = (name: string, set: string) =>
      `invalid: ${out} has what was rendered of claim set ${name}, not of ${set}\n  Each `;
    writeFolder(out, files("a.yaml"), "-", "network");
    expect(filesOf(out)[list]).toBe("# claim set network\na.yaml\n");
    expect(refusal(() => writeFolder(out, files("b.yaml"), "-", "storage"))).toContain(other("network", "storage"));
    expect(refusal(() => writeFolder(out, files("b.yaml"), "-", "default"))).toContain(other("network", "default"));
    expect(writeFolder(out, files("b.yaml"), "-", "network")).toEqual({ written: 1, removed: 1 });
    const both = "<<<<<<< ours\n# claim set network\n=======\n# claim set storage\n>>>>>>> theirs\nb.yaml\n";
    writeFileSync(join(out, list), both);
    expect(refusal(() => writeFolder(out, files("b.yaml"), "-", "network"))).toContain(other("storage", "network"));
    for (const text of ["b.yaml\n", "<<<<<<< ours\n# claim set network\n=======\n>>>>>>> theirs\nb.yaml\n"]) {
      writeFileSync(join(out, list), text);
      expect(refusal(() => writeFolder(out, files("b.yaml"), "-", "network"))).toContain(other("default", "network"));
    }
    // As merge.conflictStyle=diff3 writes it where two branches begin the list.
    const twice = `<<<<<<< ours\n# claim set network\nb.yaml\n||||||| base\n=======\n# claim set network\nc.yaml\n>>>>>>> theirs\n`;
    writeFileSync(join(out, list), twice);
    expect(writeFolder(out, files("b.yaml"), "-", "network")).toEqual({ written: 0, removed: 1 });
    rmSync(join(out, list));
    rmSync(join(out, "b.yaml"));
    for (const written of [1, 0]) expect(writeFolder(out, files("#a.yaml"), "-", "network")).toMatchObject({ written });
  });

  it("a folder where a file should be, and a file where a folder should be", () => {
    for (const [before, name] of [
      [{ "a.yaml/x": "mine" }, "a.yaml"],
      [{ sub: "mine" }, "sub/a.yaml"],
    ] as const) {
      const { parent, out } = place(before);
      const found = filesOf(parent);
      expect(refusal(() => writeFolder(out, files("b.yaml", name), "-", "default"))).toMatch(/^invalid: /);
      expect(filesOf(parent)).toEqual(found);
    }
  });

  it("to remove a folder that stands where a file of its own was", () => {
    const { parent, out } = place({ [list]: "a.yaml\n", "a.yaml/x": "mine" });
    const before = filesOf(parent);
    expect(refusal(() => writeFolder(out, files("b.yaml"), "-", "default"))).toMatch(/^(invalid|unavailable): /);
    expect(filesOf(parent)).toMatchObject(before);
  });
});

describe("nodeippool render --out refuses", () => {
  const project = (more: Record<string, string> = {}) =>
    projectOf({ "nodeippool.lock": lockText("10.0.0.1 Node/n1/a/p", "10.0.0.2 Node/n2/a/p"), ...more });
  const refused = async (folder: string, out: string, manifests = "manifests") => {
    const before = filesOf(folder);
    const { stdout, stderr, status } = await cli(["render", manifests, "--nodes", "nodes.txt", "--out", out], folder);
    expect(filesOf(folder)).toEqual(before);
    expect({ stdout, status }).toEqual({ stdout: "", status: expect.toSatisfy((code) => code === 2 || code === 6) });
    return stderr;
  };

  it.each(["manifests", "manifests/out", "./manifests/a/b/../out", "manifests/deep"])(
    "%s: it lies in the manifests",
    async (out) => {
      expect(await refused(project({ "manifests/deep/c.yaml": "kind: Other\n" }), out)).toContain(
        "lies in the manifests (manifests)\n  Render into a folder of its own",
      );
    },
  );

  it("this folder, where the manifests are this folder", async () => {
    for (const out of [".", "out"]) expect(await refused(project(), out, ".")).toContain("lies in the manifests");
  });

  it("a way round by a link", async () => {
    const folder = project();
    symlinkSync("manifests", join(folder, "link"));
    for (const [manifests, out] of [
      ["link", "link/out"],
      ["manifests", "link/out"],
      ["link", "manifests/out"],
      ["manifests", "link"],
      ["link", "manifests"],
    ] as const)
      expect(await refused(folder, out, manifests)).toContain("lies in the manifests");
  });

  it("a file, or what lies under a file", async () => {
    const folder = project({ "out.yaml": "mine" });
    for (const out of ["out.yaml", "out.yaml/sub", "nodeippool.lock"])
      expect(await refused(folder, out)).not.toContain("bug:");
  });

  it.skipIf(process.getuid?.() === 0)("a folder that may not be written", async () => {
    const folder = project({ "out/.keep": "" });
    chmodSync(join(folder, "out"), 0o500);
    onTestFinished(() => chmodSync(join(folder, "out"), 0o700)); // or the run cannot clear up behind itself
    expect(await refused(folder, "out")).not.toContain("bug:");
  });

  it("but not a folder beside them whose name begins like theirs", async () => {
    const { status } = await cli(["render", "manifests", "--nodes", "nodes.txt", "--out", "manifests-out"], project());
    expect(status).toBe(0);
  });
});
