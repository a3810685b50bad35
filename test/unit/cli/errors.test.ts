import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { cli, filesOf, lockText, manifests, projectOf, run } from "../../support/schema/cli.ts";
import { documentsOf, nicPolicyText, policyText, poolText } from "../../support/schema/text.ts";

type Files = Readonly<Record<string, string | Uint8Array>>;
const pool = poolText("  range: {cidr: 10.0.0.0/29}");
const held = { "nodeippool.lock": lockText("10.0.0.1 Node/n1/a/p") };
const names = (count: number) => Array.from({ length: count }, (_, i) => `n${i + 1}\n`).join("");
const policyOn = (selector: string, name = "a") =>
  nicPolicyText(name, ["p"], "eth1", `  nodeSelector: {${selector}}\n`);
const markers = `${lockText().slice(0, -1)}\n<<<<<<< ours\n=======\n>>>>>>> theirs\n`;

/** Errors of a whole file, a whole plan or a whole record; every other one names the place of an object. */
const placeless = new Set([
  "no such manifests",
  "an empty node list",
  "nodes that are not text",
  "manifests that are not text",
  "a lock that would release all",
  "a record that is a folder",
]);

/** Files to add, and what standard error says. */
type Row = [what: string, status: number, files: Files, says: string | RegExp];
const rows: Row[] = [
  // 2: the input is wrong
  ["no such manifests", 2, {}, "nope does not exist"],
  ["broken YAML", 2, { "manifests/b.yaml": "kind: NodeIPPool\nspec: {\n" }, "invalid: manifests/b.yaml:3:1: "],
  [
    "a typo",
    2,
    { "manifests/b.yaml": poolText("  rnge: {cidr: 10.0.0.0/24}", "q") },
    "manifests/b.yaml:5:3: unknown field rnge; did you mean range?",
  ],
  [
    "all that is wrong, in all files",
    2,
    {
      "manifests/b.yaml": poolText("  range: {cidr: x/8}", "q"),
      "manifests/c.yaml": policyText("  capture: {x: ippool.p.allocate}\n  desiredState: {a: '{{ }}'}", "b"),
    },
    /b\.yaml:5:17: .*\n.*c\.yaml:6:21: .*capture\.NAME\.ip/,
  ],
  [
    "a pool that no document defines",
    2,
    { "manifests/a.yaml": nicPolicyText("a") },
    /asks for pool p, which is not defined\n {2}If it is defined in another folder, define it here too, word for word\./,
  ],
  [
    "layers of kustomize",
    2,
    { "manifests/base/a.yaml": manifests, "manifests/over/b.yaml": poolText("  range: {cidr: 10.0.0.0/28}") },
    /NodeIPPool p is defined twice, here and in .*\n {2}If kustomize builds this folder, read what it builds: kubectl kustomize FOLDER\./,
  ],
  [
    "a patch of kustomize",
    2,
    {
      "manifests/kustomization.yaml": "resources: [a.yaml]\npatches: [{path: patch.yaml}]\n",
      "manifests/patch.yaml": poolText("  gateway: 10.0.0.6"),
    },
    /patch\.yaml:5:3: .*field range\n/,
  ],
  [
    "a reservation for a node, of an address that is excluded",
    2,
    {
      "manifests/b.yaml": poolText(
        "  range: {cidr: 10.1.0.0/24, exclude: [10.1.0.8/29]}\n  reservations: [{address: 10.1.0.9, owner: Node/n1}]",
        "q",
      ),
    },
    /b\.yaml:6:.*10\.1\.0\.9 is outside .*\n {2}Reserve what the pool could give: leave it out of exclude; /,
  ],
  [
    "pools that overlap",
    2,
    { "manifests/b.yaml": poolText("  range: {cidr: 10.0.0.0/24}", "q") },
    /^overlap: manifests\/b\.yaml:5:17: pools p and q of network default share addresses: 10\.0\.0\.1 to 10\.0\.0\.6; p is in manifests\/a\.yaml:5:17\n {2}Give them separate ranges/,
  ],
  [
    "pools that overlap in several places, and one address",
    2,
    {
      "manifests/b.yaml": documentsOf(
        poolText("  range: {cidr: 10.9.0.0/24}", "q"),
        poolText("  range: {cidr: 10.9.0.0/24, exclude: [10.9.0.0/25]}\n  authority: Plan", "r"),
        poolText("  range: {cidr: 10.8.0.0/24, end: 10.8.0.9}", "s"),
        poolText("  range: {cidr: 10.8.0.0/24, start: 10.8.0.9}", "t"),
      ),
    },
    /pools q and r of .* share addresses: 10\.9\.0\.1 to 10\.9\.0\.254; q is in manifests\/b\.yaml:5:17\n.*\n.* pools s and t .*: 10\.8\.0\.9; s is in/,
  ],
  [
    "an address on record in the range of another pool",
    2,
    {
      ...held,
      "manifests/a.yaml": documentsOf(
        poolText("  range: {cidr: 10.0.0.0/29, start: 10.0.0.3}"),
        poolText("  range: {cidr: 10.0.0.0/29, end: 10.0.0.2}", "q"),
        nicPolicyText("a"),
      ),
    },
    /^overlap: manifests\/a\.yaml:11:17: pools q and p of network default share addresses: 10\.0\.0\.1 is recorded for Node\/n1\/a\/p\n/,
  ],
  [
    "a gateway that another claim set has",
    3,
    {
      "nodeippool.lock": lockText("10.0.0.6 Node/n9/x/p set=other"),
      "manifests/a.yaml": documentsOf(
        poolText("  range: {cidr: 10.0.0.0/29}\n  gateway: 10.0.0.6"),
        nicPolicyText("a"),
      ),
    },
    /^in-use: manifests\/a\.yaml:6:12: pool p: 10\.0\.0\.6 is its gateway, but is recorded for Node\/n9\/x\/p/,
  ],
  [
    "a reservation for a misspelt node",
    2,
    {
      "nodes.txt": "node1\nnode2\n",
      "manifests/a.yaml": documentsOf(
        poolText(
          "  range: {cidr: 10.0.0.0/29}\n  reservations:\n  - {address: 10.0.0.1}\n  - {address: 10.0.0.2, owner: Node/nodel}",
        ),
        nicPolicyText("a"),
      ),
    },
    /^invalid: manifests\/a\.yaml:8:32: pool p reserves 10\.0\.0\.2 for Node\/nodel, /,
  ],
  [
    "a node without a hostname label",
    2,
    { "nodes.txt": "n1\nn2 rack=a\n" },
    /^invalid: nodes\.txt:2:1: node n2 has no label kubernetes\.io\/hostname/,
  ],
  [
    "two nodes with one hostname label",
    2,
    { "nodes.txt": "n1\nn2 kubernetes.io/hostname=n1\n" },
    /^invalid: nodes\.txt:2:1: nodes n1 and n2 have the same label kubernetes\.io\/hostname: n1\n/,
  ],
  [
    "an object of the name of a rendered one",
    2,
    { ...held, "nodes.txt": "n1\n", "manifests/b.yaml": policyText("  desiredState: {}", "a--n1") },
    /^invalid: manifests\/\w\.yaml:\d+:\d+: NodeNetworkConfigurationPolicy a--n1 is written by /,
  ],
  [
    "a policy of others that overrides an address on record",
    2,
    {
      ...held,
      "manifests/b.yaml": policyText(
        "  desiredState: {interfaces: [{name: eth1, type: ethernet, ipv4: {enabled: true, dhcp: false, address: [{ip: 10.0.0.5, prefix-length: 29}]}}]}",
        "b",
      ),
    },
    /^invalid: manifests\/b\.yaml:3:18: policies a and b \(address: 10\.0\.0\.5\) both set the IPv4 addresses of eth1 on Node\/n1; /,
  ],
  [
    "authority Cluster",
    2,
    { "manifests/a.yaml": manifests.replace("  range", "  authority: Cluster\n  range") },
    /a\.yaml:5:14: pool p has authority Cluster: only the controller allocates from it\n {2}\S/,
  ],
  [
    "one NIC, two policies",
    2,
    { "manifests/b.yaml": nicPolicyText("b") },
    /^invalid: manifests\/b\.yaml:3:18: policies a and b both set the IPv4 addresses of eth1 on .*n1; .*; a is in manifests\/a\.yaml:9:18\n {2}Set all addresses of one NIC in one policy/,
  ],
  [
    "a bare name under another selector",
    2,
    { "manifests/a.yaml": documentsOf(pool, policyOn("role: worker")) },
    /policy a selects nodes by role, but only the name of n1 is known\n {2}Give the nodes with their labels/,
  ],
  ["a node list that is none", 2, { "nodes.txt": "N1\n" }, 'nodes.txt:1:1: a node\'s name "N1" is no name'],
  ["an empty node list", 2, { "nodes.txt": "" }, /nodes\.txt lists no nodes\n {2}Give it names/],
  ["a node twice", 2, { "nodes.txt": "n1\nn1\n" }, "nodes.txt:2:1: node n1 is listed twice"],
  [
    "nodes that are not text",
    2,
    { "nodes.txt": new Uint8Array([110, 49, 10, 0, 1, 2]) },
    "nodes.txt is not a text file",
  ],
  [
    "manifests that are not text",
    2,
    { "manifests/b.yaml": new Uint8Array([0xff, 0xfe, 0x00, 0xc3, 0x28]) },
    "manifests/b.yaml",
  ],
  [
    "a pool outgrown by its own end",
    2,
    { "manifests/a.yaml": documentsOf(poolText("  range: {cidr: 10.0.0.0/29, end: 10.0.0.9}"), nicPolicyText("a")) },
    "a.yaml:5:35: 10.0.0.9 is not in 10.0.0.0/29",
  ],
  // 3: not possible
  [
    "an exhausted pool",
    3,
    { "nodes.txt": names(7) },
    /^exhausted: manifests\/a\.yaml:5:10: pool p is exhausted: 7 needed, 6 free\n {2}Take addresses from another pool too: this one has its whole prefix\.\n$/,
  ],
  ...[
    ["{cidr: 10.0.0.0/29, end: 10.0.0.2}", "Let the pool grow: a later end, or additionalRanges\\."],
    ["{cidr: 10.0.0.0/29, start: 10.0.0.5}", "Let the pool grow: additionalRanges\\."],
    ["{cidr: 10.0.0.0/31}", "Take addresses from another pool too: this one has its whole prefix\\."],
    ["{cidr: 10.0.0.2/32}", "Take addresses from another pool too: this one has its whole prefix\\."],
  ].map(
    ([range, hint]): Row => [
      `an exhausted pool of range ${range}`,
      3,
      {
        "nodes.txt": names(7),
        "manifests/a.yaml": documentsOf(poolText(`  range: ${range}`), nicPolicyText("a")),
      },
      new RegExp(`needed, \\d free\\n  ${hint}\\n$`),
    ],
  ),
  [
    "a pool that is full of releasing addresses",
    3,
    { "nodes.txt": names(6), "nodeippool.lock": lockText("10.0.0.1 Node/x/a/p releasing") },
    /^exhausted: manifests\/a\.yaml:5:10: pool p is exhausted: 6 needed, 5 free\n {2}Take addresses from another pool too: this one has its whole prefix\. Or free the addresses that are releasing \(1\): nodeippool release\n$/,
  ],
  [
    "a rename that nobody declared",
    3,
    { "nodeippool.lock": lockText("10.0.0.1 Node/n1/old/p") },
    /^in-use: manifests\/a\.yaml:12:8: Node\/n1\/a\/p in pool p: Node\/n1 would lose 10\.0\.0\.1 \(old\/p\).*\n {2}Declare the rename, or allow the move: nodeippool mv old\/p a\/p, or nodeippool allocate --allow-move\n/,
  ],
  [
    "another subnet for a pool with addresses",
    3,
    { ...held, "manifests/a.yaml": manifests.replace("10.0.0.0/29", "10.9.0.0/29") },
    /^in-use: manifests\/a\.yaml:5:17: pool p is 10\.9\.0\.0\/29 of network default, but its allocations were made in 10\.0\.0\.0\/29/,
  ],
  [
    "an address that its pool excludes now",
    3,
    { ...held, "manifests/a.yaml": manifests.replace("/29}", "/29, exclude: [10.0.0.1]}") },
    /^in-use: .*10\.0\.0\.1 is held by Node\/n1\/a\/p, but pool p hands it out no more .*\n {2}Give the pool that address back/,
  ],
  [
    "a claim of another set",
    2,
    { "nodeippool.lock": lockText("10.0.0.1 Node/n1/a/p set=other if=eth9") },
    /^invalid: manifests\/a\.yaml:12:8: policy a has addresses in claim set other, too: 10\.0\.0\.1 of n1\n.*: nodeippool mv a --set other --to-set default\n$/,
  ],
  // 5: the record is broken
  [
    "a record of a newer version",
    5,
    { "nodeippool.lock": lockText().replace("version: 1", "version: 2") },
    /^corrupt: nodeippool\.lock:2:1: a newer nodeippool wrote this \(version: 2\); this one reads version 1\n {2}Use the one that wrote it\.\n$/,
  ],
  [
    "a record that is none",
    5,
    { "nodeippool.lock": "hello\n" },
    /^corrupt: nodeippool\.lock:1:1: this line should be `version: 1`:\n {2}hello\n {2}Restore it as it was/,
  ],
  [
    "a record with an address twice",
    5,
    { "nodeippool.lock": lockText("10.0.0.1 Node/n1/a/p", "10.0.0.1 Node/n2/a/p") },
    "nodeippool.lock:7:1: this line gives 10.0.0.1 away again; Node/n1/a/p holds it",
  ],
  // 6: no access to it
  ["a record that is a folder", 6, { "nodeippool.lock/x": "" }, "unavailable: nodeippool.lock is no file"],
];

