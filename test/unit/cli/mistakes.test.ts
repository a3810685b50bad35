import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { cli, filesOf, folderOf, writeFiles } from "../../support/schema/cli.ts";
import { documentsOf, nicPolicyText, poolText } from "../../support/schema/text.ts";

/*
 * Mistakes of the first month with nodeippool: what somebody does, the command, its exit status and its error. None of them
 * changes the lock.
 */

type Files = Readonly<Record<string, string>>;

const pool = poolText("  range: {cidr: 10.0.0.0/24}");
const otherPool = poolText("  range: {cidr: 10.1.0.0/24}", "q");
const rack = (name: string, selector: string, from = "p") =>
  nicPolicyText(name, [from], "eth1", `  nodeSelector: {${selector}}\n`);
const nodesOf = (name: string, count: number, label = `rack=${name}`) =>
  Array.from({ length: count }, (_, i) => `${name}${i} kubernetes.io/hostname=${name}${i},${label}\n`).join("");

const [rackA, rackB] = [rack("rack-a", "rack: a"), rack("rack-b", "rack: b")];
/** Rack a has twenty nodes and a policy, rack b has two. */
const racks: Files = {
  "manifests/pool.yaml": pool,
  "manifests/a.yaml": rackA,
  "manifests/b.yaml": rackB,
  "nodes.txt": nodesOf("a", 20) + nodesOf("b", 2),
};
/** Six policies for the same twenty nodes. */
const sixPolicies: Files = {
  "manifests/pool.yaml": pool,
  ...Object.fromEntries(
    [1, 2, 3, 4, 5, 6].map((i) => [`manifests/nic-${i}.yaml`, nicPolicyText(`nic-${i}`, ["p"], `eth${i}`)]),
  ),
  "nodes.txt": nodesOf("a", 10) + nodesOf("b", 10),
};
const twoNodes: Files = { "manifests/a.yaml": documentsOf(pool, rackA), "nodes.txt": nodesOf("a", 2) };
/** Policy edge has a capture of each pool; the storage policy has addresses of pool q, too. */
const edge = nicPolicyText("edge", ["p", "q"]);
const twoCaptures: Files = {
  "manifests/pools.yaml": documentsOf(pool, otherPool),
  "manifests/edge.yaml": edge,
  "manifests/storage.yaml": nicPolicyText("storage", ["q"], "eth2"),
  "nodes.txt": nodesOf("a", 2),
};

const routed = (nic: string, over: string) =>
  `${nicPolicyText("rack-a", ["p"], nic)}    routes:\n      config: [{destination: 10.9.0.0/16, next-hop-address: 10.0.0.254, next-hop-interface: ${over}}]\n`;
const reserving = (owner: string) =>
  poolText(`  range: {cidr: 10.0.0.0/24}\n  reservations: [{address: 10.0.0.40, ${owner}}]`);
const zeroPadded: Files = { "manifests/a.yaml": rackA, "nodes.txt": nodesOf("a0", 3, "rack=a") };

/** A StatefulSet of another program, whose pod has this address by Multus. */
const pinned = (address: string) => `apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  template:
    metadata:
      annotations: {k8s.v1.cni.cncf.io/networks: '[{"name":"macvlan-db","ips":["${address}"]}]'}
`;

async function allocated(files: Files): Promise<string> {
  const folder = folderOf(files);
  expect(await cli(["allocate"], folder)).toMatchObject({ status: 0 });
  return folder;
}

const ofRackB = "this plan releases all 2 addresses of policy rack-b (10.0.0.21 of b0, 10.0.0.22 of b1): ";
const workers: Files = { "manifests/a.yaml": documentsOf(pool, nicPolicyText("a")), "nodes.txt": nodesOf("worker", 2) };
const oneMachine = (name: string, old: string, address: string) =>
  `in-use: nodes.txt:2:1: ${name} is new, and ${old}, which has ${address}, is gone: they may be one machine\n  If they are, correct the name or declare the rename. If they are two, allow the move: nodeippool mv Node/${old} Node/${name}, or nodeippool allocate --allow-move\n`;
const confirm = "\n  If it is meant, confirm it: nodeippool allocate --confirm\n";
const whole = "of set default: wrong node list, selector or folder?";

