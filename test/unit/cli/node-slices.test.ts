import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { shell } from "../../support/git/repository.ts";
import { attachment, listAttachment, selecting, slicePool } from "../../support/objects/whereabouts-objects.ts";
import { cli, filesOf, folderOf, idlePolicy, type Ran } from "../../support/schema/cli.ts";
import { nicPolicyText, poolText } from "../../support/schema/text.ts";

const storage = attachment("storage", { range: "10.1.0.0/16", node_slice_size: "/24", gateway: "10.1.0.1" }, "apps");
const six = listAttachment("six", { range: "fd00:1::/48", node_slice_size: "64", network_name: "blue" });
const classic = `# Nobody cuts this one into slices.
apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata: {name:   classic}
spec: {config: '{"name":"classic","ipam":{"type":"whereabouts","range":"10.9.0.0/16"}}'}
`;

/** What a node reports of its NIC, which has an address, or none. */
function nodeState(name: string, ...ips: string[]) {
  const ipv4 = { enabled: true, address: ips.map((ip) => ({ ip, "prefix-length": 24 })) };
  const interfaces = [{ name: "eth1", state: "up", ipv4 }];
  return {
    apiVersion: "nmstate.io/v1beta1",
    kind: "NodeNetworkState",
    metadata: { name },
    status: { currentState: { interfaces } },
  };
}

/** A folder with networks, and nodes n1 and n2. */
function projectOf(files: Readonly<Record<string, string>> = {}): string {
  const networks = [storage, six].map((one) => JSON.stringify(one)).join("\n---\n");
  return folderOf({ "m/networks.yaml": networks, "nodes.txt": "n1\nn2\n", ...files });
}

const run = (folder: string, ...words: string[]): Promise<Ran> => cli([...words, "--nodes", "nodes.txt"], folder);

async function done(folder: string, ...words: string[]): Promise<string> {
  const { status, stdout, stderr } = await run(folder, ...words);
  expect({ status, stderr }).toEqual({ status: 0, stderr: expect.any(String) });
  return stdout;
}

/** The NodeSlicePools that are rendered: `n1 10.1.1.0/24` each, by name. */
async function rendered(folder: string): Promise<Record<string, string[]>> {
  const objects = parseAllDocuments(await done(folder, "render", "m")).map((document) => document.toJS());
  return Object.fromEntries(
    objects
      .filter(({ kind }) => kind === "NodeSlicePool")
      .map(({ metadata, status }) => [
        metadata.name,
        status.allocations.map((one: { nodeName: string; sliceRange: string }) => `${one.nodeName} ${one.sliceRange}`),
      ]),
  );
}

const slices = { storage: ["n1 10.1.1.0/24", "n2 10.1.2.0/24"], blue: ["n1 fd00:1::/64", "n2 fd00:1:0:1::/64"] };

