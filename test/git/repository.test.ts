import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { decode, encode } from "../../state/codec.ts";
import { lockfile } from "../../state/lockfile.ts";
import { mergeRecords } from "../../state/merge.ts";
import { resolveLock } from "../../state/resolve.ts";
import { outcome, recordsOf, report } from "../support/git/forks.ts";
import { chain, Repository } from "../support/git/repository.ts";
import type { Side } from "../support/git/rules.ts";
import { type Branch, type Fork, mergedNodes, planFor, randomForks } from "../support/state/branch.ts";
import { duplicates, holders } from "../support/state/record.ts";

// Whole repositories: branches, `git merge`, `git rebase`, the merge driver, and `allocate` on what git left.
const long = process.env.NODEIPPOOL_LONG !== undefined;
const [count, driven] = long ? [300, 30] : [32, 16];
let forks: Fork[];
beforeAll(async () => {
  // Every third: pairs of one base lie side by side.
  forks = (await randomForks(3 * count, 4)).filter((_, i) => i % 3 === 0);
});

const repositories: Repository[] = [];
afterAll(() => {
  for (const repository of repositories) repository.remove();
});
function repositoryOf(some: readonly Fork[], driver: boolean): Repository {
  const repository = new Repository(some, { driver });
  repositories.push(repository);
  return repository;
}

function failing(some: readonly Fork[], what: (fork: Fork, i: number) => readonly string[]): string {
  const cases = some.map((fork, i) => ({ records: recordsOf(fork), what: what(fork, i) }));
  return report(cases.filter((one) => one.what.length > 0));
}

/** `nodeippool allocate --landed` in the middle of a merge or rebase; `allocate` where git left nothing to settle. */
function allocate(repository: Repository, nodes: Branch["nodes"], landed: string): readonly string[] {
  const resolve = (revision?: string) => resolveLock(repository.text, repository.lock, revision);
  const isSettled = outcome(resolve).value?.merged === false;
  const backend = lockfile(repository.lock, { understand: () => resolve(isSettled ? undefined : landed).snapshot });
  const { code } = outcome(() => backend.commitAll([planFor(nodes, backend.readSync())]));
  return code === undefined ? [] : [`allocate --landed ${landed} threw ${code}`];
}

/** Claims that the landed side has live, and the record at another address, where the other side did not move them. */
function moved(landed: Branch, other: Branch, text: string): string[] {
  const [before, elsewhere] = [holders(landed.record), holders(other.record)];
  return [...holders(decode(text, "nodeippool.lock"))].flatMap(([claim, address]) => {
    const was = before.get(claim);
    return was === undefined || was === address || elsewhere.get(claim) === address
      ? []
      : [`${claim} moved from ${was} to ${address}`];
  });
}

describe("git merge", () => {
  it.each([
    { driver: false, tries: count },
    { driver: true, tries: driven },
  ])("and allocate on its conflicts keep what landed (driver: $driver)", ({ driver, tries }) => {
    const some = forks.slice(0, tries);
    const repository = repositoryOf(some, driver);
    let conflicts = 0;
    const broken = failing(some, (fork, i) => {
      const records = recordsOf(fork);
      repository.run(`git reset --quiet --hard && git checkout --quiet --detach ours-${i}`);
      const clean = repository.run(`git merge --quiet --no-edit theirs-${i}`);
      if (!clean) conflicts++;
      const after = outcome(() => resolveLock(repository.text, repository.lock));
      const wrong: string[] = [];
      const merged = outcome(() => mergeRecords(records.base, records.ours, records.theirs));
      const isConflict = merged.code === "conflict";
      if (driver && clean === isConflict) wrong.push(`the driver was ${clean ? "content" : "in conflict"}`);
      if (driver && clean) {
        const expected = merged.value && encode(merged.value.snapshot);
        if (repository.text !== expected) wrong.push("the driver wrote another record");
      }
      if (!clean && (after.code === "conflict") !== isConflict) wrong.push(`without --landed: ${after.code}`);
      const landed: Side = i % 2 === 0 ? "ours" : "theirs";
      wrong.push(...allocate(repository, mergedNodes(fork), `${landed}-${i}`));
      if (wrong.length > 0) return wrong;
      const record = decode(repository.text, "nodeippool.lock");
      const [first, second] = landed === "ours" ? [fork.ours, fork.theirs] : [fork.theirs, fork.ours];
      return [...duplicates(record), ...moved(first, second, repository.text)];
    });
    expect(broken).toBe("none");
    expect(conflicts, "conflicts tried").toBeGreaterThan(tries / 10);
  });
});

describe("git rebase", () => {
  it.each([
    { driver: false, tries: count },
    { driver: true, tries: driven },
  ])("of commit after commit keeps what landed on the new base (driver: $driver)", ({ driver, tries }) => {
    const some = forks.slice(-tries);
    const repository = repositoryOf(some, driver);
    let stops = 0;
    const broken = failing(some, (fork, i) => {
      let done = repository.run(`git reset --quiet --hard; git rebase --quiet ours-${i} theirs-${i}`);
      while (!done) {
        stops++;
        const wrong = allocate(repository, nodesAt(repository, fork), `ours-${i}`);
        if (wrong.length > 0) {
          repository.run("git rebase --abort");
          return wrong;
        }
        done = repository.run("git add . && git rebase --continue");
      }
      const { value, code } = outcome(() => decode(repository.text, "nodeippool.lock"));
      // A text that git made by itself may need `allocate --landed`, and is refused until then.
      if (value === undefined && code === "corrupt") return allocate(repository, mergedNodes(fork), `ours-${i}`);
      if (value === undefined) return [`the result is ${code}`];
      return [...duplicates(value), ...moved(fork.ours, fork.theirs, repository.text)];
    });
    expect(broken).toBe("none");
    expect(stops, "stops tried").toBeGreaterThan(tries / 10);
  });
});

/** What the manifests say where a rebase stopped: each commit up to there merged into the new base. */
function nodesAt(repository: Repository, fork: Fork): Branch["nodes"] {
  const stopped = repository.branchAt("REBASE_HEAD");
  let nodes = fork.ours.nodes;
  for (const commit of chain(fork.base, stopped))
    nodes = mergedNodes({ base: commit.parent as Branch, ours: { nodes }, theirs: commit });
  return nodes;
}
