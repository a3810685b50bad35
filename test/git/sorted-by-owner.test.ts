import { expect, it } from "vitest";
import type { Snapshot } from "../../core/allocation.ts";
import { recordsOf, textsOf } from "../support/git/forks.ts";
import { mergeTexts } from "../support/git/merge.ts";
import { randomForks } from "../support/state/branch.ts";
import { recordTexts } from "../support/state/record.ts";

// Why the lock is sorted by address, and proof that this experiment can find a duplicate.

/** Lines `10.0.0.1 Node/n/a if=eth0`, in the order of a key. */
const sortedBy = (key: (line: string) => string) => (record: Snapshot) =>
  `${recordTexts(record)
    .sort((a, b) => (key(a) < key(b) ? -1 : 1))
    .join("\n")}\n`;

const addressOf = (line: string) => `${line.split(" ")[0]} ${/pool=\w+/.exec(line)?.[0] ?? ""}`;
const ownerOf = (line: string) => line.split(" ").slice(1).join(" ");

/** Clean merges, and how many of them give one address to two lines. */
function silentDuplicates(write: (record: Snapshot) => string, forks: Awaited<ReturnType<typeof randomForks>>) {
  const clean = mergeTexts(forks.map((fork) => textsOf(recordsOf(fork), write))).filter((merged) => merged.clean);
  const twice = clean.filter(({ text }) => {
    const addresses = text.split("\n").filter(Boolean).map(addressOf);
    return new Set(addresses).size < addresses.length;
  });
  return { clean: clean.length, duplicates: twice.length };
}

it("lines sorted by owner would merge cleanly into duplicates; the same branches sorted by address never do", async () => {
  const forks = await randomForks(1_000, 20_250_101);
  const byOwner = silentDuplicates(sortedBy(ownerOf), forks);
  const byAddress = silentDuplicates(sortedBy(addressOf), forks);
  console.log(`git: sorted by owner ${byOwner.duplicates} of ${byOwner.clean} clean merges hold a duplicate`);
  expect(byOwner.duplicates).toBeGreaterThan(10);
  expect(byAddress.clean).toBeGreaterThan(10);
  expect(byAddress.duplicates).toBe(0);
});