describe("a folder of networks with slices", () => {
  it("plan shows the slice of each node, and writes nothing", async () => {
    const folder = projectOf();
    expect(await done(folder, "plan", "m")).toBe(
      [
        "Pool blue  fd00:1::/48 in blocks of /64   network blue  65536 usable  0 held  2 new  65534 free",
        "  + fd00:1::/64  n1  blue",
        "  + fd00:1:0:1::/64  n2  blue",
        "Pool storage  10.1.0.0/16 in blocks of /24 10.1.0.0-10.1.255.255 less 1   255 usable  0 held  2 new  253 free",
        "  + 10.1.1.0/24  n1  storage",
        "  + 10.1.2.0/24  n2  storage",
        "Plan: 4 to allocate, 0 kept, 0 to release.",
        "Run nodeippool allocate to begin nodeippool.lock with it.",
        "",
      ].join("\n"),
    );
    expect(existsSync(join(folder, "nodeippool.lock"))).toBe(false);
  });

  it("allocate records them; who has one keeps it, whoever comes and goes", async () => {
    const folder = projectOf();
    await done(folder, "allocate", "m");
    const lock = () => readFileSync(join(folder, "nodeippool.lock"), "utf8");
    expect(lock()).toContain('- {"address":"10.1.1.0/24","pool":"storage","claim":"Node/n1/storage"}');
    const digests = async () =>
      [...(await done(folder, "render", "m")).matchAll(/io\/slices: (\S+)/g)].map(([, digest]) => digest);
    const before = await digests();
    expect(await digests()).toEqual(before);
    writeFileSync(join(folder, "nodes.txt"), "n0\nn2\nn3\n");
    await done(folder, "allocate", "m");
    expect(new Set([...before, ...(await digests())]).size).toBe(4);
    expect(await rendered(folder)).toEqual({
      storage: ["n1 10.1.1.0/24", "n2 10.1.2.0/24", "n0 10.1.3.0/24", "n3 10.1.4.0/24"],
      blue: ["n1 fd00:1::/64", "n2 fd00:1:0:1::/64", "n0 fd00:1:0:2::/64", "n3 fd00:1:0:3::/64"],
    });
    const { stderr } = await run(folder, "render", "m");
    const once = "its IPPool has no allocations (kubectl get ippools -A -o yaml)";
    expect(stderr).toContain(
      `Note: 10.1.1.0/24  n1  storage  is releasing: its pods may have addresses of it. Once ${once}: nodeippool release 10.1.1.0/24 --confirm\n`,
    );
    expect((await cli(["release"], folder)).stdout).toBe(
      [
        "  10.1.1.0/24  n1  storage",
        "  fd00:1::/64  n1  blue",
        "2 addresses releasing.",
        `Free each once ${once}: nodeippool release NAME... --confirm`,
        "",
      ].join("\n"),
    );
    expect((await cli(["release", "n1"], folder)).stderr).toBe(
      `in-use: 2 addresses may still be in use\n  Free each once ${once}. If you know that they are not, say so: --confirm.\n`,
    );
    writeFileSync(join(folder, "nns.json"), JSON.stringify({ kind: "List", items: [nodeState("n1")] }));
    expect((await cli(["release", "--evidence", "nns.json"], folder)).stdout).toBe(
      [
        `  = 10.1.1.0/24  n1  storage  it is not recorded on which NIC it was; once ${once}: nodeippool release 10.1.1.0/24 --confirm`,
        `  = fd00:1::/64  n1  blue  it is not recorded on which NIC it was; once ${once}: nodeippool release fd00:1::/64 --confirm`,
        "Freed 0 addresses.",
        "",
      ].join("\n"),
    );
    await cli(["release", "n1", "--confirm"], folder);
    writeFileSync(join(folder, "nodes.txt"), "n0\nn2\nn3\nn4\n");
    await done(folder, "allocate", "m");
    expect((await rendered(folder)).storage).toEqual([
      "n4 10.1.1.0/24",
      "n2 10.1.2.0/24",
      "n0 10.1.3.0/24",
      "n3 10.1.4.0/24",
    ]);
  });

  it("render writes a NodeSlicePool beside each network, and leaves the rest as it is, byte for byte", async () => {
    const { config } = storage.spec as { config: string };
    const commented = `# Ours.\napiVersion:   k8s.cni.cncf.io/v1\nkind: NetworkAttachmentDefinition\nmetadata: {name: storage} # sliced\nspec:\n  config: |\n    ${config}\n`;
    const folder = projectOf({ "m/networks.yaml": `${classic}---\n${commented}`, "m/classic.yaml": classic });
    await done(folder, "allocate", "m");
    await done(folder, "render", "m", "--out", "out");
    const out = filesOf(join(folder, "out"));
    expect(out["classic.yaml"]).toBe(classic);
    const [first, second, pool] = `${out["networks.yaml"]}`.split("---\n");
    expect([first, second]).toEqual([classic, commented]);
    expect(parse(`${pool}`)).toEqual({
      apiVersion: "whereabouts.cni.cncf.io/v1alpha1",
      kind: "NodeSlicePool",
      metadata: {
        name: "storage",
        namespace: "kube-system",
        annotations: { "nodeippool.nmstate.io/slices": expect.stringMatching(/^[0-9a-f]{16}$/) },
      },
      spec: { range: "10.1.0.0/16", sliceSize: "/24" },
      status: {
        allocations: [
          { nodeName: "n1", sliceRange: "10.1.1.0/24" },
          { nodeName: "n2", sliceRange: "10.1.2.0/24" },
        ],
      },
    });
  });

  it("a NodeSlicePool of one's own says in which namespace it is, with which labels; others stay as they are", async () => {
    const own = "apiVersion: whereabouts.cni.cncf.io/v1alpha1\nkind: NodeSlicePool\n";
    const other = `${own}metadata: {name:   other}\nspec: {range: 10.8.0.0/16, sliceSize: /24}\nstatus: {allocations: []}\n`;
    const metadata =
      "{name: storage, namespace: multus, labels: {team: net}, resourceVersion: '7', ownerReferences: []}";
    const folder = projectOf({ "m/pools.yaml": `${own}metadata: ${metadata}\n---\n${other}` });
    await done(folder, "allocate", "m");
    await done(folder, "render", "m", "--out", "out");
    const [pool, rest] = `${filesOf(join(folder, "out"))["pools.yaml"]}`.split("---\n");
    expect(rest).toBe(other);
    expect(parse(`${pool}`)).toMatchObject({
      metadata: { name: "storage", namespace: "multus", labels: { team: "net" } },
      status: { allocations: [{ nodeName: "n1" }, { nodeName: "n2" }] },
    });
    expect(Object.keys(parse(`${pool}`).metadata)).toEqual(["name", "namespace", "labels", "annotations"]);
    expect((await rendered(folder)).storage).toEqual(slices.storage);
  });

  it("audit holds rendered slices against the record", async () => {
    const folder = projectOf();
    await done(folder, "allocate", "m");
    await done(folder, "render", "m", "--out", "out");
    expect(await cli(["audit", "out"], folder)).toMatchObject({
      status: 0,
      stdout: "4 addresses checked, 0 findings\n",
    });
    const text = JSON.stringify(slicePool("storage", "10.1.0.0/16", "/24", { n1: "10.1.2.0/24", n2: "10.1.7.0/25" }));
    writeFileSync(join(folder, "out/pool.json"), text);
    const { status, stdout } = await cli(["audit", "out/pool.json", "--pools", "m"], folder);
    expect(status).toBe(5);
    expect(stdout.replaceAll(/^\S+: /gm, "").split("\n")).toEqual([
      "leaked: 10.1.1.0/24 is recorded for Node/n1/storage, but nothing uses it",
      "wrong-owner: 10.1.2.0/24 is used by Node/n1, but recorded for Node/n2/storage",
      "stranger: 10.1.7.0/25 of pool storage is used by Node/n2, but not recorded",
      "5 addresses checked, 3 findings",
      "",
    ]);
    const outside = JSON.stringify(slicePool("storage", "10.1.0.0/16", "/24", { n1: "10.2.0.0/24" }));
    writeFileSync(join(folder, "out/pool.json"), outside);
    expect((await cli(["audit", "out/pool.json", "--pools", "m"], folder)).stderr).toContain(
      "10.2.0.0/24 of n1 is outside of range 10.1.0.0/16",
    );
  });

  it("a report of a node's NICs says nothing of its slice; what a network excludes is used by nobody", async () => {
    const folder = projectOf({ "m/nodes.yaml": `${poolText()}---\n${nicPolicyText("lan")}` });
    await done(folder, "allocate", "m");
    const items = [nodeState("n1", "10.0.0.1"), nodeState("n2", "10.0.0.2")];
    writeFileSync(join(folder, "nns.json"), JSON.stringify({ kind: "List", items }));
    expect(await cli(["audit", "nns.json", "--pools", "m"], folder)).toMatchObject({ status: 0 });
    await done(folder, "render", "m", "--out", "out");
    expect(await cli(["audit", "out"], folder)).toMatchObject({ status: 0 });
  });

  it("explain and show tell whose a slice is, and why one is nobody's", async () => {
    const folder = projectOf();
    await done(folder, "allocate", "m");
    const explained = async (what: string) => (await cli(["explain", what, "--pools", "m"], folder)).stdout;
    expect(await explained("n2")).toBe(
      "fd00:1:0:1::/64: pool blue of network blue, offset 1, held by n2, blue\n10.1.2.0/24: pool storage, offset 2, held by n2, storage\n",
    );
    expect(await explained("10.1.2.77")).toContain("10.1.2.77 in 10.1.2.0/24: pool storage, offset 2, held by n2");
    expect(await explained("10.1.0.1")).toContain("excluded");
    expect(await explained("10.1.0.9")).toContain("in a block that the pool does not have, or excludes, in part");
    const { stdout } = await cli(["show", "storage", "--pools", "m", "--json"], folder);
    const [{ allocations, ...pool }] = JSON.parse(stdout).pools;
    expect(pool).toMatchObject({ cidr: "10.1.0.0/16", usable: 255, free: 253, held: 2, excluded: 256 });
    expect(allocations.map((line: { address: string }) => line.address)).toEqual(["10.1.1.0/24", "10.1.2.0/24"]);
  });

  it("diff tells who joined since a revision", async () => {
    const folder = projectOf();
    await done(folder, "allocate", "m");
    const commit = "git init -q . && git add . && git -c user.name=a -c user.email=a@example.org commit -qm two";
    expect(shell(commit, folder)).toMatchObject({ status: 0 });
    writeFileSync(join(folder, "nodes.txt"), "n1\nn2\nn3\n");
    await done(folder, "allocate", "m");
    expect((await cli(["diff", "HEAD"], folder)).stdout).toBe(
      "  + 10.1.3.0/24  n3  storage\n  + fd00:1:0:2::/64  n3  blue\n2 lines changed since HEAD.\n",
    );
  });

  it("another size is for nodes that join; another range is refused", async () => {
    const folder = projectOf();
    await done(folder, "allocate", "m");
    const write = (ipam: object) =>
      writeFileSync(
        join(folder, "m/networks.yaml"),
        JSON.stringify(attachment("storage", { gateway: "10.1.0.1", ...ipam })),
      );
    write({ range: "10.1.0.0/16", node_slice_size: "/26" });
    writeFileSync(join(folder, "nodes.txt"), "n0\nn1\nn2\nn3\n");
    await done(folder, "allocate", "m", "--confirm");
    expect((await rendered(folder)).storage).toEqual([
      "n0 10.1.0.64/26",
      "n3 10.1.0.128/26",
      "n1 10.1.1.0/24",
      "n2 10.1.2.0/24",
    ]);
    write({ range: "10.1.0.0/17", node_slice_size: "/26" });
    const { status, stderr } = await run(folder, "allocate", "m");
    expect(status).toBe(3);
    expect(stderr).toContain("its allocations were made in 10.1.0.0/16 of network default");
    expect(stderr).toContain("Restore it and add a network of another name.");
  });

  it("a definition that goes leaves the slices of those that share its network; with the last one they are released", async () => {
    const ipam = { range: "10.1.0.0/16", node_slice_size: "/24", network_name: "net" };
    const [a, b] = [attachment("a", ipam), attachment("b", ipam)].map((one) => JSON.stringify(one));
    const folder = projectOf({ "m/networks.yaml": `${a}\n---\n${b}` });
    await done(folder, "allocate", "m");
    const before = await rendered(folder);
    writeFileSync(join(folder, "m/networks.yaml"), `${b}`);
    expect(await done(folder, "allocate", "m")).toContain("Nothing to record.");
    expect(await rendered(folder)).toEqual(before);
    writeFileSync(join(folder, "m/networks.yaml"), classic);
    expect(await done(folder, "allocate", "m", "--confirm")).toContain("- 10.1.0.0/24  n1  net  releasing");
    expect(await rendered(folder)).toEqual({});
  });

  it("mv keeps the slices of a node that is renamed", async () => {
    const folder = projectOf();
    await done(folder, "allocate", "m");
    await cli(["mv", "n2", "worker-2"], folder);
    writeFileSync(join(folder, "nodes.txt"), "n1\nworker-2\n");
    await done(folder, "allocate", "m");
    expect((await rendered(folder)).storage).toEqual(["n1 10.1.1.0/24", "worker-2 10.1.2.0/24"]);
  });
});

