import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatAddress } from "../../../core/address.ts";
import { plan } from "../../../core/plan/plan.ts";
import { readEvidence } from "../../../pipeline/evidence.ts";
import { networkStatesText } from "../../../schema/network-states.ts";
import { lockfile } from "../../../state/lockfile.ts";
import { claimOf, poolOf } from "../../support/core/text.ts";
import { cli, filesOf, folderOf, lockText, manifests, projectOf } from "../../support/schema/cli.ts";
import { documentsOf, nicPolicyText, poolText } from "../../support/schema/text.ts";
import { recordTexts } from "../../support/state/record.ts";

/** Word for word as the study shows it. */
const study = `kind: ConfigMap
apiVersion: v1
metadata:
  name: xxx
  namespace: xxx
data:
  net0:
    node-0: 192.168.0.10
  net1:
    node-0: 192.168.1.10
`;

const pools = documentsOf(
  poolText("  range: {cidr: 192.168.0.0/24, start: 192.168.0.10, end: 192.168.0.250}", "net0"),
  poolText("  range: {cidr: 192.168.1.0/24, start: 192.168.1.10, end: 192.168.1.15}", "net1"),
);

const folderWith = (states: string, more = {}) => folderOf({ "pools.yaml": pools, "states.yaml": states, ...more });
const imports = (folder: string, ...more: string[]) => cli(["import", "states.yaml", "pools.yaml", ...more], folder);
const view = (folder: string, ...more: string[]) =>
  cli(["show", "--pools", "pools.yaml", "--configmap", "xxx", ...more], folder);
const recordOf = async (folder: string) => recordTexts(await lockfile(join(folder, "nodeippool.lock")).read());

