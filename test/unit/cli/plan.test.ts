import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../../support/console.ts";
import { cli, filesOf, lockText, manifests, projectOf, run } from "../../support/schema/cli.ts";
import { documentsOf, nicPolicyText, poolText } from "../../support/schema/text.ts";

describe("nodeippool plan", () => {
  it("shows every pool, every change and what to do next", async () => {
    const { stdout, stderr, status } = await run(
      projectOf({ "nodeippool.lock": lockText("10.0.0.1 Node/n1/a/p", "10.0.0.4 Node/gone/a/p") }),
      "plan",
    );
    expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
    expect(stdout).toBe(`Pool p  10.0.0.0/29 .1-.6   6 usable  2 held  1 new  3 free
  + 10.0.0.2  n2  a/p
  - 10.0.0.4  gone  a/p  releasing
  = 1 kept
Plan: 1 to allocate, 1 kept, 1 to release.
Run nodeippool allocate to record it.
`);
  });

  it.each([["--context"], ["--namespace"]])("refuses %s without the backend that it is of", async (option) => {
    const { stdout, stderr, status } = await cli(["plan", "manifests", option, "prod"], projectOf());
    const says = `invalid: ${option.slice(2)} is for the backend kubernetes\n  Add --backend kubernetes, or backend: kubernetes in the configuration.\n`;
    expect([stdout, stderr, status]).toEqual(["", says, 2]);
  });

  it("says so where there is nothing to record", async () => {
    const lock = lockText("10.0.0.1 Node/n1/a/p", "10.0.0.2 Node/n2/a/p");
    const { stdout } = await run(projectOf({ "nodeippool.lock": lock }), "plan");
    expect(stdout).toMatch(/= 2 kept\nPlan: 0 to allocate, 2 kept, 0 to release\.\nNothing to record\.\n$/);
  });

  it("reads the proposal's example as the proposal says", async () => {
    const example = join(root, "examples/static-ip");
    const { stdout } = await cli(
      ["plan", join(example, "manifests"), "--nodes", join(example, "nodes.txt")],
      projectOf(),
    );
    expect(stdout).toContain("Pool traffic-1  10.10.10.0/24 .1-.10 less 2   8 usable  0 held  3 new  5 free\n");
    expect(stdout).toContain("  + 10.10.11.3  node03  static-ip/address-from-traffic-2\n");
  });

  it("prints JSON and nothing else with --json", async () => {
    const folder = projectOf({
      "manifests/b.yaml": nicPolicyText("b", ["p"], "eth2", "  nodeSelector: {role: storage}\n"),
      "nodes.txt": "n1 kubernetes.io/hostname=n1,role=worker\nn2 kubernetes.io/hostname=n2,role=worker\n",
      "nodeippool.lock": lockText("10.0.0.1 Node/n1/a/p", "10.0.0.4 Node/gone/a/p", "10.0.0.5 Node/n2/a/p if=eth9"),
    });
    const { stdout, stderr, status } = await run(folder, "plan", "--json");
    expect(status).toBe(3);
    expect(stderr).toMatch(/policy a gives the address of eth9 to eth1, and nothing takes it off eth9 \(n2\)\n/);
    const line = (address: string, claim: string, nic = "eth1") => ({
      address,
      pool: "p",
      claim,
      set: "default",
      interface: nic,
    });
    const { error, ...said } = JSON.parse(stdout);
    expect(error.issues).toMatchObject([{ at: { file: "manifests/a.yaml", line: 15 } }]);
    expect(said).toEqual({
      set: "default",
      assign: [],
      keep: [
        line("10.0.0.1", "Node/n1/a/p"),
        { ...line("10.0.0.5", "Node/n2/a/p"), was: line("10.0.0.5", "Node/n2/a/p", "eth9") },
      ],
      release: [{ ...line("10.0.0.4", "Node/gone/a/p"), to: "releasing" }],
      pending: [],
      notes: ["Note: policy b selects none of the nodes: none has role: storage"],
    });
  });

  it("prints JSON of a plan that cannot be, and its reason on standard error", async () => {
    const folder = projectOf({ "nodes.txt": "n1\nn2\nn3\nn4\nn5\nn6\nn7\n" });
    const { stdout, stderr, status } = await run(folder, "plan", "--json");
    expect(status).toBe(3);
    expect(JSON.parse(stdout).pending).toHaveLength(1);
    expect(stderr).toBe(
      "exhausted: manifests/a.yaml:5:10: pool p is exhausted: 7 needed, 6 free\n  Take addresses from another pool too: this one has its whole prefix.\n",
    );
  });

  it.each([
    ["with a lock", { "nodeippool.lock": lockText("10.0.0.4 Node/gone/a/p") }, []],
    ["without a lock", {}, []],
    ["as JSON", {}, ["--json"]],
    ["of another set", {}, ["--set", "other"]],
    ["that moves", { "nodeippool.lock": lockText("10.0.0.4 Node/n1/old/p") }, ["--allow-move"]],
  ])("writes nothing: %s", async (_, files, options) => {
    const folder = projectOf(files);
    const before = filesOf(folder);
    expect((await run(folder, "plan", ...options)).status).toBe(0);
    expect(filesOf(folder)).toEqual(before);
  });

  it("takes lines of other sets for occupied, and leaves them alone", async () => {
    const folder = projectOf({ "nodeippool.lock": lockText("10.0.0.1 Node/n9/x/p set=other") });
    const { stdout } = await run(folder, "plan");
    expect(stdout).toContain("  + 10.0.0.2  n1  a/p\n  + 10.0.0.3  n2  a/p\n");
    expect(stdout).toContain("0 to release");
  });

  it("gives two policies addresses of one pool", async () => {
    const { stdout } = await run(projectOf({ "manifests/b.yaml": nicPolicyText("b", ["p"], "eth2") }), "plan");
    expect(stdout.match(/\+ \S+ {2}\S+ {2}\S+/g)).toEqual([
      "+ 10.0.0.1  n1  a/p",
      "+ 10.0.0.2  n1  b/p",
      "+ 10.0.0.3  n2  a/p",
      "+ 10.0.0.4  n2  b/p",
    ]);
  });
});

