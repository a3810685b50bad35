import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { mergeLines } from "../../../cli/merged-record.ts";
import { sentence } from "../../../cli/pools/fact.ts";
import { poolText } from "../../../cli/pools/pool-text.ts";
import { viewsOf } from "../../../cli/pools/pools.ts";
import { address } from "../../../core/address.ts";
import type { Allocation } from "../../../core/allocation.ts";
import type { StateBackend } from "../../../state/backend.ts";
import { lineOf, poolOf, recordOf } from "../../support/core/text.ts";
import { cli, folderOf } from "../../support/schema/cli.ts";

const pool = poolOf("s", "10.4.0.0/16", { blockLength: 22, exclude: ["10.4.4.9"], gateway: "10.4.8.1" });
const [view] = viewsOf([pool], recordOf(["10.4.0.0/22 Node/a/x pool=s"], [pool]));
if (view === undefined) throw new Error("no view");

it("show counts blocks, and maps the addresses in them", () => {
  expect(poolText(view).map((line) => line.trim())).toEqual([
    "Pool s  10.4.0.0/16 in blocks of /22 10.4.0.0-10.4.255.255 less 2   62 usable  1 held  61 free",
    "",
    "+0       +8       +16      +24",
    "10.4.0.0   ... 32 rows: 1024 held",
    "10.4.4.0   ... 64 rows: 2048 excluded",
    "10.4.12.0  ... 1952 rows: 62464 free",
    "",
    "# 1024 held   . 62464 free   x 2048 excluded",
    "",
    "ADDRESS      OFFSET  OWNER  CLAIM  NIC",
    "10.4.0.0/22  0       a      x      -",
  ]);
});

it.each([
  ["10.4.1.7", "10.4.1.7 in 10.4.0.0/22: pool s, offset 0, held by a, x"],
  [
    "10.4.4.1",
    "10.4.4.1 in 10.4.4.0/22: pool s, offset 1, in a block that the pool does not have, or excludes, in part",
  ],
  ["10.4.0.0", "10.4.0.0/22: pool s, offset 0, held by a, x"],
  ["10.4.12.3", "10.4.12.3 in 10.4.12.0/22: pool s, offset 3, free"],
])("explain %s tells of its block", (text, said) => {
  expect(sentence(view.at(address(text)))).toBe(said);
});

describe("a recorded block is shown with its prefix", () => {
  const poolText = (spec: string) =>
    `apiVersion: nmstate.io/v1\nkind: NodeIPPool\nmetadata: {name: pods}\nspec: {${spec}, authority: Plan}\n`;
  const project = async (spec: string) => {
    const folder = folderOf({
      "m/pool.yaml": poolText("range: {cidr: 10.64.0.0/16}, blockLength: 24"),
      "nodes.txt": "a\nb\n",
      "have.csv": "a,cni0,10.64.0.1/16\nb,cni0,10.64.1.1/16\n",
    });
    const imported = await cli(["import", "have.csv", "m", "--nodes", "nodes.txt"], folder);
    expect(imported.stdout).not.toContain("passed over");
    writeFileSync(join(folder, "m/pool.yaml"), poolText(spec));
    return folder;
  };

  it("by explain, as release takes it", async () => {
    const folder = await project("range: {cidr: 10.64.0.0/16}, blockLength: 24");
    const { stdout } = await cli(["explain", "b", "--pools", "m"], folder);
    expect(stdout).toBe("10.64.1.0/24: pool pods, offset 1, held by b, imported/10.64.1.0/24, on cni0, set imported\n");
    const json = await cli(["explain", "b", "--pools", "m", "--json"], folder);
    const [{ address }] = JSON.parse(json.stdout).addresses;
    expect(address).toBe("10.64.1.0/24");
    expect(await cli(["release", address, "--confirm"], folder)).toMatchObject({ status: 0 });
  });

  it("by audit, with its line in the lock", async () => {
    const folder = await project("range: {cidr: 10.64.0.0/16, start: 10.64.1.0}, blockLength: 24");
    const { stdout } = await cli(["audit", "have.csv", "m", "--json"], folder);
    expect(JSON.parse(stdout).findings).toEqual([
      expect.objectContaining({
        kind: "out-of-pool",
        address: "10.64.0.0/24",
        at: { file: "nodeippool.lock", line: 6, column: 1 },
      }),
    ]);
  });

  it("by a merge that it is lost in", () => {
    const [lost, kept] = ["10.4.0.0/22 Node/a/x pool=s", "10.4.8.0/22 Node/a/x pool=s"].map(lineOf);
    const loser = { line: lost as Allocation, winner: kept as Allocation, isReleasing: false };
    expect(mergeLines({ name: "lock" } as StateBackend, { merged: true, losers: [loser] })).toEqual([
      "Merged lock.",
      "  ! 10.4.0.0/22  a  lost in the merge: it keeps 10.4.8.0/22",
    ]);
  });
});