describe.each(["plan", "allocate", "render"])("nodeippool %s fails and leaves every file as it was:", (verb) => {
  it.each(rows)("%s, exit %i", async (what, status, files, says) => {
    const folder = projectOf({ ...files, "out/.keep": "" });
    const before = filesOf(folder);
    const path = what === "no such manifests" ? "nope" : "manifests";
    const ran = await cli([verb, path, "--nodes", "nodes.txt", ...(verb === "render" ? ["--out", "out"] : [])], folder);
    expect(ran.stderr).toEqual(typeof says === "string" ? expect.stringContaining(says) : expect.stringMatching(says));
    expect(ran.status).toBe(status);
    expect(ran.stderr).not.toContain("bug:");
    if (!placeless.has(what)) expect(ran.stderr).toMatch(/^[\w-]+: [^\s:]+:\d+:\d+: /);
    if (verb !== "plan" || status === 2) expect(ran.stdout).toBe("");
    expect(filesOf(folder)).toEqual(before);
  });
});

it.each(["--lock", "--set", "--out"])("an empty %s is no value, exit 2", async (option) => {
  const { stderr, status } = await run(projectOf(), "render", option, "");
  const says = `invalid: ${option} is given, and empty\n  Is it a variable of the shell that is not set?\n`;
  expect([status, stderr]).toEqual([2, says]);
});