it.each<[does: string, before: Files, changes: Files, command: string, status: number, error: string]>([
  [
    "types rack: bb for rack: b",
    racks,
    { "manifests/b.yaml": rack("rack-b", "rack: bb") },
    "allocate",
    3,
    `in-use: manifests/b.yaml:5:17: ${ofRackB}policy rack-b selects none of the nodes: none has rack: bb; did you mean b?${confirm}`,
  ],
  [
    "types rak: b for rack: b",
    racks,
    { "manifests/b.yaml": rack("rack-b", "rak: b") },
    "allocate",
    3,
    `in-use: manifests/b.yaml:5:17: ${ofRackB}policy rack-b selects none of the nodes: none has rak: b; did you mean rack?${confirm}`,
  ],
  [
    "types a label, in a folder of two nodes",
    twoNodes,
    { "manifests/a.yaml": documentsOf(pool, rack("rack-a", "rack: aa")) },
    "allocate",
    3,
    `in-use: manifests/a.yaml:11:17: this plan releases all 2 addresses of policy rack-a (10.0.0.1 of a0, 10.0.0.2 of a1): policy rack-a selects none of the nodes: none has rack: aa; did you mean a?${confirm}`,
  ],
  [
    "lists the nodes of a rack with another label",
    racks,
    { "nodes.txt": nodesOf("a", 20) + nodesOf("b", 2, "row=b") },
    "allocate",
    3,
    `in-use: manifests/b.yaml:5:17: ${ofRackB}policy rack-b selects none of the nodes: none has rack: b; did you mean a?${confirm}`,
  ],
  [
    "gives a policy another pool",
    racks,
    { "manifests/b.yaml": documentsOf(otherPool, rack("rack-b", "rack: b", "q")) },
    "allocate",
    3,
    `in-use: manifests/b.yaml:13:8: ${ofRackB}its owners are still there${confirm}`,
  ],
  [
    "gives one of two captures another pool",
    twoCaptures,
    { "manifests/edge.yaml": edge.replace("ippool.q.", "ippool.p.") },
    "allocate",
    3,
    `in-use: manifests/edge.yaml:6:8: this plan releases all 2 addresses of claim edge/q (10.1.0.1 of a0, 10.1.0.3 of a1): its owners are still there${confirm}`,
  ],
  [
    "adds a node where the next address is pinned by a pod",
    { ...twoNodes, "manifests/db.yaml": pinned("10.0.0.3/24") },
    { "nodes.txt": nodesOf("a", 3) },
    "allocate",
    3,
    "in-use: manifests/db.yaml:7:81: 10.0.0.3 would go to a2, and this names it for pods or VMs\n  In pool p, exclude or reserve it.\n",
  ],
  [
    "narrows the selector of one of six policies",
    sixPolicies,
    { "manifests/nic-3.yaml": nicPolicyText("nic-3", ["p"], "eth3", "  nodeSelector: {rack: a}\n") },
    "allocate",
    3,
    `in-use: manifests/nic-3.yaml:7:8: this plan releases 10 of 20 addresses of policy nic-3 (10.0.0.63 of b0, 10.0.0.69 of b1, 10.0.0.75 of b2 and 7 more): its owners are still there${confirm}`,
  ],
  [
    "misspells the NIC of a policy that has a route over it",
    { ...twoNodes, "manifests/a.yaml": documentsOf(pool, routed("eth1", "eth1")) },
    { "manifests/a.yaml": documentsOf(pool, routed("etth1", "eth1")) },
    "allocate",
    3,
    "in-use: manifests/a.yaml:15:5: policy rack-a gives 2 addresses of eth1 to etth1, and nothing takes them off eth1 (a0, a1)\n  Add the old NIC to the policy: {name: eth1, ipv4: {enabled: false}}. If no node has it on eth1, confirm it: nodeippool allocate --confirm\n",
  ],
  [
    "reserves an address for a node that has its name with fewer zeros",
    { ...zeroPadded, "manifests/pool.yaml": reserving("owner: Node/a02") },
    { "manifests/pool.yaml": reserving("owner: Node/a2") },
    "allocate",
    2,
    "invalid: manifests/pool.yaml:6:46: pool p reserves 10.0.0.40 for Node/a2, which is not there; did you mean Node/a02?\n  Write Node/a02. If Node/a2 is to come, leave its owner out until then: nobody gets the address.\n",
  ],
  [
    "reserves an address for a misspelt claim",
    { ...zeroPadded, "manifests/pool.yaml": reserving("owner: Node/a02, claim: rack-a/p") },
    { "manifests/pool.yaml": reserving("owner: Node/a02, claim: rackA/p") },
    "allocate",
    2,
    "invalid: manifests/pool.yaml:6:63: pool p reserves 10.0.0.40 for claim rackA/p of Node/a02, which has no such claim on the pool\n  Write one that it has: rack-a/p. If rackA/p is to come, leave owner and claim out until then: nobody gets the address.\n",
  ],
  [
    "lists the nodes of another cluster",
    twoNodes,
    { "nodes.txt": nodesOf("x", 2, "rack=a") },
    "allocate",
    3,
    `in-use: this plan releases 2 of 2 addresses ${whole}${confirm}`,
  ],
  [
    "names a folder without manifests",
    racks,
    { "docs/a.md": "" },
    "allocate docs",
    3,
    `Note: docs has no NodeIPPool, and nothing that asks for addresses. If you mean another folder, name it: nodeippool plan FOLDER\nin-use: this plan releases 22 of 22 addresses ${whole}${confirm}`,
  ],
  [
    "names the list of nodes as the manifests",
    racks,
    {},
    "allocate nodes.txt",
    2,
    "invalid: nodes.txt lists nodes, and has no manifests\n  Name the manifests, and this file as the nodes: nodeippool plan MANIFESTS --nodes nodes.txt\n",
  ],
  [
    "names a dump of nodes as the manifests",
    racks,
    { "dump.json": JSON.stringify({ apiVersion: "v1", kind: "Node", metadata: { name: "a0" } }) },
    "allocate dump.json",
    2,
    "invalid: dump.json lists nodes, and has no manifests\n  Name the manifests, and this file as the nodes: nodeippool plan MANIFESTS --nodes dump.json\n",
  ],
  [
    "misspells a node in the list",
    workers,
    { "nodes.txt": nodesOf("worker", 2).replaceAll("worker1", "worler1") },
    "allocate",
    3,
    oneMachine("worler1", "worker1", "10.0.0.2"),
  ],
  [
    "lists a node by its full name",
    workers,
    { "nodes.txt": nodesOf("worker", 2).replace(/^worker1 /m, "worker1.example.org ") },
    "allocate",
    3,
    oneMachine("worker1.example.org", "worker1", "10.0.0.2"),
  ],
  [
    "writes a ; between two labels",
    workers,
    { "nodes.txt": nodesOf("worker", 2).replace(",", ";") },
    "allocate",
    2,
    'invalid: nodes.txt:1:1: "worker0;rack=worker" is not a value of label kubernetes.io/hostname: letters, digits, -, _ and . only, at most 63\n',
  ],
  [
    "saves a manifest as .YAML",
    workers,
    { "manifests/b.YAML": rackB },
    "allocate",
    2,
    "invalid: manifests/b.YAML is not read: neither kubectl nor nodeippool takes it for a manifest\n  Let its name end in .yaml, .yml or .json, in lower case.\n",
  ],
])("who %s loses no address", async (_, before, changes, command, status, error) => {
  const folder = await allocated(before);
  const { "nodeippool.lock": lock } = filesOf(folder);
  writeFiles(folder, changes);
  for (const verb of ["plan", "allocate"]) {
    const ran = await cli(command.replace("allocate", verb).split(" "), folder);
    expect({ verb, status: ran.status, stderr: ran.stderr }).toEqual({ verb, status, stderr: error });
  }
  // Nothing is rendered that takes an address off its node.
  expect((await cli(command.replace("allocate", "render").split(" "), folder)).status).toBeGreaterThan(1);
  expect(filesOf(folder)["nodeippool.lock"]).toBe(lock);
});

