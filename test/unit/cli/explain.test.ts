import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { explained, explainVerb } from "../../../cli/explain.ts";
import { sentence } from "../../../cli/pools/fact.ts";
import { viewsOf } from "../../../cli/pools/pools.ts";
import { address } from "../../../core/address.ts";
import { encode } from "../../../state/codec.ts";
import { printed } from "../../support/cli/printed.ts";
import { poolOf, recordOf } from "../../support/core/text.ts";
import { cli, lockText, projectOf } from "../../support/schema/cli.ts";
import { documentsOf, nicPolicyText, poolText } from "../../support/schema/text.ts";

const traffic = poolOf("traffic-1", "10.10.10.0/24 10.10.10.1 10.10.10.20", {
  exclude: ["10.10.10.4"],
  gateway: "10.10.10.254",
  clusterRange: { start: "10.10.10.16", end: "10.10.10.20" },
  reservations: [
    { address: "10.10.10.5", owner: "Node/node05", description: "firewalled by address" },
    { address: "10.10.10.6", owner: "Node/node06", claim: "static-ip/eth1" },
    { address: "10.10.10.9" },
    { address: "10.10.10.10", description: "virtual IP" },
    { address: "10.10.10.11", owner: "Node/node05", claim: "static-ip/y", description: "the old\u001b[31m one" },
  ],
});
const beside = poolOf("beside", "10.10.10.0/24 10.10.10.100 10.10.10.110");
const tenant = poolOf("tenant", "10.10.10.0/24", { network: "blue" });
const wide = poolOf("wide", "10.20.0.0/16 10.20.0.1 10.20.1.9");
const six = poolOf("six", "2001:db8::/32");
const late = poolOf("late", "10.30.0.0/24", { authority: "Cluster" });
const old = poolOf("old", "10.40.0.0/24");

const record = recordOf(
  [
    "10.10.10.2 Node/node01/static-ip/address-from-traffic-1 pool=traffic-1 if=eth1",
    "10.10.10.3 Node/node02/static-ip/address-from-traffic-1 pool=traffic-1 if=eth1 releasing",
    "10.10.10.4 Node/node03/static-ip/x pool=traffic-1 set=other",
    "10.10.10.5 Node/node05/static-ip/x pool=traffic-1",
    "10.10.10.6 VirtualMachine/ns:vm1/net0 pool=traffic-1",
    "10.10.10.50 Node/node04/static-ip/x pool=traffic-1",
    "10.40.0.7 Node/node01/old/x pool=old if=eth9",
  ],
  [traffic, old],
);
const views = viewsOf([traffic, beside, tenant, wide, six, late], record);

