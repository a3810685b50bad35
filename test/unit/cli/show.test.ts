import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { poolText } from "../../../cli/pools/pool-text.ts";
import { type PoolView, viewsOf } from "../../../cli/pools/pools.ts";
import { showVerb } from "../../../cli/show.ts";
import type { Pool } from "../../../core/pool.ts";
import { encode } from "../../../state/codec.ts";
import { printed } from "../../support/cli/printed.ts";
import { poolOf, recordOf } from "../../support/core/text.ts";
import { cli } from "../../support/schema/cli.ts";

const storage = poolOf("storage", "192.168.40.0/24 192.168.40.10 192.168.40.79", {
  exclude: ["192.168.40.48/28"],
  gateway: "192.168.40.20",
  network: "storage",
  clusterRange: { start: "192.168.40.68", end: "192.168.40.79" },
  reservations: [{ address: "192.168.40.11", owner: "Node/node05" }],
});
const storageLines = [
  "192.168.40.12 Node/node01/static-ip/data pool=storage if=eth1",
  "192.168.40.13 VirtualMachine/ns:vm1/net0 pool=storage",
  "192.168.40.14 Node/node02/static-ip/data pool=storage if=eth1 releasing",
  "192.168.40.50 Node/node03/static-ip/data pool=storage if=eth1",
  "192.168.40.90 Node/node04/static-ip/data pool=storage if=eth1",
];

function textOf(pool: Pool, lines: readonly string[]): string[] {
  const view = viewsOf([pool], recordOf(lines, [pool]))[0] as PoolView;
  return poolText(view).map(stripVTControlCharacters);
}

