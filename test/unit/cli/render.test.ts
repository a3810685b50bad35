import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { driftLines } from "../../../cli/report-plan.ts";
import { paint } from "../../../cli/terminal.ts";
import { planRelease } from "../../../core/plan/release.ts";
import { poolOf, recordOf } from "../../support/core/text.ts";
import { cli, filesOf, folderOf, idlePolicy, lockText, manifests, projectOf, run } from "../../support/schema/cli.ts";
import { objectsIn } from "../../support/schema/render.ts";
import { documentsOf, nicPolicyText, poolText } from "../../support/schema/text.ts";

const lock = lockText("10.0.0.1 Node/n1/a/p", "10.0.0.2 Node/n2/a/p");
const covered = { "nodeippool.lock": lock };
const addressesIn = (text: string) => text.match(/(?<=ip: )\S+/g);

describe("nodeippool render", () => {
  it("prints every file as one stream of documents", async () => {
    const { stdout, stderr, status } = await run(
      projectOf({ ...covered, "manifests/b.yaml": "kind: Other" }),
      "render",
    );
    expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
    expect(objectsIn({ stdout }).map(({ kind, metadata }) => metadata?.name ?? kind)).toEqual([
      "p",
      "a--n1",
      "a--n2",
      "Other",
    ]);
  });

  it("says which routes nodes keep that their policy no longer has, unless it removes them", async () => {
    const folder = projectOf(covered);
    const render = async (...config: string[]) => {
      const policy = `${nicPolicyText("a").trimEnd()}\n    routes: {config: [${config.join(", ")}]}\n`;
      writeFileSync(join(folder, "manifests/a.yaml"), documentsOf(poolText("  range: {cidr: 10.0.0.0/29}"), policy));
      return (await run(folder, "render", "--out", "rendered")).stderr;
    };
    const over = "next-hop-interface: eth1";
    const [one, other] = ["10.8.0.0/16", "10.9.0.0/16"].map(
      (destination) => `{destination: ${destination}, ${over}, next-hop-address: 10.0.0.6}`,
    ) as [string, string];
    expect(await render(one, other)).toBe("");
    expect(await render(one)).toBe(
      'Note: policy a no longer has the route to 10.9.0.0/16 over eth1 on 2 nodes, and nmstate keeps it. Add it to the routes of the policy: {destination: "10.9.0.0/16", next-hop-interface: eth1, table-id: 254, state: absent}\n',
    );
    expect(await render(one, other)).toBe("");
    expect(await render(one, '{destination: "10.9.0.0/16", next-hop-interface: eth1, state: absent}')).toBe("");
    expect(await render(`{${over}, state: absent}`)).toBe("");
  });

  it("prints valid YAML whatever the files begin and end with", async () => {
    const files = {
      "manifests/b.yaml": "%YAML 1.2\n---\nkind: One\n...\n",
      "manifests/c.yaml": "---\nkind: Two\n---\n",
      "manifests/d.yaml": "",
      "manifests/e.json": '{"kind": "Three"}',
    };
    const { stdout } = await run(projectOf({ ...covered, ...files }), "render");
    const kinds = objectsIn({ stdout }).flatMap((object) => object?.kind ?? []);
    expect(kinds.slice(3)).toEqual(["One", "Two", "Three"]);
  });

  it("takes what is recorded, not what would be given today", async () => {
    const folder = projectOf({ "nodeippool.lock": lockText("10.0.0.4 Node/n2/a/p", "10.0.0.6 Node/n1/a/p") });
    expect(addressesIn((await run(folder, "render")).stdout)).toEqual(["10.0.0.6", "10.0.0.4"]);
  });

  const drifts: [what: string, files: Record<string, string>, diff: string][] = [
    ["no lock", {}, "  + 10.0.0.1  n1  a/p\n    + 10.0.0.2  n2  a/p\n"],
    [
      "a node without an address",
      { "nodeippool.lock": lockText("10.0.0.1 Node/n1/a/p") },
      "  + 10.0.0.2  n2  a/p\n    = 1 kept\n",
    ],
    [
      "an address whose node is gone",
      { ...covered, "nodes.txt": "n1\n" },
      "  - 10.0.0.2  n2  a/p  releasing\n    = 1 kept\n",
    ],
    [
      "an address whose policy is gone",
      { ...covered, "manifests/a.yaml": documentsOf(poolText("  range: {cidr: 10.0.0.0/29}"), idlePolicy) },
      "  - 10.0.0.1  n1  a/p  releasing\n    - 10.0.0.2  n2  a/p  releasing\n",
    ],
    [
      "another NIC",
      { "nodeippool.lock": lockText("10.0.0.1 Node/n1/a/p if=eth7", "10.0.0.2 Node/n2/a/p") },
      "  ~ 10.0.0.1  n1  a/p  on eth1, was on eth7\n    = 1 kept\n",
    ],
    [
      "a node that is back",
      { "nodeippool.lock": lockText("10.0.0.2 Node/n2/a/p", "10.0.0.1 Node/n1/a/p releasing") },
      "  ~ 10.0.0.1  n1  a/p  no longer releasing\n    = 1 kept\n",
    ],
  ];
  it("does not write one claim set over another", async () => {
    const lock = lockText("10.0.0.1 Node/n1/a/p set=one", "10.0.0.2 Node/n2/a/p set=one");
    const folder = projectOf({ "nodeippool.lock": lock });
    expect((await run(folder, "render", "--set", "one", "--out", "out")).status).toBe(0);
    writeFileSync(join(folder, "nodeippool.lock"), lock.replaceAll('"one"', '"two"'));
    expect(await run(folder, "render", "--set", "two", "--out", "out")).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("claim set one, not of two"),
    });
  });

  it.each(drifts)("fails where the lock does not cover it: %s", async (_, files, diff) => {
    for (const options of [[], ["--out", "out"]]) {
      const folder = projectOf(files);
      const before = filesOf(folder);
      const { stdout, stderr, status } = await run(folder, "render", ...options);
      expect({ stdout, status }).toEqual({ stdout: "", status: 5 });
      const [head, hint] =
        "nodeippool.lock" in files
          ? ["nodeippool.lock is not up to date with the manifests", "Run nodeippool allocate"]
          : ["there is no nodeippool.lock here", "Name the lock"];
      expect(stderr.slice(0, stderr.indexOf(hint))).toBe(`stale: ${head}:\n  ${diff}  `);
      expect(filesOf(folder)).toEqual(before);
    }
  });

  it("tells of a folder that is not recorded at all no more than a screen holds", async () => {
    const names = Array.from({ length: 50 }, (_, i) => `n${i}`);
    const pool = documentsOf(poolText("  range: {cidr: 10.0.0.0/24}"), nicPolicyText("a"));
    const folder = projectOf({ "manifests/a.yaml": pool, "nodes.txt": `${names.join("\n")}\n` });
    const { stderr } = await run(folder, "render");
    expect(stderr.split("\n")).toHaveLength(1 + 20 + 1 + 1 + 1);
    expect(stderr).toContain("\n    and 30 more\n");
    writeFileSync(
      join(folder, "nodeippool.lock"),
      lockText("10.0.0.1 Node/n0/a/p", "10.0.0.2 Node/gone/a/p").replace("10.0.0.0/29", "10.0.0.0/24"),
    );
    expect((await run(folder, "render")).stderr).toMatch(/manifests:\n {4}- 10\.0\.0\.2 {2}gone .*\n {4}\+ /);
  });

  it("never writes the lock", async () => {
    const folder = projectOf(covered);
    await run(folder, "render", "--out", "out");
    expect(readFileSync(join(folder, "nodeippool.lock"), "utf8")).toBe(lock);
  });
});

