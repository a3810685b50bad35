import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { nodeippool, root } from "../../support/console.ts";
import { cli, folderOf } from "../../support/schema/cli.ts";
import { documentsOf, nicPolicyText, poolText } from "../../support/schema/text.ts";

/** A copy of the example, allocated and rendered from nothing. */
let example: string;

beforeAll(async () => {
  example = folderOf({ "nodes.txt": "node01\nnode02\nnode03\n" });
  cpSync(join(root, "examples/static-ip/manifests"), join(example, "manifests"), { recursive: true });
  await cli(["allocate", "manifests", "--nodes", "nodes.txt"], example);
  await cli(["render", "manifests", "--nodes", "nodes.txt", "--out", "rendered"], example);
});

type Edit = [file: string, from: string | RegExp, to: string];

/** Another copy, with one text of a rendered file or the lock replaced by another, where it stands first. */
function edited(...edits: Edit[]): string {
  const folder = folderOf({});
  cpSync(example, folder, { recursive: true });
  for (const [file, from, to] of edits) {
    const text = readFileSync(join(folder, file), "utf8");
    expect(text).toMatch(from);
    writeFileSync(join(folder, file), text.replace(from, to));
  }
  return folder;
}

const rendered = "rendered/static-ip.yaml";

it("finds nothing in a folder that was just rendered", async () => {
  const { stdout, stderr, status } = await cli(["audit", "rendered", "--nodes", "nodes.txt"], example);
  expect([stdout, stderr, status]).toEqual(["6 addresses checked, 0 findings\n", "", 0]);
});

it.each([
  ["an empty folder", {}],
  [
    "manifests that were not rendered",
    { "in/a.yaml": readFileSync(join(root, "examples/static-ip/manifests/static-ip.yaml"), "utf8") },
  ],
  ["another file", { "in/package.json": "{}" }],
])("says nothing of %s: nothing in it uses an address", async (_, files) => {
  const folder = edited();
  mkdirSync(join(folder, "in"));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const { stderr, status } = await cli(["audit", "in", "--pools", "manifests"], folder);
  expect([stderr.split("\n")[0], status]).toEqual(["invalid: nothing in in uses any address", 2]);
});

it("reads what several folders and files have deployed", async () => {
  const folder = edited();
  const text = readFileSync(join(folder, rendered), "utf8");
  const [first, ...rest] = text.split("---\n").map((one) => one.replace("10.10.10.2", "10.10.10.1"));
  mkdirSync(join(folder, "one"));
  writeFileSync(join(folder, "one/a.yaml"), first as string);
  writeFileSync(join(folder, "two.yaml"), rest.join("---\n"));
  const { stdout, status } = await cli(["audit", "one", "two.yaml", "--pools", "manifests"], folder);
  expect(stdout).toMatch(/duplicate: 10\.10\.10\.1 is configured on Node\/node01 eth1 and on Node\/node02 eth1/);
  expect(status).toBe(5);
});

it("reads folders that were rendered into, several below one, too, and a pool once that is defined alike in them", async () => {
  const folder = edited([rendered, "10.10.10.2", "10.10.10.1"]);
  for (const name of ["static-ip", "rest"])
    cpSync(join(folder, "rendered"), join(folder, "all", name), { recursive: true });
  rmSync(join(folder, "all/rest/static-ip.yaml"));
  const { stdout, status } = await cli(["audit", "all"], folder);
  expect(stdout).toContain("duplicate: 10.10.10.1 is configured on Node/node01 eth1 and on Node/node02 eth1");
  expect(status).toBe(5);
});

it("reads rendered folders in a folder of manifests, too, each once, and a pool once but for what says nothing", async () => {
  const folder = edited([rendered, "10.10.10.2", "10.10.10.1"]);
  symlinkSync("rendered", join(folder, "linked"));
  for (const paths of [["."], [".", "rendered"], ["./linked", join(folder, "rendered"), "."]]) {
    const { stdout, status } = await cli(["audit", ...paths], folder);
    expect(
      stdout.match(/duplicate: 10\.10\.10\.1 is configured on Node\/node01 eth1 and on Node\/node02 eth1/g),
    ).toHaveLength(1);
    expect(stdout.match(/wrong-owner: /g)).toHaveLength(1);
    expect(status).toBe(5);
  }
  const other = edited(
    [rendered, "10.10.10.2", "10.10.10.1"],
    ["manifests/pools.yaml", "end: 10.10.10.10", "end: 10.10.10.20"],
  );
  expect(await cli(["audit", "."], other)).toMatchObject({
    status: 2,
    stderr:
      "invalid: rendered/pools.yaml:4:9: pool traffic-1 is defined in two ways, here and in manifests/pools.yaml:4:9\n" +
      "  Name less of what is there, or say which pools are meant.\n",
  });
  expect((await cli(["audit", ".", "--pools", "manifests"], other)).status).toBe(5);
});

