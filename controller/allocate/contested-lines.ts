import {
  type Allocation,
  blocksOverlap,
  byAddress,
  clusterSet,
  nameOfKey,
  ownerOfKey,
  parseOwner,
  type Snapshot,
} from "../../core/index.ts";
import type { LinesByOwner } from "../record/lines-by-owner.ts";
import { keyOfLine } from "../record/release-hold.ts";
import type { Observations } from "./observations.ts";
import type { Observation, Occupied } from "./occupied.ts";
import type { OwnerState } from "./owner-state.ts";

/** An address that one owner has, and the line by which it is on record for another owner, which is losing it. */
export interface ContestedLine {
  readonly use: Observation;
  readonly line: Allocation;
}

/** What the cluster says about owners and their lines. */
export interface LineEvidence {
  /** Reports whether the object of an owner is gone. */
  readonly isGone: (owner: string) => boolean;
  /** Reports whether nobody knows who asks for a line: its part of the record, or a kind, cannot be read. */
  readonly isUnknown: (line: Allocation) => boolean;
  /** Whether a live line stays although no claim asks for it. */
  readonly ownerState: Pick<OwnerState, "isHeld" | "isRetained">;
  /** What the reports of owners show. */
  readonly shown: Pick<Observations, "of">;
}

/**
 * Returns the contested addresses, by pool. An older backup of the record brings lines back whose addresses other owners got since.
 *
 *  the line's owner | the line       | the other owner, which has no | the line
 *                   |                |  live line of the pool, is    |
 *  -----------------+----------------+-------------------------------+----------------------
 *  gone             | live, retained | given the address             | is contested
 *  any              | live, and held | any other                     | stays its owner's
 *  gone             | any other      | given the address             | is contested
 *  gone             | any other      | of its kind, and shows it     | is contested
 *  there            | live           | any                           | stays its owner's
 *  there            | releasing      | given the address             | is contested
 *  there, does not  | releasing      | of its kind, and shows it     | is contested
 *   show it         |                |                               |
 *  any              | any            | any other                     | stays its owner's
 *
 * What a node shows does not contest the line of a host or an IPAddressClaim: the node may be its machine.
 * A contested line does not go back to its owner. A claim of the other owner waits until the line is free, and adopts the address.
 */
export function contestedIn(
  { ofOthers }: Occupied,
  lines: LinesByOwner,
  { isGone, isUnknown, ownerState, shown }: LineEvidence,
): ReadonlyMap<string, readonly ContestedLine[]> {
  const isLosing = (line: Allocation, use: Observation) => {
    const owner = ownerOfKey(line.claim);
    const isLive = lines.of(owner).allocations.includes(line);
    const isHeld = ownerState.isHeld(line) && !(use.isGiven === true && ownerState.isRetained(line));
    const mayLose = isGone(owner) && !isUnknown(line) && !isHeld;
    if (line.set !== clusterSet || (isLive && !mayLose)) return false;
    const shows = (one: Observation) => one.address === line.address && !one.isTemporary;
    const isStillShown = !isGone(owner) && shown.of(owner).some(shows);
    return use.isGiven === true || (kindOf(use.owner) === kindOf(owner) && !isStillShown);
  };
  const isWithoutLine = ({ owner = "" }: Observation, pool: string) =>
    !isGone(owner) && !lines.of(owner).allocations.some((line) => line.pool === pool);
  return new Map(
    [...ofOthers].map(([pool, found]) => {
      const contested = found.filter(({ use, line }) => isWithoutLine(use, pool) && isLosing(line, use));
      return [pool, contested];
    }),
  );
}

/**
 * Returns the record with each contested line as that of the owner that has its address: objects of many owners list it until it is
 * adopted. A block that the owner has may be longer or shorter than the line; one that overlaps what others have stays as recorded.
 */
export function asHad(record: Snapshot, contested: Iterable<ContestedLine>): Snapshot {
  const had = new Map([...contested].map(({ use, line }) => [keyOfLine(line), hadBy(use, line)]));
  if (had.size === 0) return record;
  const isLeft = (line: Allocation) => !had.has(keyOfLine(line));
  const left = [...record.allocations, ...record.releasing].filter(isLeft);
  const free = [...had].filter(([, line]) => !left.some((one) => one.pool === line.pool && blocksOverlap(one, line)));
  const lost = new Set(free.map(([key]) => key));
  const stays = (line: Allocation) => !lost.has(keyOfLine(line));
  const allocations = [...record.allocations.filter(stays), ...free.map(([, line]) => line)].sort(byAddress);
  return { ...record, allocations, releasing: record.releasing.filter(stays) };
}

function hadBy({ owner = "", address, length }: Observation, line: Allocation): Allocation {
  return { ...line, address, length: length ?? line.length, claim: `${owner}/${nameOfKey(line.claim)}` };
}

function kindOf(owner = ""): string | undefined {
  return parseOwner(owner).value?.kind;
}