describe("nodeippool render --out", () => {
  it("writes the files under their names, and again only what changed", async () => {
    const folder = projectOf({ ...covered, "manifests/deep/b.yaml": "kind: Other\n" });
    const first = await run(folder, "render", "--out", "out");
    expect(first.stdout).toBe("Rendered 2 files to out: 2 written, 0 unchanged, 0 removed.\n");
    const made = filesOf(join(folder, "out"));
    expect(Object.keys(made)).toEqual([".nodeippool-rendered", "a.yaml", "deep/b.yaml"]);
    expect(addressesIn(made["a.yaml"] ?? "")).toEqual(["10.0.0.1", "10.0.0.2"]);
    const second = await run(folder, "render", "--out", "out");
    expect(second.stdout).toBe("Rendered 2 files to out: 0 written, 2 unchanged, 0 removed.\n");
    expect(filesOf(join(folder, "out"))).toEqual(made);
  });

  it("removes its own files whose manifests are gone, and no others", async () => {
    const folder = projectOf({
      ...covered,
      "manifests/b.yaml": "kind: Other\n",
      "out/README.md": "mine",
      "out/mine.yaml": "kind: Mine\n",
    });
    await run(folder, "render", "--out", "out");
    rmSync(join(folder, "manifests/b.yaml"));
    const { stdout } = await run(folder, "render", "--out", "out");
    expect(stdout).toBe("Rendered 1 file to out: 0 written, 1 unchanged, 1 removed.\n");
    expect(Object.keys(filesOf(join(folder, "out")))).toEqual([
      ".nodeippool-rendered",
      "README.md",
      "a.yaml",
      "mine.yaml",
    ]);
  });

  it("its output is input as good as any: nothing is left to allocate", async () => {
    const folder = projectOf(covered);
    await run(folder, "render", "--out", "out");
    const { stdout, status } = await cli(["render", "out", "--nodes", "nodes.txt", "--lock", "none.lock"], folder);
    expect(status).toBe(0);
    expect(stdout).toBe(filesOf(folder)["out/a.yaml"]);
  });

  it("cleans up after a policy that is gone until the addresses are free", async () => {
    const folder = projectOf(covered);
    const idle = documentsOf(poolText("  range: {cidr: 10.0.0.0/29}"), idlePolicy);
    writeFileSync(join(folder, "manifests/a.yaml"), idle);
    await run(folder, "allocate", "--confirm");
    await run(folder, "render", "--out", "out");
    const left = objectsIn({ f: filesOf(folder)["out/nodeippool-releasing.yaml"] ?? "" });
    expect(left.map(({ metadata }) => metadata.name)).toEqual(["a--n1", "a--n2"]);
    await cli(["release", "a", "--confirm"], folder);
    await run(folder, "render", "--out", "out");
    expect(Object.keys(filesOf(join(folder, "out")))).toEqual([".nodeippool-rendered", "a.yaml"]);
  });
});

