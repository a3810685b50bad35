import { readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { encode } from "../../../state/codec.ts";
import { lineOf, poolOf } from "../../support/core/text.ts";
import { cli, filesOf, lockText, projectOf, run } from "../../support/schema/cli.ts";

const live = ["10.0.0.1 Node/n1/a/p", "10.0.0.2 Node/n2/b/p if=eth2"];
const leaving = [
  "10.0.0.3 Node/n3/a/p releasing",
  "10.0.0.4 Node/n4/a/p releasing",
  "10.0.0.5 Node/n4/b/p if=eth2 releasing",
];
const projectWith = (...lines: string[]) => projectOf({ "nodeippool.lock": lockText(...lines) });
const twoNetworks = encode({
  pools: [poolOf("p", "10.0.0.0/29"), poolOf("q", "10.0.0.0/29", { network: "red" })],
  allocations: [],
  releasing: [lineOf("10.0.0.3 Node/n3/a/p"), lineOf("10.0.0.3 Node/n4/a/q pool=q")],
});
const lockIn = (folder: string) => readFileSync(join(folder, "nodeippool.lock"), "utf8");

it("alone lists what is releasing, and what would free it", async () => {
  const folder = projectWith(...live, ...leaving.slice(0, 1));
  expect(await cli(["release"], folder)).toMatchObject({
    status: 0,
    stdout:
      "  10.0.0.3  n3  a/p\n1 address releasing.\n" +
      "Free those that nodes no longer have: kubectl get nns -o json > nns.json && nodeippool release --evidence nns.json\n" +
      "Free those that you know are off their nodes: nodeippool release NAME... --confirm\n",
  });
  expect((await cli(["release"], projectWith(...live))).stdout).toBe("0 addresses releasing.\n");
});

it("shows what --dry-run would free, asks nothing and writes nothing", async () => {
  const folder = projectWith(...live, ...leaving);
  const before = lockIn(folder);
  const { stdout, status } = await cli(["release", "n3", "--dry-run"], folder);
  expect([status, stdout]).toEqual([0, "  - 10.0.0.3  n3  a/p\nDry run: 1 address would be freed.\n"]);
  expect(lockIn(folder)).toBe(before);
});

describe("nodeippool release --confirm", () => {
  const rows: [names: string[], freed: string[]][] = [
    [["n3"], ["10.0.0.3"]],
    [["Node/n3"], ["10.0.0.3"]],
    [["10.0.0.4"], ["10.0.0.4"]],
    [["n4"], ["10.0.0.4", "10.0.0.5"]],
    [["Node/n4/b/p"], ["10.0.0.5"]],
    [["a/p"], ["10.0.0.3", "10.0.0.4"]],
    [["a"], ["10.0.0.3", "10.0.0.4"]],
    [
      ["n3", "a"],
      ["10.0.0.3", "10.0.0.4"],
    ],
  ];
  it.each(rows)("%j frees %j", async (names, freed) => {
    const folder = projectWith(...live, ...leaving);
    const { stdout, stderr, status } = await cli(["release", ...names, "--confirm"], folder);
    expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
    expect(stdout.match(/(?<=^ {2}- )\S+/gm)).toEqual(freed);
    expect(stdout).toContain(`Freed ${freed.length} address${freed.length === 1 ? "" : "es"}.\n`);
    expect(lockIn(folder)).toBe(
      lockText(...live, ...leaving.filter((line) => !freed.includes(line.split(" ")[0] ?? ""))),
    );
  });

  it("lets somebody else have the address, and not before", async () => {
    const full = [
      "10.0.0.1 Node/n1/a/p",
      "10.0.0.3 Node/n3/a/p",
      "10.0.0.4 Node/n4/a/p",
      "10.0.0.5 Node/n5/a/p",
      "10.0.0.6 Node/n6/a/p",
      "10.0.0.2 Node/old/a/p releasing",
    ];
    const folder = projectWith(...full);
    writeFileSync(join(folder, "nodes.txt"), "n1\nn2\nn3\nn4\nn5\nn6\n");
    const early = await run(folder, "allocate");
    expect(early.status).toBe(3);
    expect(early.stderr).toContain(
      "pool p is exhausted: 1 needed, 0 free\n  Take addresses from another pool too: this one has its whole prefix. Or free the addresses that are releasing (1): nodeippool release",
    );
    expect(lockIn(folder)).toBe(lockText(...full));
    await cli(["release", "old", "--confirm"], folder);
    expect((await run(folder, "allocate")).stdout).toContain("  + 10.0.0.2  n2  a/p\n");
  });
});

describe("nodeippool release refuses, and leaves the lock as it was:", () => {
  const rows: [what: string, args: string[], status: number, says: string | RegExp][] = [
    ["an unknown name", ["nobody", "--confirm"], 2, "nothing that is releasing is named nobody"],
    [
      "an unknown name beside a known one",
      ["n3", "nobody", "--confirm"],
      2,
      "nothing that is releasing is named nobody",
    ],
    [
      "a live line",
      ["n1", "--confirm"],
      3,
      /in-use: 10\.0\.0\.1 of Node\/n1\/a\/p is still claimed\n {2}Take the node or the policy out of the manifests and run nodeippool allocate first\./,
    ],
    [
      "an imported one, by its owner",
      ["VM/ns:v", "--confirm"],
      3,
      "was imported, and no manifest gives it up\n  If it is off its node, name it by its address: nodeippool release 10.0.0.6\n",
    ],
    [
      "a live line beside a releasing one",
      ["n3", "10.0.0.2", "--confirm"],
      3,
      "10.0.0.2 of Node/n2/b/p is still claimed",
    ],
    [
      "no word and no evidence, with nobody to ask",
      ["n3"],
      3,
      /in-use: 1 address may still be on a node\n {2}Show that they are not \(--evidence nns\.json\), or say that you know \(--confirm\)\./,
    ],
    ["evidence that is not there", ["--evidence", "nns.yaml"], 2, "nns.yaml does not exist"],
    ["evidence that is none", ["--evidence", "nodes.txt"], 2, "nodes.txt"],
  ];
  it.each(rows)("%s", async (_, args, status, says) => {
    const folder = projectWith(...live, "10.0.0.6 VM/ns:v/a set=imported", ...leaving);
    const before = filesOf(folder);
    const ran = await cli(["release", ...args], folder);
    expect(ran).toMatchObject({ status, stdout: "" });
    expect(ran.stderr).toEqual(typeof says === "string" ? expect.stringContaining(says) : expect.stringMatching(says));
    expect(filesOf(folder)).toEqual(before);
  });

  // A node may be called like an address, or like a policy.
  it.each([
    ["10.0.0.3", "10.0.0.3 names more than one thing"],
    ["b", "b names more than one thing"],
  ])("a word that means two things: %s", async (name, says) => {
    const twins = ["10.0.0.1 Node/10.0.0.3/a/p releasing", "10.0.0.2 Node/b/a/p releasing"];
    const lines = [...twins, "10.0.0.3 Node/n3/b/p releasing"];
    const folder = projectWith(...lines);
    const ran = await cli(["release", name, "--confirm"], folder);
    expect(ran).toMatchObject({ status: 2, stdout: "" });
    expect(ran.stderr).toContain(`invalid: ${says}\n  Use one of these names: Node/`);
    expect(lockIn(folder)).toBe(lockText(...lines));
    expect((await cli(["release", `Node/${name}`, "--confirm"], folder)).stdout).toContain("Freed 1 address.");
  });

  it("an address of two networks", async () => {
    const folder = projectOf({ "nodeippool.lock": twoNetworks });
    const ran = await cli(["release", "10.0.0.3", "--confirm"], folder);
    expect(ran).toMatchObject({ status: 2, stdout: "" });
    expect(ran.stderr).toContain(
      "invalid: 10.0.0.3 names more than one thing\n  Use one of these names: Node/n3/a/p, Node/n4/a/q\n",
    );
    expect(lockIn(folder)).toBe(twoNetworks);
    expect((await cli(["release", "n3", "--confirm"], folder)).stdout).toContain("Freed 1 address.");
  });

  it("with no lock at all, and makes none", async () => {
    const folder = projectOf();
    const before = filesOf(folder);
    expect(await cli(["release", "n1", "--confirm"], folder)).toMatchObject({ status: 2, stdout: "" });
    expect(filesOf(folder)).toEqual(before);
  });
});

describe("nodeippool release --evidence", () => {
  const nic = (name: string, ...addresses: string[]) => ({
    name,
    type: "ethernet",
    ipv4: { enabled: true, address: addresses.map((ip) => ({ ip, "prefix-length": 29 })) },
  });
  const reportOf = (node: string, ...interfaces: object[]) => ({
    apiVersion: "nmstate.io/v1beta1",
    kind: "NodeNetworkState",
    metadata: { name: node },
    status: { currentState: { interfaces } },
  });
  const state = (node: string, ...addresses: string[]) => reportOf(node, nic("eth1", ...addresses), nic("eth2"));
  const dump = (...items: object[]) => JSON.stringify({ apiVersion: "v1", kind: "List", items });
  const released = async (items: object[], ...names: string[]) => {
    const folder = projectWith(...live, ...leaving);
    writeFileSync(join(folder, "nns.json"), dump(...items));
    const ran = await cli(["release", ...names, "--evidence", "nns.json"], folder);
    return {
      ...ran,
      left:
        lockIn(folder)
          .split("releasing:")[1]
          ?.match(/10\.0\.0\.\d/g) ?? [],
    };
  };

  it("frees what its node has no more, and keeps what it has", async () => {
    const { status, stderr, stdout, left } = await released([state("n3"), state("n4", "10.0.0.5")]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toMatch(/^ {2}= 10\.0\.0\.5 {2}n4 {2}b\/p {2}still on Node\/n4 eth1$/m);
    expect(stdout).toContain("Freed 2 addresses.\n");
    expect(left).toEqual(["10.0.0.5"]);
  });

  it("a node that says nothing proves nothing", async () => {
    const { status, left } = await released([state("n3")]);
    expect(status).toBe(0);
    expect(left).toEqual(["10.0.0.4", "10.0.0.5"]);
  });

  it("a NIC that the handler leaves out of the report proves nothing", async () => {
    const { status, stdout, left } = await released([reportOf("n3", nic("eth1")), reportOf("n4", nic("eth1"))]);
    expect(status).toBe(0);
    expect(left).toEqual(["10.0.0.5"]);
    expect(stdout).toContain(
      "  = 10.0.0.5  n4  b/p  the report of Node/n4 shows no eth2 that is up, with its IPv4; if it is off: nodeippool release 10.0.0.5 --confirm\n",
    );
  });

  it.each([
    ["down", [{ ...nic("eth2"), state: "down" }]],
    ["ignored by nmstate", [{ ...nic("eth2"), state: "ignore" }]],
    [
      "absent, beside a bridge of its name",
      [
        { name: "eth2", type: "ovs-bridge", state: "up" },
        { ...nic("eth2"), state: "absent" },
      ],
    ],
  ])("a NIC that is %s proves nothing", async (_, nics) => {
    const off = nics.map((one) => ("ipv4" in one ? { ...one, ipv4: { enabled: false } } : one));
    const { stdout, left } = await released([reportOf("n3", nic("eth1")), reportOf("n4", nic("eth1"), ...off)]);
    expect(left).toEqual(["10.0.0.5"]);
    expect(stdout).toContain("  = 10.0.0.5  n4  b/p  the report of Node/n4 shows no eth2 that is up, with its IPv4;");
  });

  it("a NIC that is up tells what it has no more", async () => {
    const up = { name: "eth2", state: "up", ipv4: { enabled: false } };
    expect((await released([reportOf("n3", nic("eth1")), reportOf("n4", nic("eth1"), up)])).left).toEqual([]);
  });

  it("an address that another node has is not off", async () => {
    expect((await released([state("n3"), state("n4"), state("n9", "10.0.0.3")])).left).toEqual(["10.0.0.3"]);
  });

  it("that is older than the lock proves nothing", async () => {
    const folder = projectWith(...live, ...leaving);
    writeFileSync(join(folder, "nns.json"), dump(state("n3"), state("n4")));
    const { mtimeMs } = statSync(join(folder, "nodeippool.lock"));
    utimesSync(join(folder, "nns.json"), new Date(), new Date(mtimeMs - 60_000));
    const ran = await cli(["release", "--evidence", "nns.json"], folder);
    expect(ran).toMatchObject({ status: 2, stdout: "" });
    expect(ran.stderr).toBe(
      "invalid: nns.json is older than nodeippool.lock: nodes may have got addresses since\n  Take it again: kubectl get nodenetworkstates -o json > nns.json\n",
    );
    expect(lockIn(folder)).toBe(lockText(...live, ...leaving));
  });

  it("frees no more than is named", async () => {
    expect((await released([state("n3"), state("n4")], "n3")).left).toEqual(["10.0.0.4", "10.0.0.5"]);
  });

  it("frees nothing on a dump in which the address list is misspelt", async () => {
    const text = JSON.stringify(state("n3", "10.0.0.3")).replace('"address"', '"addresess"');
    const { status, stderr, left } = await released([JSON.parse(text), state("n4")]);
    expect(status).toBe(2);
    expect(stderr).toMatch(
      /^invalid: nns\.json:1:\d+: node n3: ipv4 of interface eth1 has a list that is not called address$/m,
    );
    expect(left).toEqual(["10.0.0.3", "10.0.0.4", "10.0.0.5"]);
  });

  it("never frees a live line", async () => {
    const folder = projectWith(...live);
    writeFileSync(join(folder, "nns.json"), dump(state("n1"), state("n2")));
    await cli(["release", "--evidence", "nns.json"], folder);
    expect(lockIn(folder)).toBe(lockText(...live));
  });
});