describe("nodeippool plan finds manifests and nodes", () => {
  const claims = async (folder: string, args: readonly string[]) => {
    const { stdout, stderr } = await cli(["plan", ...args], folder);
    return stdout.match(/(?<=^ {2}\+ \S+ {2})\S+/gm) ?? stderr;
  };
  const node = (name: string) =>
    `apiVersion: v1\nkind: Node\nmetadata: {name: ${name}, labels: {kubernetes.io/hostname: ${name}}}\n`;

  it.each([
    ["a folder", {}, ["manifests", "--nodes", "nodes.txt"], ["n1", "n2"]],
    ["a file", {}, ["manifests/a.yaml", "--nodes", "nodes.txt"], ["n1", "n2"]],
    ["nothing: this folder", {}, ["--nodes", "nodes.txt"], ["n1", "n2"]],
    [
      "the nodes file among the manifests",
      { "manifests/nodes.yaml": "- x\n- z\n" },
      ["manifests", "--nodes", "manifests/nodes.yaml"],
      ["x", "z"],
    ],
    [
      "its own words for the nodes file",
      { "manifests/nodes.yaml": node("x") },
      ["./manifests/", "--nodes", "manifests/../manifests/nodes.yaml"],
      ["x"],
    ],
    [
      "--nodes before Node documents",
      { "manifests/nodes.yaml": node("x") },
      ["manifests", "--nodes", "nodes.txt"],
      ["n1", "n2"],
    ],
    [
      "hidden files, node_modules and other endings left out",
      {
        "manifests/.b.yaml": "{",
        "manifests/.git/c.yaml": "{",
        "manifests/node_modules/d.yaml": node("x"),
        "manifests/e.txt": node("x"),
      },
      ["manifests", "--nodes", "nodes.txt"],
      ["n1", "n2"],
    ],
  ] as [string, Record<string, string>, string[], string[]][])("%s", async (_, files, args, names) => {
    expect(await claims(projectOf(files), args)).toEqual(names);
  });

  it("folders in folders, .yml and .json", async () => {
    const folder = projectOf({
      "manifests/a.yaml": "kind: Other\n",
      "manifests/deep/er/p.yml": poolText("  range: {cidr: 10.0.0.0/29}"),
      "manifests/deep/a.json": JSON.stringify({
        apiVersion: "nmstate.io/v1",
        kind: "NodeNetworkConfigurationPolicy",
        metadata: { name: "a" },
        spec: { capture: { x: "ippool.p.allocate" } },
      }),
    });
    expect(await claims(folder, ["manifests", "--nodes", "nodes.txt"])).toEqual(["n1", "n2"]);
  });

  it("says which policies are for no node at all", async () => {
    const folder = projectOf({
      "manifests/b.yaml": nicPolicyText("b", ["p"], "eth2", "  nodeSelector: {role: storage}\n"),
      "nodes.txt": "n1 kubernetes.io/hostname=n1,role=worker\nn2 kubernetes.io/hostname=n2,role=worker\n",
    });
    for (const verb of ["plan", "allocate"])
      expect((await run(folder, verb)).stdout).toContain(
        "Note: policy b selects none of the nodes: none has role: storage\n",
      );
  });

  it("stops if a policy gives addresses to another NIC and nothing takes them off the old one, until that is confirmed", async () => {
    const folder = projectOf();
    await run(folder, "allocate");
    const write = (policy: string) =>
      writeFileSync(join(folder, "manifests/a.yaml"), documentsOf(poolText("  range: {cidr: 10.0.0.0/29}"), policy));
    const policy = nicPolicyText("a", ["p"], "eth7");
    write(policy);
    const message =
      "policy a gives 2 addresses of eth1 to eth7, and nothing takes them off eth1 (n1, n2)\n  Add the old NIC to the policy: {name: eth1, ipv4: {enabled: false}}. If no node has it on eth1, confirm it: nodeippool allocate --confirm\n";
    for (const verb of ["plan", "allocate", "render"])
      expect(await run(folder, verb)).toMatchObject({ status: verb === "render" ? 5 : 3 });
    expect((await run(folder, "allocate")).stderr).toContain(message);
    write(policy.replace("    interfaces:\n", "    interfaces:\n    - {name: eth1, ipv4: {enabled: false}}\n"));
    expect(await run(folder, "plan")).toMatchObject({ status: 0 });
    write(policy);
    expect(await run(folder, "allocate", "--confirm")).toMatchObject({ status: 0 });
    expect(await run(folder, "plan")).toMatchObject({ status: 0 });
  });

  it("says which policies set DNS servers where nmstate cannot take the addresses off any more", async () => {
    const withServer = (name: string, server: string, nic: string, node: string) => {
      const policy = nicPolicyText(name, ["p"], nic, `  nodeSelector: {kubernetes.io/hostname: ${node}}\n`);
      return `${policy.trimEnd()}\n    dns-resolver: {config: {server: ["${server}"]}}\n`;
    };
    const manifests = {
      b: withServer("b", "fe80::1%eth2", "eth2", "n1"),
      c: withServer("c", "10.0.0.53", "eth3", "n2"),
    };
    const folder = projectOf({ "manifests/b.yaml": documentsOf(manifests.b, manifests.c) });
    const { stdout } = await run(folder, "plan");
    expect(stdout.match(/Note: policy . has dns-resolver/g)).toEqual(["Note: policy b has dns-resolver"]);
  });

  it("says which policies take nothing here any more: they may be another folder's", async () => {
    const folder = projectOf({ "manifests/b.yaml": nicPolicyText("b", ["p"], "eth2") });
    await run(folder, "allocate");
    rmSync(join(folder, "manifests/b.yaml"));
    const note =
      /^ *Note: policy b of claim set default is not here: 2 addresses released\. .* \(--set\), and the policy to its folder: nodeippool mv b --to-set NAME$/m;
    for (const verb of ["plan", "allocate"]) expect((await run(folder, verb)).stdout).toMatch(note);
    expect((await run(folder, "plan")).stdout).not.toContain("Note");
  });

  it("says nothing of that where a policy is renamed for some of its nodes", async () => {
    const folder = projectOf({ "manifests/b.yaml": nicPolicyText("b", ["p"], "eth2") });
    await run(folder, "allocate");
    writeFileSync(
      join(folder, "manifests/b.yaml"),
      nicPolicyText("c", ["p"], "eth2", "  nodeSelector: {kubernetes.io/hostname: n1}\n"),
    );
    const { stdout } = await run(folder, "plan");
    expect(stdout).toContain("10.0.0.4  n2  b/p  releasing");
    expect(stdout).not.toContain("takes no address here");
  });

  it("lets a policy go to another folder once that is said, before or after it was released there", async () => {
    const folder = projectOf({ "manifests/b.yaml": nicPolicyText("b", ["p"], "eth2") });
    await run(folder, "allocate");
    const lock = join(folder, "nodeippool.lock");
    const begun = readFileSync(lock, "utf8");
    mkdirSync(join(folder, "edge"));
    renameSync(join(folder, "manifests/b.yaml"), join(folder, "edge/b.yaml"));
    writeFileSync(join(folder, "edge/pool.yaml"), poolText("  range: {cidr: 10.0.0.0/29}"));
    const edge = () => cli(["allocate", "edge", "--set", "edge", "--nodes", "nodes.txt"], folder);
    const addresses = (text: string) => text.match(/10\.0\.0\.\d+","pool":"p","claim":"[^"]*/g);
    expect(await edge()).toMatchObject({
      status: 2,
      stderr: expect.stringContaining(
        "invalid: edge/b.yaml:6:8: policy b has addresses in claim set default, too: 10.0.0.2 of n1 and 1 more\n  Rename one of them; or declare that it came from there: nodeippool mv b --to-set edge\n",
      ),
    });
    await run(folder, "allocate");
    expect(await edge()).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(
        /^invalid: edge\/b\.yaml:6:8: policy b has addresses in claim set default, too: 10\.0\.0\.2 of n1 and 1 more\n.*: nodeippool mv b --to-set edge\n$/,
      ),
    });
    for (const text of [readFileSync(lock, "utf8"), begun]) {
      writeFileSync(lock, text);
      expect((await cli(["mv", "b", "--to-set", "edge"], folder)).stdout).toMatch(
        /\nMoved 2 claims in .*; no address moved\.\n$/,
      );
      expect((await edge()).status).toBe(0);
      expect(await run(folder, "plan")).toMatchObject({ stdout: expect.stringContaining("Nothing to record") });
      expect(addresses(readFileSync(lock, "utf8"))).toEqual(addresses(begun));
    }
  });

  it("with a byte order mark, as some editors write it", async () => {
    const folder = projectOf({ "manifests/a.yaml": `\ufeff${manifests}`, "nodes.txt": "\ufeffn1\n" });
    expect(await claims(folder, ["manifests", "--nodes", "nodes.txt"])).toEqual(["n1"]);
  });

  it("a loop of links ends", async () => {
    const folder = projectOf();
    symlinkSync("..", join(folder, "manifests/loop"));
    expect(await claims(folder, ["manifests", "--nodes", "nodes.txt"])).toEqual(["n1", "n2"]);
  });

  it("a link to a manifest is read or refused, but not left out without a word", async () => {
    const folder = projectOf({ "manifests/a.yaml": "kind: Other\n", "elsewhere.yaml": manifests });
    symlinkSync("../elsewhere.yaml", join(folder, "manifests/link.yaml"));
    expect(await claims(folder, ["manifests", "--nodes", "nodes.txt"])).not.toEqual("");
  });
});