describe("an address", () => {
  it.each([
    { at: "10.20.0.9", want: "pool wide, offset 8, free" },
    { at: "10.20.1.0", want: "pool wide, no offset, free, but never picked automatically" },
    { at: "10.20.1.9", want: "pool wide, offset 262, free" },
    { at: "10.20.1.10", want: "pool wide, outside its range" },
    { at: "10.20.0.0", want: "pool wide, reserved as network address" },
    { at: "10.20.255.255", want: "pool wide, reserved as broadcast address" },
    { at: "2001:db8::", want: "pool six, reserved as subnet-router anycast address" },
    { at: "2001:db8::ff", want: "pool six, offset 254, free" },
    { at: "10.30.0.7", want: "pool late, offset 6, only the controller hands it out" },
    { at: "10.40.0.7", want: "pool old, which is not defined here, held by node01, old/x, on eth9" },
    { at: "10.40.0.8", want: "pool old, which is not defined here, not recorded" },
  ])("$at: $want", ({ at, want }) => {
    expect(explained(address(at), views).map(sentence)).toEqual([`${at}: ${want}`]);
  });

  const blue = (offset: number) => `pool tenant of network blue, offset ${offset}, free`;
  it.each([
    { at: "10.10.10.1", offset: 0, want: "offset 0, free" },
    { at: "10.10.10.2", offset: 1, want: "offset 1, held by node01, static-ip/address-from-traffic-1, on eth1" },
    {
      at: "10.10.10.3",
      offset: 2,
      want: "offset 2, releasing, was held by node02, static-ip/address-from-traffic-1, on eth1",
    },
    { at: "10.10.10.4", offset: 3, want: "offset 3, held by node03, static-ip/x, set other, though excluded" },
    { at: "10.10.10.5", offset: 4, want: "offset 4, held by node05, static-ip/x, reserved: firewalled by address" },
    {
      at: "10.10.10.6",
      offset: 5,
      want: "offset 5, held by VirtualMachine/ns:vm1, net0, though reserved for Node/node06 (static-ip/eth1)",
    },
    { at: "10.10.10.9", offset: 8, want: "offset 8, reserved for nobody" },
    { at: "10.10.10.10", offset: 9, want: "offset 9, reserved for nobody: virtual IP" },
    {
      at: "10.10.10.11",
      offset: 10,
      want: "offset 10, reserved for Node/node05 (static-ip/y): the old\uFFFD[31m one",
    },
    { at: "10.10.10.18", offset: 17, want: "offset 17, only the controller hands it out" },
    { at: "10.10.10.50", offset: 49, want: "held by node04, static-ip/x, though outside its range" },
    { at: "10.10.10.254", offset: 253, want: "reserved as gateway" },
  ])("$at in two networks: $want", ({ at, offset, want }) => {
    const lines = [`${at}: pool traffic-1, ${want}`, `${at}: ${blue(offset)}`];
    expect(explained(address(at), views).map(sentence)).toEqual(lines);
  });

  it("is said to be near every pool of a network where none has more to say", () => {
    expect(explained(address("10.10.10.60"), views).map(sentence)).toEqual([
      "10.10.10.60: pool traffic-1, outside its range",
      "10.10.10.60: pool beside, outside its range",
      `10.10.10.60: ${blue(59)}`,
    ]);
  });

  it("shows names of a hostile record without what moves a cursor", () => {
    const lines = ["10.20.0.1 Node/a/x\u009b2Jy pool=wide if=\u001b[31m\u202eeth1"];
    const hostile = viewsOf([wide], recordOf(lines, [wide]));
    expect(explained(address("10.20.0.1"), hostile).map(sentence)).toEqual([
      "10.20.0.1: pool wide, offset 0, held by a, x\uFFFD2Jy, on \uFFFD[31m\uFFFDeth1",
    ]);
  });
});