describe("a network for some of the nodes", () => {
  const workers = (selector = "node-role.kubernetes.io/worker=") => JSON.stringify(selecting(selector, storage));
  const kinds = { n1: "worker", n2: "worker", cp1: "control-plane" };
  const list = (roles: Readonly<Record<string, string>>) =>
    JSON.stringify(
      Object.entries(roles).map(([name, role]) => ({ name, labels: { [`node-role.kubernetes.io/${role}`]: "" } })),
    );

  it.each([
    "node-role.kubernetes.io/worker=",
    "node-role.kubernetes.io/worker",
    "!node-role.kubernetes.io/control-plane",
  ])("gives a slice to those alone, by their labels: %s", async (selector) => {
    const folder = projectOf({ "m/networks.yaml": workers(selector), "nodes.txt": list(kinds) });
    await done(folder, "allocate", "m");
    expect(await rendered(folder)).toEqual({ storage: slices.storage });
    expect((await run(folder, "explain", "cp1", "--pools", "m")).stdout).toBe(
      [
        "node cp1 has no address",
        `  NetworkAttachmentDefinition apps/storage does not select cp1: its nodeippool.nmstate.io/node-selector is ${selector}`,
        "",
      ].join("\n"),
    );
  });

  it("releases the slice of a node that it does not select any more; until that is free it stays listed", async () => {
    const folder = projectOf({ "m/networks.yaml": workers(), "nodes.txt": list({ ...kinds, cp1: "worker" }) });
    await done(folder, "allocate", "m");
    writeFileSync(join(folder, "nodes.txt"), list(kinds));
    expect(await done(folder, "allocate", "m")).toContain("- 10.1.1.0/24  cp1  storage  releasing");
    expect((await rendered(folder)).storage).toEqual(["cp1 10.1.1.0/24", "n1 10.1.2.0/24", "n2 10.1.3.0/24"]);
    await cli(["release", "cp1", "--confirm"], folder);
    expect((await rendered(folder)).storage).toEqual(["n1 10.1.2.0/24", "n2 10.1.3.0/24"]);
  });

  it("is refused where labels are not known, and said to be for nobody where none has them", async () => {
    const folder = projectOf({ "m/networks.yaml": workers() });
    const { status, stderr } = await run(folder, "plan", "m");
    expect(status).toBe(2);
    expect(stderr).toContain(
      "NetworkAttachmentDefinition apps/storage selects nodes by node-role.kubernetes.io/worker, but only the name of n1 is known",
    );
    const byName = projectOf({ "m/networks.yaml": workers("kubernetes.io/hostname notin (n1)") });
    await done(byName, "allocate", "m");
    expect((await rendered(byName)).storage).toEqual(["n2 10.1.1.0/24"]);
    const nobody = projectOf({ "m/networks.yaml": workers("gpu"), "nodes.txt": list(kinds) });
    expect((await run(nobody, "plan", "m")).stdout).toContain(
      "Note: NetworkAttachmentDefinition apps/storage selects none of the nodes: its nodeippool.nmstate.io/node-selector is gpu",
    );
  });

  it("is refused with its place where the selector cannot be read, or is none in YAML", async () => {
    const text = `kind: NetworkAttachmentDefinition
apiVersion: k8s.cni.cncf.io/v1
metadata:
  name: storage
  annotations:
    nodeippool.nmstate.io/node-selector: SELECTOR
spec: {config: '${(storage.spec as { config: string }).config}'}
`;
    const refusal = async (selector: string) => {
      const networks = text.replace("SELECTOR", selector);
      return (await run(projectOf({ "m/networks.yaml": networks, "nodes.txt": list(kinds) }), "plan", "m")).stderr;
    };
    expect(await refusal("'zone = a, disk > 5'")).toContain(
      'invalid: m/networks.yaml:6:42: nodeippool.nmstate.io/node-selector: "disk > 5" does not begin with a condition on a label',
    );
    expect(await refusal("!node-role.kubernetes.io/control-plane")).toContain(
      "Put a text that begins with ! in quotes.",
    );
    expect(await refusal("7")).toContain(
      "m/networks.yaml:6:42: nodeippool.nmstate.io/node-selector: a label selector is text",
    );
  });

  it("is told apart by one selector: definitions of a network that differ in it are both named", async () => {
    const other = JSON.stringify(
      attachment("b", { range: "10.1.0.0/16", node_slice_size: "/24" }, "x", { name: "storage" }),
    );
    const folder = projectOf({ "m/networks.yaml": `${workers("b,a")}\n---\n${other}`, "nodes.txt": list(kinds) });
    expect((await run(folder, "plan", "m")).stderr).toContain(
      "NetworkAttachmentDefinitions apps/storage and x/b share network storage, and differ in nodeippool.nmstate.io/node-selector: a, b and none",
    );
  });
});

