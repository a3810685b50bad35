import { beforeAll, expect, it } from "vitest";
import { droppedLines } from "../../cli/dropped-lines.ts";
import { givenAway } from "../../cli/given-away.ts";
import { lostLines } from "../../cli/lost-lines.ts";
import { formatAddress } from "../../core/address.ts";
import { type Allocation, identityOf, placeOf, type Snapshot } from "../../core/allocation.ts";
import { ownerOfKey } from "../../core/claim.ts";
import { applyPlan } from "../../state/apply.ts";
import { decode } from "../../state/codec.ts";
import type { LockStep } from "../../state/lock-history.ts";
import { mergeRecords } from "../../state/merge.ts";
import { outcome, recordsOf, report, textsOf } from "../support/git/forks.ts";
import { mergeTexts } from "../support/git/merge.ts";
import { type Branch, type Fork, isClaimedBy, mergedNodes, planFor, randomForks } from "../support/state/branch.ts";

// Random branches, merged by the tool or by a strategy option: only the latter gives addresses away, and never unseen.
const count = process.env.NODEIPPOOL_LONG === undefined ? 1_000 : 20_000;
let forks: Fork[];
/** What the lock of each is after `git merge -X theirs`; undefined where that is no lock. */
let taken: (Snapshot | undefined)[];
beforeAll(async () => {
  forks = await randomForks(count, 20_250_102);
  taken = mergeTexts(forks.map((fork) => textsOf(recordsOf(fork)))).map(({ text }) => {
    const theirs = text.replace(/<{7}[^\n]*\n[\s\S]*?={7}\n([\s\S]*?)>{7}[^\n]*\n/g, "$1");
    return outcome(() => decode(theirs, "nodeippool.lock")).value;
  });
});

const failing = (what: (fork: Fork, i: number) => readonly string[]) =>
  report(
    forks.map((fork, i) => ({ records: recordsOf(fork), what: what(fork, i) })).filter(({ what }) => what.length > 0),
  );

/** The side that had landed, and what a merge made of it. */
const stepOf = ({ base, ours, theirs }: Fork, record: Snapshot): LockStep => ({
  kind: "merge",
  revision: "m^1",
  before: ours.record,
  commit: "m",
  after: record,
  base: base.record,
  others: [theirs.record],
  hadLanded: true,
});

/** What a commit that is no merge made of one version. */
const commitOf = (commit: string, before: Snapshot, after: Snapshot) =>
  ({ kind: "commit", commit, revision: `${commit}^`, before, after }) as const;

const described = (line: Allocation) => `${line.claim} had ${line.pool} ${formatAddress(line.address)}`;

it("what the tool settles, and every step of a branch, gives no address away", () => {
  expect(
    failing((fork) => {
      const { base, ours, theirs } = recordsOf(fork);
      const merged = outcome(() => mergeRecords(base, ours, theirs, ours, "ours")).value?.snapshot ?? ours;
      const plan = outcome(() => planFor(mergedNodes(fork), merged)).value;
      const settled = (plan && applyPlan(merged, plan)) ?? merged;
      const steps = (branch: Branch): string[] =>
        branch.parent === undefined || branch === fork.base
          ? []
          : [
              ...givenAway(branch.record, [{ kind: "edit", revision: "HEAD", before: branch.parent.record }]).map(
                ({ line }) => `in a step, ${described(line)}`,
              ),
              ...steps(branch.parent),
            ];
      return [
        ...givenAway(settled, [stepOf(fork, settled)]).map(({ line }) => described(line)),
        ...steps(fork.ours),
        ...steps(fork.theirs),
      ];
    }),
  ).toBe("none");
});

it("git merge -X theirs takes an address from its owner only where plan or audit says so", () => {
  let count = 0;
  const silent = failing((fork, i) => {
    const record = taken[i];
    const lines = record === undefined ? [] : takenFrom(fork, record);
    if (record === undefined || lines.length === 0) return [];
    count++;
    // The node list may have been merged by hand, or by the same option.
    return [fork.theirs.nodes, mergedNodes(fork)].flatMap((nodes) => {
      const plan = outcome(() => planFor(nodes, record)).value;
      if (plan === undefined || plan.pending.length > 0) return [];
      const seen = [
        ...givenAway(applyPlan(record, plan) ?? record, [stepOf(fork, record)]),
        ...lostLines(plan, record, fork.ours.record),
      ].map(({ line }) => `${placeOf(line)} ${line.claim}`);
      return lines.filter((line) => !seen.includes(`${placeOf(line)} ${line.claim}`)).map(described);
    });
  });
  expect(silent).toBe("none");
  expect(count, "merges that took an address").toBeGreaterThan(forks.length / 10);
});