describe("a record in the middle of a merge", () => {
  it.each([
    ["plan", "is in the middle of a merge"],
    ["render", "has merge conflict markers"],
  ])("is a conflict for %s, exit 4", async (verb, what) => {
    const folder = projectOf({ "nodeippool.lock": markers });
    const { stdout, stderr, status } = await run(folder, verb);
    expect({ stdout, status }).toEqual({ stdout: "", status: 4 });
    expect(stderr).toBe(
      `conflict: nodeippool.lock ${what}\n  Merge both sides; whoever loses is planned anew: nodeippool allocate\n`,
    );
    expect(filesOf(folder)["nodeippool.lock"]).toBe(markers);
  });
});

describe("a command line that is none, exit 2:", () => {
  it.each([
    [["frobnicate"], "unknown command 'frobnicate'"],
    [["plan", "--node", "nodes.txt"], "Did you mean --nodes?"],
    [["plan", "manifests", "--nodes"], "argument missing"],
    [["mv"], "missing required argument 'from'"],
    [
      ["mv", "a"],
      "say what a is called now\n  Its new name, or the claim set that it goes to: nodeippool mv a --to-set NAME",
    ],
    [["plan", "-", "--nodes", "-"], "manifests and nodes cannot both come from standard input"],
    [["release", "n1", "--lock", "a.lock", "--backend", "kubernetes"], "--lock names a file, but"],
    [["plan", "manifests", "--nodes", "missing.txt"], "missing.txt does not exist"],
    [["plan", "manifests", "--nodes", "manifests"], "manifests is a folder"],
  ])("%j", async (args, says) => {
    const folder = projectOf();
    const before = filesOf(folder);
    const { stdout, stderr, status } = await cli(args, folder);
    expect({ stdout, status }).toEqual({ stdout: "", status: 2 });
    expect(stderr).toContain(says);
    expect(filesOf(folder)).toEqual(before);
  });

  it.each([["--help"], ["--version"], ["allocate", "--help"]])("but not %s %s", async (...args) => {
    const { stdout, stderr, status } = await cli(args, projectOf());
    expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
    expect(stdout).not.toBe("");
  });
});