describe("import takes the slices that nodes have, and moves nobody", () => {
  const had = { n2: "10.1.5.0/24", n1: "10.1.16.0/20" };
  const free = ["10.1.1.0/24", "10.1.2.0/24"];

  it.each(["a file of its own", "the folder"])("from %s; of whatever size", async (place) => {
    const text = JSON.stringify({ kind: "List", items: [slicePool("storage", "10.1.0.0/16", "/24", had, free)] });
    const path = place === "the folder" ? "m/found.json" : "found.json";
    const folder = projectOf({ "nodes.txt": "n1\nn2\nn3\n", [path]: text });
    expect(await done(folder, "import", place === "the folder" ? "m" : path, "m")).toContain(
      "10.1.16.0/20  n1  storage",
    );
    await done(folder, "allocate", "m");
    expect((await rendered(folder)).storage).toEqual(["n3 10.1.1.0/24", "n2 10.1.5.0/24", "n1 10.1.16.0/20"]);
  });

  it("a node that is gone keeps its slice, which is listed, until somebody says that its pods are gone", async () => {
    const text = JSON.stringify(slicePool("storage", "10.1.0.0/16", "/24", { old: "10.1.1.0/24", n1: "10.1.2.0/24" }));
    const folder = projectOf({ "found.json": text });
    expect(await done(folder, "import", "found.json", "m")).toContain(
      "Note: old is not among the nodes, and keeps 10.1.1.0/24. Once its IPPool has no allocations (kubectl get ippools -A -o yaml): nodeippool release 10.1.1.0/24 --confirm\n",
    );
    await done(folder, "allocate", "m");
    expect((await rendered(folder)).storage).toEqual(["old 10.1.1.0/24", "n1 10.1.2.0/24", "n2 10.1.3.0/24"]);
    await cli(["release", "10.1.1.0/24", "--confirm"], folder);
    expect((await rendered(folder)).storage).toEqual(["n1 10.1.2.0/24", "n2 10.1.3.0/24"]);
    const back = projectOf({ "found.json": text });
    await done(back, "import", "found.json", "m");
    writeFileSync(join(back, "nodes.txt"), "n1\nold\n");
    expect(await done(back, "allocate", "m")).not.toContain("10.1.1.0/24  old  storage  releasing");
    expect((await rendered(back)).storage).toEqual(["old 10.1.1.0/24", "n1 10.1.2.0/24"]);
  });

  it("a list of a network that is not defined is refused, and what would define it is said", async () => {
    const folder = projectOf({ "found.json": JSON.stringify(slicePool("other", "10.1.0.0/16", "/24", had)) });
    expect((await run(folder, "import", "found.json", "m")).stderr).toMatch(
      /pool "other" is not defined\n {2}Put what defines it among the manifests: a NodeIPPool, or the NetworkAttachmentDefinition of that network/,
    );
  });

  it("a list in the folder that is older than the record is refused, with its file and what to do", async () => {
    const folder = projectOf({
      "m/found.json": JSON.stringify(
        slicePool("storage", "10.1.0.0/16", "/24", { n1: "10.1.1.0/24", n2: "10.1.2.0/24" }),
      ),
    });
    await done(folder, "import", "m", "m");
    for (const nodes of ["n1\n", "n1\nn3\n"]) {
      writeFileSync(join(folder, "nodes.txt"), nodes);
      if (nodes === "n1\n") await done(folder, "allocate", "m");
      await cli(["release", "n2", "--confirm"], folder);
    }
    const { status, stderr } = await run(folder, "plan", "m");
    expect(status).toBe(3);
    expect(stderr).toMatch(
      /m\/found\.json:\S+ 10\.1\.2\.0\/24 is used by Node\/n2, but recorded for Node\/n3\/storage\n/,
    );
    expect(stderr).toContain(
      "If nodes have these slices now, import this file. If it is older than the record, take status out of it: render writes that.",
    );
    const one = JSON.parse(readFileSync(join(folder, "m/found.json"), "utf8"));
    writeFileSync(join(folder, "m/found.json"), JSON.stringify({ ...one, status: undefined }));
    await done(folder, "allocate", "m");
    expect((await rendered(folder)).storage).toEqual(["n1 10.1.1.0/24", "n3 10.1.2.0/24"]);
  });

  it("a plan that would give a node's slice to another one is refused before", async () => {
    const folder = projectOf({
      "m/found.json": JSON.stringify(slicePool("storage", "10.1.0.0/16", "/24", { n2: "10.1.1.0/24" })),
    });
    const { status, stderr } = await run(folder, "allocate", "m");
    expect(status).toBe(3);
    expect(stderr).toContain("10.1.1.0/24 is used by Node/n2, but recorded for Node/n1/storage\n");
    expect(stderr).toContain("If nodes have these slices now, import this file.");
    expect(existsSync(join(folder, "nodeippool.lock"))).toBe(false);
  });

  it.each([
    ["the gateway is in it", { n1: "10.1.0.0/24" }],
    ["it is outside of the range", { n1: "10.7.0.0/24" }],
  ])("a slice is refused where %s", async (_, given) => {
    const text = JSON.stringify({ ...slicePool("storage", "10.0.0.0/8", "/24", given), spec: {} });
    const folder = projectOf({ "found.json": text });
    const { status, stderr } = await run(folder, "import", "found.json", "m");
    expect(status).toBe(2);
    expect(stderr).toContain(`Node/n1 has ${given.n1}, which pool storage may not hand out`);
    expect(stderr).toContain("or give the node another slice first");
  });

  it("two nodes with one slice are a conflict", async () => {
    const text = JSON.stringify(slicePool("storage", "10.1.0.0/16", "/24", { n1: "10.1.1.0/24", n2: "10.1.1.0/28" }));
    const { status, stderr } = await run(projectOf({ "found.json": text }), "import", "found.json", "m");
    expect(status).toBe(4);
    expect(stderr).toContain("is on Node/n1 and on Node/n2");
  });
});