// Rebase, squash and cherry-pick end in one commit on our side: `-X theirs` in the lock, or its lock as a whole.
it("a commit with the lock of the other side moves an owner only where plan says so", () => {
  let moved = 0;
  const silent = failing((fork, i) => {
    return [taken[i], fork.theirs.record].flatMap((record) => {
      const nodes = mergedNodes(fork);
      const plan = record && outcome(() => planFor(nodes, record)).value;
      if (record === undefined || plan === undefined || plan.pending.length > 0) return [];
      const steps = [commitOf("c", fork.ours.record, record)];
      const dropped = droppedLines(steps, (line) => isClaimedBy(nodes, line));
      const lost = lostLines(plan, record, { ...record, allocations: dropped.map(({ line }) => line) });
      const seen = new Set(lost.map(({ line }) => identityOf(line)));
      const given = new Map(plan.assign.map((line) => [identityOf(line), line]));
      // What their side released, or has another address for, was decided there.
      const decided = new Set([...record.allocations, ...record.releasing].map(identityOf));
      const unseen = fork.ours.record.allocations.filter((line) => {
        const now = given.get(identityOf(line));
        if (now === undefined || now.address === line.address || decided.has(identityOf(line))) return false;
        moved++;
        return !seen.has(identityOf(line)) && !isOwnersOwn(line, record);
      });
      return unseen.map(described);
    });
  });
  expect(silent).toBe("none");
  expect(moved, "owners that would be moved").toBeGreaterThan(forks.length / 10);
});

/** Has the owner of a line its address, under another name of its claim? */
function isOwnersOwn(line: Allocation, { allocations, releasing }: Snapshot): boolean {
  const holder = [...allocations, ...releasing].find((one) => placeOf(one) === placeOf(line));
  return holder !== undefined && ownerOfKey(holder.claim) === ownerOfKey(line.claim);
}

it("nothing that the tool did on a branch is taken for a dropped line, though nodes are renamed, freed and back", () => {
  expect(
    failing(({ base, ours, theirs }) =>
      [base, ours, theirs].flatMap((tip) => {
        const chain: Branch[] = [];
        for (let at: Branch | undefined = tip; at !== undefined; at = at.parent) chain.push(at);
        const steps = chain.flatMap((branch, i) => {
          const parent = chain[i + 1];
          return parent === undefined ? [] : [commitOf(`${i}`, parent.record, branch.record)];
        });
        const isClaimed = (line: Allocation, commit: string) => isClaimedBy(chain[Number(commit)]?.nodes, line);
        return droppedLines(steps, isClaimed).map(({ line, step }) => `${described(line)}, taken in ${step.commit}`);
      }),
    ),
  ).toBe("none");
});

/** The lines that our side has live, whose address another machine has now, though their side did not take it away. */
function takenFrom({ base, ours, theirs }: Fork, record: Snapshot): Allocation[] {
  const at = (snapshot: Snapshot) => new Map(snapshot.allocations.map((line) => [placeOf(line), line]));
  const [before, there, now] = [at(base.record), at(theirs.record), at(record)];
  const machine = (branch: Branch, line: Allocation) => {
    const name = ownerOfKey(line.claim).replace("Node/", "");
    return branch.nodes.get(name)?.machine ?? name;
  };
  return ours.record.allocations.filter((line) => {
    const holder = now.get(placeOf(line));
    if (holder === undefined || ownerOfKey(holder.claim) === ownerOfKey(line.claim)) return false;
    const was = before.get(placeOf(line));
    const isTheirs =
      was !== undefined && identityOf(was) === identityOf(line) && there.get(placeOf(line))?.claim !== was.claim;
    const other = there.get(placeOf(line));
    return !isTheirs && other !== undefined && machine(ours, line) !== machine(theirs, other);
  });
}