it.each([
  [
    "a key twice",
    (text: string) => text.replace("state: up\n", "state: up\n        state: up\n"),
    "this key stands here",
  ],
  [
    "the kind in other words",
    (text: string) =>
      text
        .replaceAll("kind: NodeN", "'kind' : 'NodeN")
        .replaceAll("Policy\n", "Policy'\n")
        .replace("state: up\n", "state: up\n        state: up\n"),
    "this key stands here",
  ],
  ["merge markers", (text: string) => `<<<<<<< a\n${text}=======\n${text}>>>>>>> b\n`, "has merge conflict markers"],
])("refuses a policy that cannot be read: nobody knows what it uses: %s", async (_, broken, says) => {
  const folder = edited([rendered, "10.10.10.2", "10.10.10.1"]);
  writeFileSync(join(folder, rendered), broken(readFileSync(join(folder, rendered), "utf8")));
  const { status, stderr } = await cli(["audit", "rendered"], folder);
  expect(stderr).toContain(says);
  expect(status).toBe(2);
  const templates = ["{{- range .nodes }}", "{{ required .x }}", "{% for node in nodes %}"];
  const charts = templates.map((one) => `kind: NodeNetworkConfigurationPolicy\nmetadata:\n${one}\n`);
  writeFileSync(join(folder, "chart.yaml"), charts.join("---\n"));
  expect((await cli(["audit", "chart.yaml", "manifests"], folder)).stderr).not.toContain("chart.yaml:");
});

it("reads a policy with aliases beside other kinds, and refuses a link to nothing", async () => {
  const folder = edited([rendered, "10.10.10.2", "10.10.10.1"]);
  const text = readFileSync(join(folder, rendered), "utf8");
  const items = text.split("---\n").map((one) => one.replace(/^/gm, "    ").replace("    ", "  - ").trimEnd());
  const map = "  - kind: ConfigMap\n    metadata: &meta {name: c}\n    again: *meta";
  writeFileSync(join(folder, rendered), ["kind: List", "apiVersion: v1", "items:", map, ...items, ""].join("\n"));
  const { stdout, status } = await cli(["audit", "rendered"], folder);
  expect(stdout).toContain("duplicate: 10.10.10.1");
  expect(status).toBe(5);
  symlinkSync("nowhere", join(folder, "manifests/team"));
  for (const args of [
    ["audit", "."],
    ["plan", "manifests", "--nodes", "nodes.txt"],
  ])
    expect(await cli(args, folder)).toMatchObject({
      status: 2,
      stderr: "invalid: manifests/team is a link to nothing\n",
    });
});

it("finds the pools of a typed list", async () => {
  const folder = edited([rendered, "10.10.10.2", "10.10.10.1"]);
  const pools = readFileSync(join(folder, "rendered/pools.yaml"), "utf8").split("---\n");
  const items = pools.map((text) =>
    text
      .replace(/kind: .*\n/, "")
      .replace(/^/gm, "    ")
      .replace("    ", "  - ")
      .trimEnd(),
  );
  const list = `apiVersion: nmstate.io/v1\nkind: NodeIPPoolList\nitems:\n${items.join("\n")}\n`;
  writeFileSync(join(folder, "list.yaml"), list);
  expect((await cli(["audit", "rendered/static-ip.yaml", "--pools", "list.yaml"], folder)).status).toBe(5);
});

it("takes pools for alike that say the same in other words, and asks nothing of the policies beside them", async () => {
  const folder = edited([
    "rendered/pools.yaml",
    "  authority: Plan\n",
    "  authority: Plan\n  reclaimPolicy: Delete\n  network: default\n  dnsServers: []\n",
  ]);
  const both = join(folder, "rendered/again.yaml");
  writeFileSync(
    both,
    ["static-ip", "pools"].map((name) => readFileSync(join(folder, `manifests/${name}.yaml`))).join("---\n"),
  );
  expect(await cli(["audit", "."], folder)).toMatchObject({ status: 0, stderr: "" });
  expect(await cli(["show", "--pools", "."], folder)).toMatchObject({ status: 0, stderr: "" });
});

