import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { formatAddress } from "../../core/address.ts";
import { emptySnapshot, type Snapshot } from "../../core/allocation.ts";
import { plan } from "../../core/plan/plan.ts";
import { decode } from "../../state/codec.ts";
import { lockfile } from "../../state/lockfile.ts";
import { claimOf } from "../support/core/text.ts";
import { type Acknowledged, leftovers, startWriter, writerPools } from "../support/state/children.ts";
import { duplicates } from "../support/state/record.ts";

const root = mkdtempSync(join(tmpdir(), "nodeippool-crash-")); // a real disk: most of a commit is waiting for it
afterAll(() => rmSync(root, { recursive: true, force: true }));

// A process that is killed remembers no compiled code, so one ends by itself first.
beforeAll(() => startWriter(newLock("warm").path, "w", "p", "1", "1").ended);

const long = process.env.NODEIPPOOL_LONG !== undefined;
const kills = long ? 5_000 : 60;
const perFolder = 10;

function newLock(name: string): { folder: string; path: string } {
  const folder = join(root, name);
  mkdirSync(folder);
  return { folder, path: join(folder, "nodeippool.lock") };
}

/** The record in the file; a file that is not whole throws. */
function recordIn(path: string): Snapshot {
  try {
    return decode(readFileSync(path, "utf8"), path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return emptySnapshot;
    throw error;
  }
}

/** Acknowledged allocations that the record does not hold. */
function lost(record: Snapshot, acknowledged: Acknowledged): string[] {
  const held = new Map(record.allocations.map((line) => [line.claim, formatAddress(line.address)]));
  return [...acknowledged].filter(([claim, address]) => held.get(claim) !== address).map(([claim]) => claim);
}

/** The next writer, of another set. It may be told once that a writer before it was interrupted, and is finished now. */
function commitOneMore(path: string, node: string): void {
  const backend = lockfile(path);
  const commit = (name: string) => {
    const snapshot = backend.readSync();
    const mine = snapshot.allocations.filter((line) => line.set === "last").map((line) => line.claim);
    const claims = [...mine, `Node/${name}/a`].map(claimOf);
    backend.commitAll([plan({ pools: writerPools, claims, snapshot, set: "last" })]);
  };
  try {
    commit(node);
  } catch (error) {
    expect(error).toMatchObject({ code: "conflict" });
    commit(node);
  }
  commit(`${node}-again`);
}

it(`${kills} writers killed at any moment: the file is whole, nothing that was acknowledged is lost, the next one goes on`, async () => {
  const left = { temps: 0, links: 0 };
  let killed = 0;
  let commits = 0;
  const lane = async (number: number) => {
    while (killed < kills) {
      const { folder, path } = newLock(`${number}-${killed}`);
      const acknowledged = new Map<string, string>();
      for (let round = 0; round < perFolder && killed < kills; round++) {
        // In every second lane two writers share the file.
        const names = number % 2 === 0 ? [`a${round}`] : [`a${round}`, `b${round}`];
        const before = leftovers(folder);
        const writers = names.map((name, i) => startWriter(path, name, i === 0 ? "p" : "q", "10000", "10000"));
        killed += writers.length;
        await Promise.all(writers.map((writer) => writer.started));
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 6));
        for (const writer of writers) writer.kill();
        for (const some of await Promise.all(writers.map((writer) => writer.ended)))
          for (const [claim, address] of some) acknowledged.set(claim, address);

        const record = recordIn(path);
        expect(duplicates(record)).toEqual([]);
        expect(lost(record, acknowledged)).toEqual([]);
        expect(record.allocations.length - acknowledged.size, "commits nobody heard of").toBeLessThanOrEqual(killed);
        const after = leftovers(folder);
        left.temps += Math.max(0, after.temps - before.temps);
        left.links += Math.max(0, after.links - before.links);
      }
      commits += acknowledged.size;
      commitOneMore(path, "last");
      const record = recordIn(path);
      expect(duplicates(record)).toEqual([]);
      expect(lost(record, acknowledged)).toEqual([]);
      expect(record.allocations.filter((line) => line.set === "last")).toHaveLength(2);
      rmSync(folder, { recursive: true });
    }
  };
  await Promise.all([0, 1, 2].map(lane));
  console.log(
    `crash: ${killed} kills among ${commits} commits left ${left.temps} temporary files and ${left.links} links`,
  );
  expect(left.temps, "kills in the middle of a commit").toBeGreaterThan(kills / 20);
}, 300_000);

// Each writer looks at its own lines before each commit, and fails if anything of them is lost or moved.
it("four writers at once on one lock: no commit is lost, none gives an address twice", async () => {
  const { path } = newLock("four");
  const count = long ? 1_000 : 70; // and nearly as many commits that free an address: 528 in all
  const writers = ["p", "p", "q", "q"].map((pool, i) => startWriter(path, `w${i}`, pool, `${count}`, "8"));
  const all = await Promise.all(writers.map((writer) => writer.ended));
  const record = recordIn(path);
  expect(all.map((some) => some.size)).toEqual([count, count, count, count]);
  for (const some of all) expect(lost(record, new Map([...some].slice(-8)))).toEqual([]);
  expect(record.allocations).toHaveLength(4 * 8);
  expect(duplicates(record)).toEqual([]);
}, 300_000);

it("a writer killed before each of its file calls in turn: old record or new one, and what it claimed is finished", async () => {
  const seen: string[] = [];
  for (let call = 1; ; call++) {
    const { folder, path } = newLock(`call-${call}`);
    commitOneMore(path, "first");
    const acknowledged = await startWriter(path, "w", "p", "1", "1", `${call}`).ended;
    if (acknowledged.size > 0) break;
    const isNew = recordIn(path).allocations.length === 3;
    const { links } = leftovers(folder);
    commitOneMore(path, "second");
    const record = recordIn(path);
    expect(duplicates(record)).toEqual([]);
    expect(record.allocations.filter((line) => line.set === "last")).toHaveLength(4);
    const isThere = record.allocations.some((line) => line.set === "w");
    expect(isThere, `killed before call ${call}`).toBe(isNew || links > 0);
    seen.push(isNew ? "new" : links > 0 ? "claimed" : "old");
  }
  expect([...new Set(seen)]).toEqual(["old", "claimed", "new"]);
}, 60_000);