describe("poolText", () => {
  it("draws a pool and lists who holds what", () => {
    expect(textOf(storage, storageLines)).toEqual([
      "Pool storage  192.168.40.0/24 .10-.79 less 29   network storage  41 usable  4 held  1 releasing  1 reserved  37 free",
      "",
      "                 +0       +8       +16      +24",
      "  192.168.40.0              .r##~. ....x... ........",
      "  192.168.40.32  ........ ........ xx#xxxxx xxxxxxxx",
      "  192.168.40.64  ....cccc cccccccc            #",
      "",
      "  # 4 held   ~ 1 releasing   . 37 free   r 1 reserved   c 12 controller only   x 16 excluded",
      "",
      "  ADDRESS        OFFSET  OWNER                  CLAIM           NIC",
      "  192.168.40.12  2       node01                 static-ip/data  eth1",
      "  192.168.40.13  3       VirtualMachine/ns:vm1  net0            -",
      "  192.168.40.14  4       node02                 static-ip/data  eth1  (releasing)",
      "  192.168.40.50  40      node03                 static-ip/data  eth1  (excluded)",
      "  192.168.40.90  -       node04                 static-ip/data  eth1  (outside its range)",
    ]);
  });

  it("names the interface of each pod, and the pod, where its name is known", () => {
    const lines = [
      "192.168.40.12 StatefulSet/prod:db/0/net1 pool=storage if=0/net1",
      "192.168.40.13 StatefulSet/prod:db/11/net1 pool=storage if=11/net1 releasing",
      "192.168.40.14 Deployment/prod:web/2/net1 pool=storage if=2/net1",
      "192.168.40.50 Pod/prod:solo/0/eth0 pool=storage",
    ];
    expect(textOf(storage, lines).slice(-4)).toEqual([
      "  192.168.40.12  2       StatefulSet/prod:db  0/net1   net1  (pod db-0)",
      "  192.168.40.13  3       StatefulSet/prod:db  11/net1  net1  (pod db-11)  (releasing)",
      "  192.168.40.14  4       Deployment/prod:web  2/net1   net1",
      "  192.168.40.50  40      Pod/prod:solo        0/eth0   eth0  (excluded)",
    ]);
  });

  it.each([
    {
      range: "10.0.0.0/8",
      line: "10.77.3.4 Node/a/x/y",
      want: [
        "Pool p  10.0.0.0/8 10.0.0.1-10.255.255.254   16646144 usable  1 held  16646143 free",
        "",
        "                  +0       +8       +16      +24",
        "  10.0.0.0         ....... ........ ........ ........",
        "  10.0.0.32       ... 157719 rows: 5007579 free",
        "  10.77.3.0       -...#... ........ ........ ........",
        "  10.77.3.32      ... 366566 rows: 11638472 free",
        "  10.255.255.224  ........ ........ ........ .......",
        "",
        "  # 1 held   . 16646143 free   - 131070 on request",
      ],
    },
    {
      range: "2001:db8::/32",
      line: "2001:db8:0:5::9 Node/a/x/y",
      want: [
        "Pool p  2001:db8::/32   7.9e28 usable  1 held  7.9e28 free",
        "",
        "                    +0       +8       +16      +24",
        "  2001:db8::         ....... ........ ........ ........",
        "  2001:db8::20      ... 2.9e18 rows: 9.2e19 free",
        "  2001:db8:0:5::    ........ .#...... ........ ........",
        "  2001:db8:0:5::20  ... 2.5e27 rows: 7.9e28 free",
        "",
        "  # 1 held   . 7.9e28 free",
      ],
    },
  ])("folds what is empty in $range", ({ range, line, want }) => {
    expect(textOf(poolOf("p", range), [line]).slice(0, want.length)).toEqual(want);
  });

  it("does not claim to know what is free in a pool of the controller", () => {
    expect(textOf(poolOf("p", "10.0.0.0/29", { authority: "Cluster" }), [])).toEqual([
      "Pool p  10.0.0.0/29 .1-.6   only the controller allocates from it  0 held",
      "",
      "            +0       +8       +16      +24",
      "  10.0.0.0   cccccc",
      "",
      "  c 6 controller only",
    ]);
  });

  it("lists a hundred holders and says how many there are more", () => {
    const lines = Array.from({ length: 102 }, (_, i) => `10.0.0.${i + 1} Node/n${i}/x/y`);
    const text = textOf(poolOf("p", "10.0.0.0/24"), lines);
    expect(text.filter((line) => / {2}x\/y {2}/.test(line))).toHaveLength(100);
    expect(text.at(-1)).toBe("  ... 2 more; --json has them all");
    expect(textOf(poolOf("p", "10.0.0.0/24"), lines.slice(0, 100)).at(-1)).toMatch(/^ {2}10\.0\.0\.100 /);
  });

  it("shows names of a hostile record without what moves a cursor", () => {
    const [line] = textOf(poolOf("p", "10.0.0.0/29"), ["10.0.0.1 Node/a/x\u009b2Jy if=\u009dz\u202e"]).slice(-1);
    expect(line).toBe("  10.0.0.1  0       a      x\uFFFD2Jy  \uFFFDz\uFFFD");
  });

  it("draws no more rows than anybody looks at", () => {
    const lines = Array.from({ length: 200 }, (_, i) => `10.${i}.0.7 Node/n${i}/x/y`);
    const text = textOf(poolOf("p", "10.0.0.0/8"), lines);
    expect(text).toContainEqual(expect.stringMatching(/^ +\.\.\. 273 more lines$/));
  });
});