describe("a lock that is a link", () => {
  it.each(["plan", "allocate", "render"])("is refused by %s: a rename would replace it", async (verb) => {
    const folder = projectOf({ "real.lock": lockText() });
    symlinkSync("real.lock", join(folder, "nodeippool.lock"));
    const { stderr, status } = await run(folder, verb);
    expect(status).toBe(6);
    expect(stderr).toBe("unavailable: nodeippool.lock is a symbolic link\n  Name the file itself.\n");
    expect(filesOf(folder)["real.lock"]).toBe(lockText());
  });
});

describe("what is printed of foreign text", () => {
  const commands = "\\e]0;owned\\a\\e[2J";
  it.each([
    ["an unknown field", { "manifests/b.yaml": poolText(`  range: {cidr: 10.9.0.0/24}\n  "${commands}": 1`, "q") }],
    [
      "a template",
      {
        "manifests/b.yaml": policyText(
          `  capture: {x: ippool.p.allocate}\n  desiredState: {a: "{{ ${commands} }}"}`,
          "b",
        ),
      },
    ],
    ["a capture", { "manifests/b.yaml": policyText(`  capture: {"${commands}": ippool.p.allocate}`, "b") }],
    [
      "a NIC",
      {
        "manifests/b.yaml": documentsOf(
          nicPolicyText("b", ["p"], `"${commands}"`),
          nicPolicyText("c", ["p"], `"${commands}"`),
        ),
      },
    ],
    ["a NIC of the record", { "nodeippool.lock": lockText("10.0.0.1 Node/n1/a/p if=\u001b[2J") }],
    ["a line of the record", { "nodeippool.lock": "version: 1\n\u001b[2J\n" }],
  ] as [string, Files][])("%s commands no terminal", async (_, files) => {
    const { stdout, stderr } = await run(projectOf(files), "plan");
    expect(`${stdout}${stderr}`).not.toBe("");
    expect(`${stdout}${stderr}`.replaceAll("\n", "")).not.toMatch(/\p{Cc}/u);
  });
});