describe("what cannot be is refused, with its place, and nothing is recorded", () => {
  async function refusal(...networks: readonly object[]): Promise<string> {
    const text = networks.map((one) => JSON.stringify(one)).join("\n---\n");
    const folder = projectOf({ "m/networks.yaml": text });
    const { status, stderr } = await run(folder, "allocate", "m");
    expect([2, 3]).toContain(status);
    expect(existsSync(join(folder, "nodeippool.lock"))).toBe(false);
    return stderr;
  }

  it("definitions of one network that differ: both are named", async () => {
    const ipam = { range: "10.1.0.0/16", node_slice_size: "/24", network_name: "net" };
    const other = attachment("b", { ...ipam, node_slice_size: "/25" }, "apps");
    expect(await refusal(attachment("a", ipam), other)).toBe(
      [
        "invalid: m/networks.yaml:1:136: NetworkAttachmentDefinitions apps/b and default/a share network net, and differ in node_slice_size: /25 and /24",
        "  Let both say the same, or give each a network_name of its own.",
        "",
      ].join("\n"),
    );
  });

  it("networks of one space whose ranges overlap, and a network and a pool of nodes", async () => {
    const ipam = { range: "10.1.0.0/16", node_slice_size: "/24" };
    const overlapping = await refusal(attachment("a", ipam), attachment("b", { ...ipam, range: "10.1.128.0/17" }));
    expect(overlapping).toContain("pools a and b of network default share addresses");
    const folder = projectOf({ "m/pool.yaml": `${poolText("  range: {cidr: 10.1.9.0/24}")}---\n${idlePolicy}` });
    expect((await run(folder, "plan", "m")).stderr).toContain("pools storage and p of network default share addresses");
    const apart = projectOf({ "m/pool.yaml": poolText("  range: {cidr: 'fd00:1::/64'}") });
    expect(await run(apart, "plan", "m")).toMatchObject({ status: 0 });
  });

  it("more nodes than slices: how many there are, and what would help", async () => {
    const small = attachment("small", { range: "10.1.0.0/29", node_slice_size: "/30", gateway: "10.1.0.1" });
    const said = await refusal(small);
    expect(said).toContain("pool small is exhausted: 2 needed, 1 free");
    expect(said).toContain("a wider range, or smaller slices for nodes that join (node_slice_size)");
  });

  it("a name that no NodeSlicePool can have, and what is no JSON", async () => {
    const ipam = { range: "10.1.0.0/16", node_slice_size: "/24" };
    expect(await refusal(attachment("my_net", ipam))).toContain('network name "my_net" is no name');
    const broken = { ...storage, spec: { config: '{"node_slice_size": }' } };
    expect(await refusal(broken)).toContain("config is no JSON");
  });

  it("a folder of networks without nodes", async () => {
    const folder = projectOf();
    rmSync(join(folder, "nodes.txt"));
    expect((await cli(["plan", "m"], folder)).stderr).toContain("there are no nodes to plan for");
  });
});
