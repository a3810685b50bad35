import { type Allocation, formatBlock, type Issue, isOfOtherSet } from "../../core/index.ts";
import type { Holdings } from "../integration.ts";
import type { ReadObject } from "../read-each.ts";
import { hostOfClaim, type Infra, objectName, titleOfHost, unitPath } from "./infra.ts";

/**
 * Hosts whose objects a file of another claim set renders, too: whichever is applied last would win. One issue for each set. A host
 * that is releasing there is written there no more.
 */
export function hostsInTwoSets(model: readonly ReadObject<Infra>[], { snapshot, set }: Holdings): Issue[] {
  const theirs = new Map<string, Allocation>();
  for (const line of snapshot.allocations) {
    const other = isOfOtherSet(line, set) ? hostOfClaim(line.claim) : undefined;
    if (other !== undefined) theirs.set(objectName(other.unit, other.host), line);
  }
  if (theirs.size === 0) return [];
  const shared = model.flatMap(({ value: { units }, source }) =>
    units.flatMap(({ name: unit, hosts }) =>
      hosts.flatMap(({ name: host }) => {
        const line = theirs.get(objectName(unit, host));
        return line === undefined ? [] : [{ unit, host, line, source }];
      }),
    ),
  );
  return [...Map.groupBy(shared, ({ line }) => line.set)].flatMap(([other, [first, ...more]]) => {
    if (first === undefined) return [];
    const { unit, host, line, source } = first;
    const others = more.length === 0 ? "" : `, and so are ${more.length} more`;
    const message = `${titleOfHost(unit, host)} is in a file of claim set ${other}, too (${formatBlock(line)} of ${line.pool})${others}: both would render ${objectName(unit, host)}`;
    const at = source.at([...unitPath(unit), "macMapping", host], host, "key");
    return [{ message, at, hint: "Give the unit or the host another name in one of the files." }];
  });
}
