import fc from "fast-check";
import { expect, it } from "vitest";
import type { Allocation, Snapshot } from "../../../core/allocation.ts";
import { audit } from "../../../core/audit.ts";
import { ownerOfKey } from "../../../core/claim.ts";
import type { Use } from "../../../core/use.ts";
import { historyArb, type Visit, walk } from "../../support/core/history.ts";

/** What nodes would report if each configured exactly what is recorded for it. */
function usesOf(snapshot: Snapshot): Use[] {
  return [...snapshot.allocations, ...snapshot.releasing].map((line, i) => ({
    address: line.address,
    length: line.length,
    owner: ownerOfKey(line.claim),
    interface: line.interface ?? "eth0",
    at: { file: "dump.yaml", line: i + 1, column: 1 },
  }));
}

const everyPlan = (law: (visit: Visit) => void) =>
  fc.assert(
    fc.property(historyArb({ handOver: false }), (history) => walk(history, law)),
    { numRuns: 100 },
  );

it("a fleet that uses what a plan gave it has no finding, unless a pool lost an address that is held", () => {
  everyPlan(({ input: { pools }, after }) => {
    const owners = new Set([...after.allocations].map((line) => ownerOfKey(line.claim)));
    const kinds = audit({ pools, snapshot: after, owners, uses: usesOf(after) }).map((finding) => finding.kind);
    expect(kinds.filter((kind) => kind !== "excluded" && kind !== "out-of-pool")).toEqual([]);
  });
});

it("each line that nothing uses is leaked, each use that is not recorded is a stranger, but for what is reserved for its owner", () => {
  everyPlan(({ input: { pools }, made, after }) => {
    const kindsOf = (snapshot: Snapshot, uses: Use[]) =>
      audit({ pools, snapshot, uses }).map((finding) => `${finding.kind} ${finding.address}`);
    const reserved = new Map(pools.map(({ name, reservations }) => [name, reservations]));
    const isReserved = ({ pool, address, claim }: Allocation) =>
      reserved.get(pool)?.at(address)?.owner === ownerOfKey(claim);
    const given = made.assign.map((line) => line.address);
    const uses = usesOf(after);
    const leaked = kindsOf(
      after,
      uses.filter((use) => !given.includes(use.address)),
    );
    expect(leaked.filter((text) => text.startsWith("leaked"))).toEqual(given.map((at) => `leaked ${at}`));
    const rest = { ...after, allocations: after.allocations.filter((line) => !given.includes(line.address)) };
    expect(kindsOf(rest, uses).filter((text) => text.startsWith("stranger"))).toEqual(
      made.assign.filter((line) => !isReserved(line)).map(({ address }) => `stranger ${address}`),
    );
  });
});