it("prints findings once, and says by its exit status that there are some", async () => {
  const folder = edited([rendered, "10.10.10.2", "10.10.10.1"]);
  const { stdout, stderr, status } = await cli(["audit", "rendered"], folder);
  const claim = (node: string) => `Node/${node}/static-ip/address-from-traffic-1`;
  expect(stdout.split("\n")).toEqual([
    `${rendered}:49:19: duplicate: 10.10.10.1 is configured on Node/node01 eth1 and on Node/node02 eth1`,
    `${rendered}:49:19: wrong-owner: 10.10.10.1 is used by Node/node02 eth1, but recorded for ${claim("node01")}`,
    `nodeippool.lock:8:1: leaked: 10.10.10.2 is recorded for ${claim("node02")}, but nothing uses it`,
    "6 addresses checked, 3 findings",
    "",
  ]);
  expect([stderr, status]).toEqual(["", 5]);
});

/** The findings: what kind, which address, in which file. */
async function findingsIn(folder: string, ...args: string[]): Promise<string[]> {
  const { stdout, stderr, status } = await cli(["audit", ...args, "--json"], folder);
  expect(stderr).toBe("");
  const { findings } = JSON.parse(stdout);
  expect(status).toBe(findings.length === 0 ? 0 : 5);
  return findings.map((f: Record<string, { file: string }>) => `${f.kind} ${f.address} ${f.at?.file}`);
}

describe("hand edits", () => {
  it.each<[string, Edit[], string[]]>([
    [
      "a free address",
      [[rendered, "10.10.10.3", "10.10.10.9"]],
      ["leaked 10.10.10.3 nodeippool.lock", `stranger 10.10.10.9 ${rendered}`],
    ],
    [
      "an excluded address",
      [[rendered, "10.10.10.3", "10.10.10.4"]],
      ["leaked 10.10.10.3 nodeippool.lock", `excluded 10.10.10.4 ${rendered}`],
    ],
    [
      "the gateway, outside the range",
      [
        ["rendered/pools.yaml", "spec:\n", "spec:\n  gateway: 10.10.10.254\n"],
        [rendered, "10.10.10.3", "10.10.10.254"],
      ],
      [`leaked 10.10.10.3 ${rendered}`, `excluded 10.10.10.254 ${rendered}`],
    ],
    ["an address outside", [[rendered, "10.10.10.3", "10.10.10.200"]], [`leaked 10.10.10.3 ${rendered}`]],
    [
      "all addresses outside",
      [[rendered, /10\.10\.(1[01]\.\d)$/gm, "10.99.$1"]],
      [1, 2, 3]
        .map((i) => `leaked 10.10.10.${i} ${rendered}`)
        .concat([1, 2, 3].map((i) => `leaked 10.10.11.${i} ${rendered}`)),
    ],
    ["a line out of the lock", [["nodeippool.lock", /- .*10\.10\.10\.3.*\n/, ""]], [`stranger 10.10.10.3 ${rendered}`]],
    [
      "a smaller pool",
      [
        ["rendered/pools.yaml", "10.10.10.10", "10.10.10.2"],
        ["rendered/pools.yaml", ', "10.10.10.7"', ""],
      ],
      ["out-of-pool 10.10.10.3 nodeippool.lock"],
    ],
    [
      "a second NIC",
      [[rendered, "10.10.11.3", "10.10.10.3"]],
      [`duplicate 10.10.10.3 ${rendered}`, "leaked 10.10.11.3 nodeippool.lock"],
    ],
    [
      "a policy for all nodes",
      [[rendered, "kubernetes.io/hostname: node01", "{}"]],
      [
        `duplicate 10.10.10.1 ${rendered}`,
        `duplicate 10.10.10.1 ${rendered}`,
        `wrong-owner 10.10.10.1 ${rendered}`,
        `wrong-owner 10.10.10.1 ${rendered}`,
        `duplicate 10.10.11.1 ${rendered}`,
        `duplicate 10.10.11.1 ${rendered}`,
        `wrong-owner 10.10.11.1 ${rendered}`,
        `wrong-owner 10.10.11.1 ${rendered}`,
      ],
    ],
    ["another NIC", [[rendered, "name: eth1", "name: eth3"]], [`wrong-interface 10.10.10.1 ${rendered}`]],
    [
      "another prefix length",
      [[rendered, "prefix-length: 24", "prefix-length: 16"]],
      [`wrong-prefix 10.10.10.1 ${rendered}`],
    ],
    ["a NIC that goes", [[rendered, "state: up", "state: absent"]], ["leaked 10.10.10.1 nodeippool.lock"]],
    [
      "a node that is gone",
      [["nodes.txt", "node03\n", ""]],
      ["unknown-owner 10.10.10.3 nodeippool.lock", "unknown-owner 10.10.11.3 nodeippool.lock"],
    ],
  ])("%s", async (_, edits, expected) => {
    const folder = edited(...edits);
    expect(await findingsIn(folder, "rendered", "--nodes", "nodes.txt")).toEqual(expected);
  });
});