describe("nodeippool render as a config management plugin of Argo CD runs it", () => {
  // The plugin's folder is the application's: manifests, nodes and lock side by side; its output is standard output.
  const application = (files: Record<string, string>) =>
    folderOf({ "a.yaml": manifests, "nodes.yaml": "- n1\n- n2\n", ...files });

  it("in the folder itself", async () => {
    const folder = application(covered);
    const before = filesOf(folder);
    const { stdout, stderr, status } = await cli(["render", ".", "--nodes", "nodes.yaml"], folder);
    expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
    expect(addressesIn(stdout)).toEqual(["10.0.0.1", "10.0.0.2"]);
    expect(filesOf(folder)).toEqual(before);
  });

  it("with a lock that does not cover it: nothing on standard output, so nothing is synchronised", async () => {
    const folder = application({ "nodeippool.lock": lockText("10.0.0.1 Node/n1/a/p") });
    const before = filesOf(folder);
    const { stdout, stderr, status } = await cli(["render", ".", "--nodes", "nodes.yaml"], folder);
    expect({ stdout, status }).toEqual({ stdout: "", status: 5 });
    expect(stderr).toContain("+ 10.0.0.2  n2  a/p");
    expect(filesOf(folder)).toEqual(before);
  });

  it.each([
    ["empty", ""],
    ["a folder that is gone", "gone"],
  ])("with a NODEIPPOOL_ALLOCATE that is %s", async (_, value) => {
    const folder = application({});
    const before = filesOf(folder);
    process.env.NODEIPPOOL_ALLOCATE = value;
    const { stdout, stderr, status } = await cli(["render", ".", "--nodes", "nodes.yaml"], folder).finally(() => {
      delete process.env.NODEIPPOOL_ALLOCATE;
    });
    expect(stdout).toBe("");
    expect(stderr).not.toContain("bug:");
    expect([5, 6]).toContain(status);
    expect(filesOf(folder)).toEqual(before);
  });
});