describe("nodeippool explain", () => {
  let folder = "";
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "nodeippool-explain-"));
    writeFileSync(join(folder, "nodeippool.lock"), encode(record));
    writeFileSync(
      join(folder, "pools.yaml"),
      `{apiVersion: nmstate.io/v1, kind: NodeIPPool, metadata: {name: wide},
        spec: {range: {cidr: 10.20.0.0/16, start: 10.20.0.1, end: 10.20.1.0}, reservations: [{address: 10.20.0.30, owner: Node/node07, description: for later}]}}
---
{apiVersion: nmstate.io/v1, kind: NodeIPPool, metadata: {name: single}, spec: {range: {cidr: 10.21.0.0/16, start: 10.21.0.9, end: 10.21.0.9}}}
---
{apiVersion: nmstate.io/v1, kind: NodeIPPool, metadata: {name: none}, spec: {range: {cidr: 10.22.0.0/16, start: 10.22.1.0, end: 10.22.1.0}}}
`,
    );
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** Runs the verb in this process. */
  async function explain(line: string): Promise<string> {
    const text = { type: "string" } as const;
    const { positionals, values } = parseArgs({
      args: line.split(" "),
      allowPositionals: true,
      options: { offset: text, pools: text, lock: text, json: { type: "boolean" } },
    });
    const { pools = ".", lock = "nodeippool.lock", ...rest } = values;
    const options = { pools: join(folder, pools), lock: join(folder, lock), ...rest };
    return printed(() => explainVerb(positionals[0] ?? "", options));
  }

  it("answers, or refuses with exit status 2 and nothing on standard output", async () => {
    expect(await cli(["explain", "wide", "--offset", "3"], folder)).toEqual({
      stdout: "10.20.0.4: pool wide, offset 3, free\n",
      stderr: "",
      status: 0,
    });
    expect(await cli(["explain", "wide", "--offset", "-1"], folder)).toEqual({
      stdout: "",
      stderr: 'invalid: "-1" is not an offset: expected a number\n',
      status: 2,
    });
  });

  it.each([
    {
      args: "10.10.10.2",
      out: /^10\.10\.10\.2: pool traffic-1, which is not defined here, held by node01, .* eth1\n$/,
    },
    { args: "10.99.0.1", out: /^10\.99\.0\.1: in no pool\n$/ },
    { args: "wide --offset 0", out: /^10\.20\.0\.1: pool wide, offset 0, free\n$/ },
    { args: "single --offset 0", out: /^10\.21\.0\.9: pool single, offset 0, free\n$/ },
    { args: "wide --offset 253", out: /^10\.20\.0\.254: pool wide, offset 253, free\n$/ },
  ])("$args", async ({ args, out }) => {
    expect(await explain(args)).toMatch(out);
  });

  const first = /10\.10\.10\.2: pool traffic-1, .* held by node01, static-ip\/address-from-traffic-1, on eth1\n/;
  const second = /10\.40\.0\.7: pool old, .* held by node01, old\/x, on eth9\n/;
  it.each([
    ["node01", [second, first]],
    ["Node/node01", [second, first]],
    ["old", [second]],
    ["old/x", [second]],
    ["Node/node01/static-ip/address-from-traffic-1", [first]],
    ["vm1", [/10\.10\.10\.6: .* held by VirtualMachine\/ns:vm1, net0\n/]],
    ["node02", [/10\.10\.10\.3: .* releasing, was held by node02, .*\n/]],
    ["node07", [/10\.20\.0\.30: pool wide, offset 29, reserved for Node\/node07: for later\n/]],
  ])("%s: all that it has", async (name, lines) => {
    const out = await explain(name);
    expect(out).toMatch(new RegExp(`^${lines.map((line) => line.source).join("")}$`));
  });

  it("node01 --json", async () => {
    const { name, addresses } = JSON.parse(await explain("node01 --json"));
    expect([name, addresses.map((one: { address: string }) => one.address)]).toEqual([
      "node01",
      ["10.40.0.7", "10.10.10.2"],
    ]);
    const alone = addresses[1];
    expect(alone).toEqual(JSON.parse(await explain("10.10.10.2 --json")));
  });

  const huge = "9".repeat(400);
  it.each([
    {
      args: "wide --offset 254",
      code: "out-of-range",
      why: "offset 254 is not in pool wide (10.20.0.0/16 10.20.0.1-10.20.1.0)",
    },
    { args: `wide --offset ${huge}`, code: "out-of-range", why: "is not in pool wide" },
    {
      args: "single --offset 1",
      code: "out-of-range",
      why: "offset 1 is not in pool single (10.21.0.0/16 10.21.0.9)",
    },
    { args: "none --offset 0", code: "out-of-range", why: "offset 0 is not in pool none (10.22.0.0/16 10.22.1.0)" },
    { args: "wide --offset=-1", code: "invalid", why: '"-1" is not an offset: expected a number' },
    { args: "wide --offset 1e2", code: "invalid", why: '"1e2" is not an offset' },
    {
      args: "wde --offset 1",
      code: "invalid",
      why: 'there is no pool "wde"; did you mean wide?',
    },
    { args: "traffic-1 --offset 1", code: "invalid", why: "pool traffic-1 is recorded, but not defined here" },
    { args: "10.20.0.1 --offset 1", code: "invalid", why: 'there is no pool "10.20.0.1"' },
    { args: "wide", code: "invalid", why: "wide is a pool, not an address\n  Add --offset NUMBER" },
    {
      args: "wid",
      code: "invalid",
      why: '"wid" is not an address, a pool, a node or an owner; did you mean wide?',
    },
    { args: "zzzzzzzz", code: "invalid", why: '"zzzzzzzz" is not an address, a pool, a node or an owner' },
    { args: "node1", code: "invalid", why: "did you mean node01?" },
    { args: "10.20.0.01", code: "invalid", why: "leading zero" },
    { args: "10.20.0.1/24", code: "invalid", why: "is not an IP address" },
    { args: "10.20.0.1 --lock none --pools none", code: "invalid", why: "none does not exist" },
    {
      args: "10.20.0.1 --pools nodeippool.lock --lock none",
      code: "invalid",
      why: "and none is recorded in",
    },
  ])("$args is $code", async ({ args, code, why }) => {
    await expect(explain(args)).rejects.toThrow(
      expect.objectContaining({ code, message: expect.stringContaining(why) }),
    );
  });

  it.each([
    {
      args: "10.10.10.2",
      want: {
        address: "10.10.10.2",
        pools: [
          {
            pool: "traffic-1",
            network: "default",
            defined: false,
            state: "held",
            allocation: {
              address: "10.10.10.2",
              pool: "traffic-1",
              claim: "Node/node01/static-ip/address-from-traffic-1",
              set: "default",
              interface: "eth1",
            },
          },
        ],
      },
    },
    {
      args: "10.20.1.0",
      want: {
        address: "10.20.1.0",
        pools: [
          {
            pool: "wide",
            network: "default",
            defined: true,
            state: "on-request",
            note: "free, but never picked automatically",
          },
        ],
      },
    },
    {
      args: "wide --offset 3",
      want: {
        address: "10.20.0.4",
        pools: [{ pool: "wide", network: "default", defined: true, offset: 3, state: "free", note: "free" }],
      },
    },
    { args: "10.99.0.1", want: { address: "10.99.0.1", pools: [] } },
  ])("$args --json", async ({ args, want }) => {
    expect(JSON.parse(await explain(`${args} --json`))).toEqual(want);
  });
});