it("refuses pools that share addresses, as plan does", async () => {
  const folder = edited();
  const pools = readFileSync(join(folder, "manifests", "pools.yaml"), "utf8");
  writeFileSync(
    join(folder, "rendered", "more.yaml"),
    pools.split("---")[0]?.replace(/name: .*/, "name: again") as string,
  );
  const ran = await cli(["audit", "rendered"], folder);
  expect(ran).toMatchObject({ status: 2, stdout: "" });
  expect(ran.stderr).toMatch(
    /^overlap: rendered\/pools\.yaml:7:11: pools again and traffic-\d of network default share addresses/,
  );
});

it("does not miss the nodes of other claim sets", async () => {
  const ofAnotherSet: Edit = ["nodeippool.lock", /("claim":"Node\/node03[^"]*")/g, '$1,"set":"b"'];
  const folder = edited(["nodes.txt", "node03\n", ""], ofAnotherSet);
  expect(await findingsIn(folder, "rendered", "--nodes", "nodes.txt")).toEqual([]);
});

it("finds a policy that selects no single node, also where the nodes are not known", async () => {
  const folder = edited([rendered, "kubernetes.io/hostname: node01", "rack: a"]);
  expect(await findingsIn(folder, "rendered")).toEqual([
    `wrong-owner 10.10.10.1 ${rendered}`,
    `wrong-owner 10.10.11.1 ${rendered}`,
  ]);
  const { stdout } = await cli(["audit", "rendered"], folder);
  expect(stdout).toContain(
    "wrong-owner: 10.10.10.1 is used by NodeNetworkConfigurationPolicy/static-ip--node01 eth1, but recorded for Node/node01/",
  );
});

it("names the hand edit that put an address outside of all pools, and what the lock holds", async () => {
  const folder = edited([rendered, "10.10.10.3", "10.10.10.200"]);
  const { stdout } = await cli(["audit", "rendered"], folder);
  const line = readFileSync(join(folder, rendered), "utf8").split("10.10.10.200")[0]?.split("\n").length;
  expect(stdout.split("\n")[0]).toBe(
    `${rendered}:${line}:19: leaked: 10.10.10.3 is recorded for Node/node03/static-ip/address-from-traffic-1, but nothing uses it: Node/node03 eth1 has 10.10.10.200 here, which is in no pool`,
  );
});

/** `node01: eth1 10.10.10.1, eth2 10.10.11.1`: a NodeNetworkState. */
function stateOf(text: string): string {
  const [name, nics = ""] = text.split(": ");
  const interfaces = [
    { name: "lo" },
    ...nics
      .split(", ")
      .filter(Boolean)
      .map((nic) => {
        const [eth, ...ips] = nic.split(" ");
        return { name: eth, ipv4: { enabled: true, address: ips.map((ip) => ({ ip, "prefix-length": 24 })) } };
      }),
  ];
  return stringify({
    apiVersion: "nmstate.io/v1beta1",
    kind: "NodeNetworkState",
    metadata: { name },
    status: { currentState: { interfaces } },
  });
}

describe("NodeNetworkStates", () => {
  const run = (folder: string, states: string[]) => {
    writeFileSync(join(folder, "nns.yaml"), states.map(stateOf).join("---\n"));
    return findingsIn(folder, "nns.yaml", "--pools", "manifests");
  };

  it.each<[string, string[], string[]]>([
    [
      "as recorded",
      [
        "node01: eth1 10.10.10.1, eth2 10.10.11.1, docker0 172.17.0.1",
        "node02: eth1 10.10.10.2, eth2 10.10.11.2, docker0 172.17.0.1",
      ],
      [],
    ],
    [
      "a node without its address; others are not here to say",
      ["node01: eth1 10.10.10.1"],
      ["leaked 10.10.11.1 nodeippool.lock"],
    ],
    [
      "a node with another's address",
      ["node01: eth1 10.10.10.1 10.10.10.2, eth2 10.10.11.1"],
      ["wrong-owner 10.10.10.2 nns.yaml"],
    ],
    ["a stranger", ["x: eth1 10.10.10.10 10.10.10.20"], ["stranger 10.10.10.10 nns.yaml"]],
  ])("%s", async (_, states, expected) => {
    expect(await run(edited(), states)).toEqual(expected);
  });

  it("knows imported addresses, and misses them on the node alone", async () => {
    const line =
      '- {"address":"10.10.10.9","pool":"traffic-1","claim":"Node/node01/imported/10.10.10.9","set":"imported"}\n';
    const folder = edited(["nodeippool.lock", '- {"address":"10.10.11.1"', `${line}- {"address":"10.10.11.1"`]);
    expect(await findingsIn(folder, "rendered")).toEqual([]);
    expect(await run(folder, ["node01: eth1 10.10.10.1 10.10.10.9, eth2 10.10.11.1"])).toEqual([]);
    expect(await run(folder, ["node01: eth1 10.10.10.1, eth2 10.10.11.1"])).toEqual([
      "leaked 10.10.10.9 nodeippool.lock",
    ]);
  });
});

describe("a list (CSV) of what nodes have", () => {
  const rows = [1, 2, 3].flatMap((i) => [`node0${i},eth1,10.10.10.${i}/24`, `node0${i},eth2,10.10.11.${i}/24`]);
  it.each<[string, string, string, string[]]>([
    ["as recorded", "", "", []],
    [
      "another node's address",
      "node01,eth1,10.10.10.1",
      "node01,eth1,10.10.10.2",
      ["leaked 10.10.10.1 nodeippool.lock", "duplicate 10.10.10.2 list.csv", "wrong-owner 10.10.10.2 list.csv"],
    ],
    ["an address under another name", "node02,eth1", "node09,eth1", ["wrong-owner 10.10.10.2 list.csv"]],
    ["an address outside", "10.10.10.3", "10.10.10.200", ["leaked 10.10.10.3 list.csv"]],
    [
      "a free address",
      "10.10.11.3",
      "10.10.11.9",
      ["leaked 10.10.11.3 nodeippool.lock", "stranger 10.10.11.9 list.csv"],
    ],
    ["another NIC", "node01,eth1", "node01,eth5", ["wrong-interface 10.10.10.1 list.csv"]],
    ["some of the nodes", "\nnode03,eth1,10.10.10.3/24\nnode03,eth2,10.10.11.3/24", "", []],
    ["some of the NICs of a node", "\nnode03,eth2,10.10.11.3/24", "", []],
  ])("%s", async (_, from, to, expected) => {
    const folder = edited();
    writeFileSync(join(folder, "list.csv"), `node,interface,address\n${rows.join("\n").replace(from, to)}\n`);
    expect(await findingsIn(folder, "list.csv", "--pools", "manifests")).toEqual(expected);
  });

  it("which cannot be read is refused, with its place", async () => {
    const folder = edited();
    writeFileSync(join(folder, "list.csv"), "node01,eth1,10.10.10.1\nnode02,10.10.10.2\n");
    const { status, stderr } = await cli(["audit", "list.csv", "--pools", "manifests"], folder);
    expect([status, stderr]).toEqual([2, expect.stringMatching(/^invalid: list\.csv:2:1: a line is node,interface,/)]);
  });
});

it("a NIC that a policy finds by its MAC address is the recorded one in the node's report, too", async () => {
  const state = (mac: string) =>
    JSON.stringify({
      kind: "NodeNetworkState",
      metadata: { name: "n1" },
      status: {
        currentState: {
          interfaces: [
            {
              name: "eth1",
              type: "ethernet",
              state: "up",
              "mac-address": mac,
              ipv4: { enabled: true, address: [{ ip: "10.0.0.4", "prefix-length": 24 }] },
            },
          ],
        },
      },
    });
  const mac = "AA:BB:CC:DD:EE:01";
  const policy = nicPolicyText("a", ["p"], "storage").replace(
    "type: ethernet",
    `type: ethernet\n      identifier: mac-address\n      mac-address: ${mac}`,
  );
  const folder = folderOf({
    "manifests/a.yaml": documentsOf(poolText("  range: {cidr: 10.0.0.0/24}"), policy),
    "nodes.txt": "n1\n",
    "nns.json": state(mac),
  });
  expect(await cli(["import", "nns.json"], folder)).toMatchObject({ status: 0 });
  expect((await cli(["audit", "nns.json"], folder)).stdout).toBe("1 address checked, 0 findings\n");
  writeFileSync(join(folder, "nns.json"), state("AA:BB:CC:DD:EE:02"));
  expect((await cli(["audit", "nns.json"], folder)).stdout).toContain("but recorded for storage\n");
});

it("finds addresses in any text, and passes over pools of which nothing is configured", async () => {
  const folder = edited();
  const chart = "{{- if .Values.x }}\nkind: Service\nspec: {loadBalancerIP: 10.10.10.9} # not 10.10.10.8\n{{- end }}\n";
  writeFileSync(join(folder, "chart.yaml"), chart);
  const { stdout, status } = await cli(["audit", "chart.yaml", "--pools", "manifests"], folder);
  expect(stdout).toBe(
    "chart.yaml:3:24: stranger: 10.10.10.9 of pool traffic-1 is named here, and may be given to anybody: exclude or reserve it\n7 addresses checked, 1 finding\n",
  );
  expect(status).toBe(5);
});

it("reads standard input", () => {
  const folder = edited();
  const input = readFileSync(join(folder, rendered), "utf8").replace("10.10.11.2", "10.10.11.4");
  const { stdout } = nodeippool(["audit", "-", "--pools", "manifests"], folder, input);
  expect(stdout).toContain("standard input:58:19: excluded: 10.10.11.4 is used by Node/node02 eth2");
});

it("leaves lines of other sets, and pools of the controller, alone", async () => {
  const folder = edited([
    "nodeippool.lock",
    'traffic-1","interface":"eth1"',
    'traffic-1","set":"b","interface":"eth1"',
  ]);
  writeFileSync(
    join(folder, rendered),
    readFileSync(join(folder, rendered), "utf8").replaceAll("10.10.10.1\n", "10.20.0.1\n"),
  );
  expect(await findingsIn(folder, "rendered")).toEqual([]);
  expect(await findingsIn(folder, "rendered", "--set", "b")).toEqual([`leaked 10.10.10.1 ${rendered}`]);
  const cluster = edited(
    ["rendered/pools.yaml", "authority: Plan", "authority: Cluster"],
    [rendered, "10.10.10.1", "10.10.10.9"],
  );
  expect(await findingsIn(cluster, "rendered")).toEqual([]);
});

it.each<[string, string[], string]>([
  [
    "no pools",
    ["audit", "nodes.txt", "--pools", "nodes.txt"],
    "invalid: no pool of authority Plan is defined in nodes.txt\n  Say where the pools are defined: --pools MANIFESTS.\n",
  ],
  [
    "an overlay without pools",
    ["audit", "rendered", "--pools", "overlay"],
    "invalid: no pool of authority Plan is defined in overlay\n  Say where the pools are defined: --pools MANIFESTS.\n",
  ],
  ["no such file", ["audit", "nowhere"], "invalid: nowhere does not exist\n"],
  ["standard input twice", ["audit", "-", "--nodes", "-"], "invalid: only one input can come from standard input\n"],
])("refuses %s", async (_, args, stderr) => {
  const folder = edited();
  mkdirSync(join(folder, "overlay"));
  writeFileSync(join(folder, "overlay/kustomization.yaml"), "resources: [../base]\npatches: [{path: ../p.yaml}]\n");
  const ran = await cli(args, folder);
  expect([ran.stdout, ran.stderr, ran.status]).toEqual(["", stderr, 2]);
});

it("says that there is no lock, where that makes strangers of all", async () => {
  const folder = edited();
  writeFileSync(join(folder, "chart.yaml"), "kind: Service\nspec: {loadBalancerIP: 10.10.10.9}\n");
  const { stdout, status } = await cli(["audit", "chart.yaml", "--pools", "manifests", "--lock", "none.lock"], folder);
  expect(stdout).toContain(
    "Note: there is no none.lock here, so no address counts as recorded. Name the lock: --lock FILE.\n",
  );
  expect(status).toBe(5);
  expect((await cli(["audit", "manifests", "--lock", "none.lock"], folder)).stdout).not.toContain("Note");
});
