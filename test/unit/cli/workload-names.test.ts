import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Bag } from "../../../schema/objects.ts";
import { done, refused } from "../../support/cli/outcome.ts";
import { macvlanNetwork } from "../../support/objects/vm-objects.ts";
import { workload } from "../../support/objects/workload-objects.ts";
import { cli, folderOf, lockText } from "../../support/schema/cli.ts";
import { poolText } from "../../support/schema/text.ts";

// What pods of one workload have is never another one's, nor another pod's: whatever is renamed.
const textOf = (...objects: readonly Bag[]) =>
  [
    poolText("  range: {cidr: 10.0.0.0/26}"),
    ...[macvlanNetwork("red", "p"), ...objects].map((one) => JSON.stringify(one)),
  ].join("\n---\n");
const set = (name: string, replicas: number, networks = "red") => workload("StatefulSet", name, { replicas }, networks);
const lockIn = (folder: string) => readFileSync(join(folder, "nodeippool.lock"), "utf8");
const claimsIn = (folder: string) =>
  [...lockIn(folder).matchAll(/"address":"([^"]*)".*?"claim":"StatefulSet\/default:([^"]*)"(.*)/g)].map(
    ([, address, claim, rest]) => `${address} ${claim}${rest?.includes("releasing") ? " releasing" : ""}`,
  );

async function planned(...objects: Bag[]): Promise<{ folder: string; change: (...others: Bag[]) => void }> {
  const folder = folderOf({ "m/all.yaml": textOf(...objects) });
  await done(folder, "allocate", "m");
  return { folder, change: (...others) => writeFileSync(join(folder, "m/all.yaml"), textOf(...others)) };
}

describe("a NIC of pods that has another name", () => {
  it("is renamed for its own workload alone, by the command that the refusal says", async () => {
    const { folder, change } = await planned(set("db", 2), set("kv", 1));
    change(set("db", 2, "red@eth5"), set("kv", 1));
    const stderr = await refused(folder, "allocate", "m");
    const commands = [...stderr.matchAll(/allow the move: nodeippool (mv \S+ \S+), or/g)].map(
      ([, words = ""]) => words,
    );
    const full = (index: number) => `mv StatefulSet/default:db/${index}/net1 StatefulSet/default:db/${index}/eth5`;
    expect(commands).toEqual([full(0), full(1)]);
    for (const command of commands) await done(folder, ...command.split(" "));
    expect(await done(folder, "allocate", "m")).toContain("Plan: 0 to allocate, 3 kept, 0 to release.");
    expect(claimsIn(folder)).toEqual(["10.0.0.1 db/0/eth5", "10.0.0.2 db/1/eth5", "10.0.0.3 kv/0/net1"]);
  });

  it("is neither renamed nor released by a short name that several workloads have", async () => {
    const { folder, change } = await planned(set("db", 1), set("kv", 1));
    change(set("db", 0), set("kv", 0));
    await done(folder, "allocate", "m", "--confirm");
    const before = lockIn(folder);
    for (const words of [
      ["mv", "0/net1", "0/eth5"],
      ["mv", "0", "1"],
      ["release", "0/net1", "--confirm"],
    ])
      expect(await refused(folder, ...words)).toBe(
        `invalid: ${words[1]} names more than one thing\n  Use one of these names: StatefulSet/default:db/0/net1, StatefulSet/default:kv/0/net1\n`,
      );
    expect(lockIn(folder)).toBe(before);
  });

  it("is not renamed by that of a policy of nodes, either; what all nodes have of a policy is one thing", async () => {
    const nodes = ["10.0.0.4 Node/n1/lan/p", "10.0.0.5 Node/n2/lan/p"];
    const folder = folderOf({ "nodeippool.lock": lockText(...nodes, "10.0.0.6 StatefulSet/default:db/lan/p") });
    const { status, stderr } = await cli(["mv", "lan/p", "wan/p"], folder);
    expect([status, stderr]).toEqual([
      2,
      expect.stringContaining("Use one of these names: Node/n2/lan/p, StatefulSet/default:db/lan/p\n"),
    ]);
  });
});

it("a workload of another claim set comes over as a whole, by the command that the refusal says", async () => {
  const { folder } = await planned(set("db", 2), set("kv", 1));
  const stderr = await refused(folder, "allocate", "m", "--set", "edge");
  const commands = new Set(
    [...stderr.matchAll(/came from there: nodeippool (mv \S+ --to-set edge)/g)].map(([, one = ""]) => one),
  );
  expect([...commands]).toEqual(["mv StatefulSet/default:db --to-set edge", "mv StatefulSet/default:kv --to-set edge"]);
  for (const command of commands) await done(folder, ...command.split(" "));
  expect(await done(folder, "allocate", "m", "--set", "edge")).toContain("Plan: 0 to allocate, 3 kept, 0 to release.");
});

it("a new NIC, and fewer pods in the same commit: no pod gets what another one may still have", async () => {
  const { folder, change } = await planned(set("db", 3));
  change(set("db", 2, "red, red@eth6"));
  const stdout = await done(folder, "allocate", "m");
  expect(stdout).toContain("Plan: 2 to allocate, 2 kept, 1 to release.");
  expect(claimsIn(folder)).toEqual([
    "10.0.0.1 db/0/net1",
    "10.0.0.2 db/1/net1",
    "10.0.0.4 db/0/eth6",
    "10.0.0.5 db/1/eth6",
    "10.0.0.3 db/2/net1 releasing",
  ]);
});