describe("a node that has nothing", () => {
  const folder = projectOf({
    "manifests/a.yaml": documentsOf(poolText(), nicPolicyText("lan", ["p"], "eth1", "  nodeSelector: {rack: a}\n")),
    "nodes.txt":
      "b kubernetes.io/hostname=b,rack=b\nbare kubernetes.io/hostname=bare\nnew kubernetes.io/hostname=new,rack=a\n",
    "nodeippool.lock": lockText("10.0.0.1 Node/a01/lan/p"),
  });

  it.each([
    ["b", "node b has no address\n  policy lan does not select b: it wants rack: a, and the node has b\n"],
    [
      "bare",
      "node bare has no address\n  policy lan does not select bare: it wants rack: a, and the node has no such label\n",
    ],
    ["new", "node new has no address\n  lan/p asks pool p for an address: nodeippool allocate gives it one\n"],
  ])("%s", async (name, stdout) => {
    expect(await cli(["explain", name], folder)).toEqual({ stdout, stderr: "", status: 0 });
  });
});

it("refuses a name of several things, and lists them", async () => {
  const lock = lockText("10.0.0.1 Node/web/a/p", "10.0.0.2 VirtualMachine/ns:web/a/p");
  const { stderr, status } = await cli(["explain", "web"], projectOf({ "nodeippool.lock": lock }));
  expect(stderr).toBe(
    "invalid: web names more than one thing\n  Use one of these names: Node/web, VirtualMachine/ns:web\n",
  );
  expect(status).toBe(2);
});
