import { type Allocation, formatBlock, ownerName, ownerOfKey } from "../core/index.ts";

/** Something to say about an object: an Event to be. */
export interface Said {
  /** The key of the object. */
  readonly about: string;
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
}

/** Finds the objects, by their keys, that addresses are about: an owner, what defines a pool, and what asked for a claim. */
export interface Finder {
  keyOfOwner(owner: string): string | undefined;
  keyOfPool(pool: string): string | undefined;
  sourceOf(claim: string): string | undefined;
}

/** So many addresses are named one by one. */
const maxNamed = 10;

/**
 * What is said of addresses that were allocated, were adopted (their owners had them already), or are free again. A fleet of nodes must not make a fleet of Events.
 *
 *  addresses | on their owners (nodes) | on their pools, and on what asked for them (policies)
 *  ----------+-------------------------+------------------------------------------------------
 *  none      |                         |
 *  up to few | each its own            | one Event: each owner with its address
 *  more      |                         | one Event: how many, the first and the last
 *
 * An object that is several of these, such as a claim, which asks for itself, is told once.
 */
export function eventsOf(
  reason: "Allocated" | "Adopted" | "Released",
  lines: readonly Allocation[],
  finder: Finder,
): Said[] {
  const sourceOf = (claim: string) => finder.sourceOf(claim);
  const said = (about: string, message: string): Said => ({ about, type: "Normal", reason, message });
  const grouped = (by: (line: Allocation) => string, some = lines) => [...Map.groupBy(some, by)];
  const keyOfOwner = ({ claim }: Allocation) => finder.keyOfOwner(ownerOfKey(claim)) ?? "";
  const owners = lines.length > maxNamed ? [] : lines.filter((line) => keyOfOwner(line) !== sourceOf(line.claim));
  const forWhom = ({ claim }: Allocation) => ` for ${sourceOf(claim)?.replace(/^[^/]*\//, "")}`;
  return [
    ...grouped(keyOfOwner, owners).map(([owner, own]) =>
      said(owner, own.map((line) => `${formatBlock(line)} of ${line.pool}${forWhom(line)}`).join(", ")),
    ),
    ...grouped(
      ({ pool }) => pool,
      lines.filter(({ pool, claim }) => finder.keyOfPool(pool) !== sourceOf(claim)),
    ).map(([pool, own]) => said(finder.keyOfPool(pool) ?? "", listed(own, forWhom))),
    ...grouped(({ claim }) => sourceOf(claim) ?? "").map(([source, own]) =>
      said(
        source,
        listed(own, ({ pool }) => ` of ${pool}`),
      ),
    ),
  ];
}

/** `node01 10.0.0.1 of p, node02 10.0.0.2 of p`, or `5000: node0001 10.0.0.1 of p to node5000 10.0.19.136 of p`. */
function listed(lines: readonly Allocation[], more: (line: Allocation) => string): string {
  const text = (line: Allocation) => `${ownerName(line.claim)} ${formatBlock(line)}${more(line)}`;
  const [first, last] = [lines[0] as Allocation, lines.at(-1) as Allocation];
  return lines.length > maxNamed ? `${lines.length}: ${text(first)} to ${text(last)}` : lines.map(text).join(", ");
}

/**
 * What is said of an object with which something is wrong.
 *
 *  what is wrong                                                        | the reason of the Event
 *  ---------------------------------------------------------------------+-------------------------
 *  InvalidSpec, InvalidReset                                            | Invalid
 *  IPCollision                                                          | Collision
 *  ExhaustedIPPool, OverlappingIPPool, UnsynchronizedIPPool, Refused,    | the same
 *   Freed, IPConflict, GatewayUnreachable, ChangedBack, RecordLost,       |
 *   Moved, ResetKept, StillReleasing, InvalidMetadata                    |
 *  anything else: it passes (Terminating, ReconcilingPool)              | none
 */
export function eventOfProblem(about: string, problem: string, message: string): Said[] {
  const reason = reasons[problem];
  return reason === undefined ? [] : [{ about, type: "Warning", reason, message }];
}

const reasons: Readonly<Record<string, string>> = {
  InvalidSpec: "Invalid",
  IPCollision: "Collision",
  ExhaustedIPPool: "ExhaustedIPPool",
  OverlappingIPPool: "OverlappingIPPool",
  UnsynchronizedIPPool: "UnsynchronizedIPPool",
  Refused: "Refused",
  Freed: "Freed",
  RecordLost: "RecordLost",
  IPConflict: "IPConflict",
  GatewayUnreachable: "GatewayUnreachable",
  InvalidReset: "Invalid",
  InvalidMetadata: "InvalidMetadata",
  Moved: "Moved",
  ChangedBack: "ChangedBack",
  ResetKept: "ResetKept",
  StillReleasing: "StillReleasing",
};

/** The Event that was last written for an object and a reason. */
export interface Written {
  readonly message: string;
  /** When, in milliseconds of the controller's clock. */
  readonly at: number;
}

/** What is still so is said again after so long, in milliseconds; a server keeps Events for an hour. */
const repeat = 30 * 60_000;

/**
 * What is to be done about an Event.
 *
 *  it tells of   | written last, for that object and reason | to do
 *  --------------+------------------------------------------+----------------------------------
 *  addresses     | any                                      | create: each change is a fact
 *  a problem     | none                                     | create
 *  a problem     | the same message, less than repeat ago   | nothing
 *  a problem     | the same message, longer ago             | count: once more, at this time
 *  a problem     | another message                          | count, with the new message
 */
export function eventWrite(
  { type, message }: Said,
  last: Written | undefined,
  now: number,
): "create" | "count" | "none" {
  if (type === "Normal" || last === undefined) return "create";
  return last.message === message && now - last.at < repeat ? "none" : "count";
}