it("two policies of two families and NICs: each NIC its own list", async () => {
  const two = documentsOf(
    manifests,
    poolText("  range: {cidr: 2001:db8::/64}", "six"),
    nicPolicyText("b", ["six"], "eth2").replace("ipv4:", "ipv6:"),
  );
  const folder = projectOf({ "manifests/a.yaml": two });
  await run(folder, "allocate");
  expect(addressesIn((await run(folder, "render")).stdout)).toEqual([
    "10.0.0.1",
    "10.0.0.2",
    "2001:db8::1",
    "2001:db8::2",
  ]);
});

describe("says what nothing takes off its node:", () => {
  const template = '"{{ capture.up.interfaces.0.name }}"';
  const templated = nicPolicyText("a", ["p"], template).replace(
    "  capture:\n",
    '  capture:\n    up: interfaces.type=="ethernet"\n',
  );
  const pool = poolText("  range: {cidr: 10.0.0.0/29}");
  const bare = (line: string) => line.replace(/,"interface":"[^"]*"/, "");
  const stays = "is releasing and stays on its node:";
  const byHand = "Take it off by hand, then nodeippool release";
  it.each<[what: string, manifests: string, lock: string, note: string]>([
    [
      "its policy is gone, and had its NIC from a template",
      pool,
      lockText("10.0.0.3 Node/n1/a/p releasing").replace(/.*10\.0\.0\.3.*/, bare),
      `Note: 10.0.0.3  n1  a/p  ${stays} nobody recorded on which NIC it is, and no policy says it any more. ${byHand} 10.0.0.3 --confirm\n`,
    ],
    [
      "its NIC is a template now",
      documentsOf(pool, templated),
      lockText("10.0.0.1 Node/n1/a/p", "10.0.0.2 Node/n2/a/p", "10.0.0.3 Node/n1/a/q releasing").replace(
        /.*a\/p.*/g,
        bare,
      ),
      `Note: 10.0.0.3  n1  a/q  ${stays} its NIC eth1 may be the one that its policy calls {{ capture.up.interfaces.0.name }}. ${byHand} --evidence nns.json\n`,
    ],
    [
      "imported addresses would go with it",
      pool,
      lockText("10.0.0.4 Node/n1/imported/10.0.0.4 set=imported", "10.0.0.3 Node/n1/a/p releasing"),
      `Note: 10.0.0.3  n1  a/p  ${stays} eth1 has imported addresses too (10.0.0.4), which would go with it. ${byHand} --evidence nns.json\n`,
    ],
    ["its node is gone", pool, lockText("10.0.0.3 Node/n9/a/p releasing").replace(/.*10\.0\.0\.3.*/, bare), ""],
  ])("%s", async (_, text, recorded, note) => {
    const folder = projectOf({ "manifests/a.yaml": text, "nodeippool.lock": recorded });
    const { stdout, stderr, status } = await run(folder, "render");
    expect({ stderr, status }).toEqual({ stderr: note, status: 0 });
    expect(stdout).not.toMatch(/enabled: false/);
  });
});

it("what differs from the record has no colours in the error: it is printed as JSON, too", () => {
  vi.stubEnv("FORCE_COLOR", "1");
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(paint("red", "x")).not.toBe("x");
  const snapshot = recordOf(["10.0.0.1 Node/n/a"], [poolOf("p", "10.0.0.0/24")]);
  const lines = driftLines(planRelease(snapshot, snapshot.allocations)).join("");
  expect(lines).toContain("10.0.0.1");
  expect(lines).not.toContain("\u001b");
});