it.each([
  ["cdk8s.yaml", "a cdk8s app", "npx cdk8s synth"],
  ["Pulumi.yaml", "a Pulumi program", "pulumi preview"],
])(
  "in a folder with %s, a command without manifests says how its addresses are planned",
  async (file, what, command) => {
    const folder = await allocated(racks);
    rmSync(join(folder, "manifests"), { recursive: true });
    writeFiles(folder, { [file]: "", "dist/network.k8s.yaml": pool });
    for (const verb of ["plan", "allocate", "render"])
      expect(await cli([verb], folder)).toEqual({
        stdout: "",
        stderr: `invalid: this folder is ${what} (${file}), and no manifests are named\n  To plan and record what the program claims: nodeippool allocate -- ${command}. For manifests in this folder: nodeippool ${verb} .\n`,
        status: 2,
      });
    expect((await cli(["plan", "."], folder)).stdout).toContain("22 to release");
  },
);

it.each<[does: string, changes: Files, gone: readonly string[], released: number]>([
  ["takes the nodes of a policy out of the list", { "nodes.txt": nodesOf("a", 20) }, [], 2],
  ["takes one node out of the list", { "nodes.txt": nodesOf("a", 20) + nodesOf("b", 1) }, [], 1],
  ["deletes a policy", {}, ["manifests/b.yaml"], 2],
])("who %s is asked nothing", async (_, changes, gone, released) => {
  const folder = await allocated(racks);
  writeFiles(folder, changes);
  for (const path of gone) rmSync(join(folder, path));
  const { stdout, stderr, status } = await cli(["allocate"], folder);
  expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
  expect(stdout).toContain(`Plan: 0 to allocate, ${22 - released} kept, ${released} to release.`);
});