describe("the ConfigMap of the study", () => {
  it("is imported as the study shows it, and shown as an API server takes it; that is imported likewise", async () => {
    const folder = folderWith(study);
    expect((await imports(folder)).status).toBe(0);
    const record = await recordOf(folder);
    expect(record).toEqual([
      "192.168.0.10 Node/node-0/net0 pool=net0 set=imported",
      "192.168.1.10 Node/node-0/net1 pool=net1 set=imported",
    ]);
    const { stdout } = await view(folder);
    expect(stdout).toBe(`apiVersion: v1
kind: ConfigMap
metadata:
  name: xxx
data:
  net0: |
    node-0: 192.168.0.10
  net1: |
    node-0: 192.168.1.10
`);
    const other = folderWith(stdout);
    await imports(other);
    expect(await recordOf(other)).toEqual(record);
    expect((await imports(other)).stdout).toContain("Nothing to record.");
    expect((await view(other)).stdout).toBe(stdout);
  });

  it("whoever claims the network for the node later has that address", async () => {
    const folder = folderWith(study);
    await imports(folder);
    const state = lockfile(join(folder, "nodeippool.lock"));
    const snapshot = await state.read();
    const claims = [claimOf("Node/node-0/net0 pool=net0"), claimOf("Node/node-1/net0 pool=net0")];
    const net0 = poolOf("net0", "192.168.0.0/24");
    const after = await state.commit(plan({ pools: [net0], claims, snapshot, set: "metal3" }));
    expect(recordTexts(after)).toContain("192.168.0.10 Node/node-0/net0 pool=net0 set=metal3");
  });

  const states = (text: string) => `kind: ConfigMap\napiVersion: v1\nmetadata: {name: s}\ndata:\n${text}\n`;

  it("a policy's claim on that pool gets it", async () => {
    const folder = projectOf({ "states.yaml": states('  p: "n1: 10.0.0.5"') });
    await cli(["import", "states.yaml", "manifests", "--nodes", "nodes.txt"], folder);
    expect(await recordOf(folder)).toEqual(["10.0.0.5 Node/n1/a/p if=eth1"]);
    const again = await cli(["import", "states.yaml", "manifests", "--nodes", "nodes.txt"], folder);
    expect(again.stdout).toContain("Nothing to record.");
  });

  it("a node that claims the pool on two NICs: nobody knows which is meant", async () => {
    const two = documentsOf(manifests, nicPolicyText("b", ["p"], "eth2"));
    const folder = projectOf({ "manifests/a.yaml": two, "states.yaml": states('  p: "n1: 10.0.0.5"') });
    const { stderr, status } = await cli(["import", "states.yaml", "manifests", "--nodes", "nodes.txt"], folder);
    const want = expect.stringMatching(/may be that of Node\/n1\/a\/p or Node\/n1\/b\/p\n.*CSV/);
    expect([stderr, status]).toEqual([want, 4]);
  });

  it.each([
    [
      "an unknown pool",
      '  net0: "a: 192.168.0.10"\n  nte1: "a: 192.168.1.10"',
      2,
      /:6:9: pool "nte1".*did you mean net1/,
    ],
    ["no address", '  net0: "a: 192.168.0.300"', 2, /:5:9: ConfigMap s, net0, a: /],
    ["a leading zero", '  net0: "a: 192.168.0.010"', 2, /:5:9: ConfigMap s, net0, a: /],
    ["a list", '  net0: "a: [192.168.0.10]"', 2, /:5:9: ConfigMap s, net0, a: /],
    ["no name", '  net0: "A_: 192.168.0.10"', 2, /:5:9: ConfigMap s, net0: the name of a node "A_"/],
    ["no owner", '  net0: "Node/a/b: 192.168.0.10"', 2, /:5:9: ConfigMap s, net0: "Node\/a\/b" is not an owner/],
    ["other text", "  net0: hello", 2, /:5:9: ConfigMap s, net0 is not text with a line/],
    ["a key twice", '  net0: "{a: 192.168.0.10, a: 192.168.0.11}"', 2, /net0 is not text with a line/],
    ["no data", "  {}", 2, /shows nobody's addresses/],
    [
      "an address twice",
      "  net0: |\n    a: 192.168.0.10\n    b: 192.168.0.10",
      4,
      /192\.168\.0\.10 is on Node\/a and on Node\/b/,
    ],
    [
      "another network",
      '  net0: "a: 192.168.1.10"',
      2,
      /:5:9: Node\/a has 192\.168\.1\.10, which pool net0 may not hand out/,
    ],
    ["out of range", '  net0: "a: 192.168.0.9"', 2, /:5:9: Node\/a has 192\.168\.0\.9, which pool net0 may not/],
  ])("%s: refused, nothing is written", async (_, text, status, want) => {
    const folder = folderWith(states(text));
    const before = filesOf(folder);
    const ran = await imports(folder);
    expect(ran.stderr).toMatch(want);
    expect(ran.status).toBe(status);
    expect(filesOf(folder)).toEqual(before);
  });

  it("a node that is not among those named, and one that has another address by the record: refused", async () => {
    const folder = folderWith(study, { "listed.txt": "node-1\n" });
    expect((await imports(folder, "--nodes", "listed.txt")).stderr).toContain("node-0 is not among the nodes");
    await imports(folder);
    writeFileSync(join(folder, "states.yaml"), study.replace("0.10", "0.11"));
    const moved = await imports(folder);
    expect([moved.stderr, moved.status]).toEqual([
      expect.stringContaining("Node/node-0/net0 holds 192.168.0.10, but Node/node-0 has 192.168.0.11"),
      4,
    ]);
  });

  it("an owner that is no node need not be among the nodes", async () => {
    const text = states('  p: "{n1: 10.0.0.1, VirtualMachine/web: 10.0.0.2}"');
    const folder = projectOf({ "states.yaml": text });
    const ran = await cli(["import", "states.yaml", "manifests", "--nodes", "nodes.txt"], folder);
    expect([ran.stderr, ran.status]).toEqual(["", 0]);
    expect(ran.stdout).toContain("+ 10.0.0.2  VirtualMachine/web  p\n");
  });

  it("a node with two addresses of a pool cannot be shown in it", async () => {
    const folder = projectOf({ "nodeippool.lock": lockText("10.0.0.1 Node/n1/a/p", "10.0.0.2 Node/n1/b/p releasing") });
    const ran = await cli(["show", "--pools", "manifests", "--configmap", "x"], folder);
    expect([ran.stderr, ran.status]).toEqual([
      expect.stringMatching(/^invalid: Node\/n1 has 10\.0\.0\.1 and 10\.0\.0\.2/),
      2,
    ]);
    expect((await cli(["show", "--configmap", "x", "--json"], folder)).stderr).toMatch(/exclude each other/);
  });

  it("says the same when it is read, whatever the owners are called", () => {
    const owner = fc.oneof(
      fc
        .stringMatching(/^[a-z0-9]([a-z0-9-]{0,5}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,5}[a-z0-9])?){0,2}$/)
        .map((name) => `Node/${name}`),
      fc.constantFrom("Node/no", "Node/null", "Node/0x1f", "Node/1e3", "Node/12", "VirtualMachine/ns:vm-1"),
    );
    const address = fc.oneof(fc.ipV4(), fc.constantFrom("::1:2", "1:2:3:4:5:6:7:8", "2001:db8::"));
    const pool = fc.constantFrom("net0", "a.b-c", "true", "9");
    const list = fc.uniqueArray(fc.record({ pool, owner, address }), { selector: (s) => `${s.pool} ${s.owner}` });
    fc.assert(
      fc.property(list, (written) => {
        fc.pre(written.length > 0);
        const { uses } = readEvidence({ path: "x.yaml", text: networkStatesText("x", written) });
        const read = uses.map((use) => `${use.pool} ${use.owner} ${formatAddress(use.address)}`);
        expect(read.sort()).toEqual(written.map((one) => `${one.pool} ${one.owner} ${one.address}`).sort());
      }),
    );
  });
});