describe("nodeippool show", () => {
  let folder = "";
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "nodeippool-show-"));
    const lines = [
      "10.0.0.2 Node/a/x/y pool=one if=eth1",
      "10.0.0.3 Node/b/x/y pool=one releasing",
      "10.9.0.7 Node/a/x/z pool=old",
    ];
    const pools = [poolOf("one", "10.0.0.0/29"), poolOf("old", "10.9.0.0/24")];
    writeFileSync(join(folder, "nodeippool.lock"), encode(recordOf(lines, pools)));
    writeFileSync(
      join(folder, "pools.yaml"),
      `---
{apiVersion: nmstate.io/v1, kind: NodeIPPool, metadata: {name: one}, spec: {range: {cidr: 10.0.0.0/29}, gateway: 10.0.0.1}}
---
{apiVersion: nmstate.io/v1, kind: NodeIPPool, metadata: {name: two}, spec: {range: {cidr: "2001:db8::/64"}}}
`,
    );
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const show = (name?: string, more: { json?: boolean; svg?: string } = {}) =>
    printed(() => showVerb(name, { pools: folder, lock: join(folder, "nodeippool.lock"), ...more }));

  it("shows all pools, also those that are only recorded", async () => {
    const heads = (await show()).split("\n").filter((line) => line.startsWith("Pool"));
    expect(heads).toEqual([
      "Pool one  10.0.0.0/29 .1-.6 less 1   5 usable  1 held  1 releasing  3 free",
      "Pool two  2001:db8::/64   1.8e19 usable  0 held  1.8e19 free",
      "Pool old  10.9.0.0/24   not defined here  1 held",
    ]);
  });

  it("shows one pool", async () => {
    expect(await cli(["show", "old"], folder)).toEqual({
      stdout: [
        "Pool old  10.9.0.0/24   not defined here  1 held",
        "",
        "  ADDRESS   OFFSET  OWNER  CLAIM  NIC",
        "  10.9.0.7  -       a      x/z    -",
        "",
      ].join("\n"),
      stderr: "",
      status: 0,
    });
  });

  it("refuses a pool that is not there, with exit status 2", async () => {
    expect(await cli(["show", "on"], folder)).toEqual({
      stdout: "",
      stderr: 'invalid: there is no pool "on"; did you mean one?\n',
      status: 2,
    });
  });

  it("prints JSON: all lines, counts that a number would round as text", async () => {
    const line = { pool: "one", set: "default" };
    expect(JSON.parse(await show(undefined, { json: true }))).toEqual({
      pools: [
        {
          pool: "one",
          cidr: "10.0.0.0/29",
          network: "default",
          defined: true,
          authority: "Plan",
          start: "10.0.0.1",
          gateway: "10.0.0.1",
          ranges: [{ first: "10.0.0.1", last: "10.0.0.6" }],
          usable: 5,
          free: 3,
          reserved: 0,
          excluded: 1,
          onRequest: 0,
          controllerOnly: 0,
          held: 1,
          releasing: 1,
          allocations: [
            { ...line, address: "10.0.0.2", claim: "Node/a/x/y", interface: "eth1", offset: 1, state: "held" },
            { ...line, address: "10.0.0.3", claim: "Node/b/x/y", offset: 2, state: "releasing" },
          ],
        },
        {
          pool: "two",
          cidr: "2001:db8::/64",
          network: "default",
          defined: true,
          authority: "Plan",
          start: "2001:db8::1",
          ranges: [{ first: "2001:db8::1", last: "2001:db8::ffff:ffff:ffff:ffff" }],
          usable: "18446744073709551615",
          free: "18446744073709551615",
          reserved: 0,
          excluded: 0,
          onRequest: 0,
          controllerOnly: 0,
          held: 0,
          releasing: 0,
          allocations: [],
        },
        {
          pool: "old",
          cidr: "10.9.0.0/24",
          network: "default",
          defined: false,
          held: 1,
          releasing: 0,
          allocations: [{ address: "10.9.0.7", pool: "old", claim: "Node/a/x/z", set: "default", state: "held" }],
        },
      ],
    });
  });

  it("draws into a file, or to standard output", async () => {
    const file = join(folder, "one.svg");
    expect(await show("one", { svg: file })).toBe(`Drawn in ${file}.\n`);
    const text = readFileSync(file, "utf8");
    expect(text).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" /);
    expect(await show("one", { svg: "-" })).toBe(text);
  });

  it.each([
    { more: { svg: "x.svg", json: true }, code: "invalid", why: "--svg and --json exclude each other" },
    { more: { svg: "/nowhere/x.svg" }, code: "unavailable", why: "/nowhere/x.svg cannot be written" },
  ])("refuses $more", async ({ more, code, why }) => {
    await expect(show("one", more)).rejects.toThrow(
      expect.objectContaining({
        code: code,
        message: expect.stringContaining(why),
      }),
    );
  });
});