it("who reserves an address for a node that is not in the list gets a note", async () => {
  const folder = folderOf({
    ...zeroPadded,
    "manifests/pool.yaml": poolText(
      `  range: {cidr: 10.0.0.0/24}\n  reservations: [${[1, 2, 3, 4, 5].map((i) => `{address: 10.0.0.4${i}, owner: Node/b${i}}`)}]`,
    ),
  });
  for (const verb of ["plan", "allocate"])
    expect((await cli([verb], folder)).stdout).toContain(
      "Note: reservations for owners that are not here: 10.0.0.41 for Node/b1, 10.0.0.42 for Node/b2, 10.0.0.43 for Node/b3 and 2 more. Check the names; nobody else gets the addresses\n",
    );
});

const configMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n";

it.each<[does: string, files: Files, command: string, status: number, stderr: string, stdout: RegExp]>([
  [
    "plans a folder that has nothing",
    { "docs/a.md": "" },
    "plan docs",
    2,
    "invalid: there are no manifests (*.yaml, *.yml, *.json) in docs\n  Name the folder that has them: nodeippool plan FOLDER.\n",
    /^$/,
  ],
  [
    "plans a folder of other objects",
    { "manifests/a.yaml": configMap },
    "plan",
    0,
    "Note: manifests has no NodeIPPool, and nothing that asks for addresses. If you mean another folder, name it: nodeippool plan FOLDER\n",
    /Nothing to record/,
  ],
  [
    "misspells the hostname label of a node",
    { ...twoNodes, "nodes.txt": `${nodesOf("a", 5)}a5 kubernetes.io/hostname=a50,rack=a\n` },
    "plan",
    0,
    "",
    /\nNote: label kubernetes.io\/hostname is not the name of its node: a50 on node a5\. Policies select nodes by this label\. Compare it: kubectl get nodes -L kubernetes.io\/hostname\n/,
  ],
  [
    "imports a list with another NIC than the policy's",
    { ...twoNodes, "list.csv": "a0,eth1,10.0.0.7\na1,eth2,10.0.0.8\n" },
    "import list.csv",
    2,
    "invalid: list.csv:2:9: a1 has 10.0.0.8 on eth2; its policy rack-a uses eth1\n  Correct the NIC in the list, or in the manifests; allocate would give it a second address.\n",
    /^$/,
  ],
  [
    "imports a list with another name of a node",
    { ...twoNodes, "list.csv": "a00,eth1,10.0.0.7\n" },
    "import list.csv",
    2,
    "invalid: list.csv:1:10: a00 is not among the nodes; did you mean a0?\n  If it is no node, exclude or reserve it, and leave this line out.\n",
    /^$/,
  ],
])("who %s is told so", async (_, files, command, status, stderr, stdout) => {
  const folder = folderOf(files);
  const ran = await cli(command.split(" "), folder);
  expect(ran).toMatchObject({ status, stderr });
  expect(ran.stdout).toMatch(stdout);
});
