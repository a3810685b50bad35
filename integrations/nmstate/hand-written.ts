import {
  type Address,
  type Allocation,
  contains,
  formatAddress,
  type Issue,
  importedSet,
  nodeNameOf,
  ownerOfKey,
  type Plan,
  type Pool,
  parseAddress,
  placeOf,
  type Snapshot,
  type Use,
} from "../../core/index.ts";
import { asBag, asList } from "../../schema/objects.ts";
import type { Policy } from "../../schema/policy.ts";
import { hasTemplate } from "../../schema/template.ts";
import { asTruth } from "../../schema/truth.ts";
import type { Speaker } from "./speakers.ts";

/** Who has which addresses once a plan is met, or without one, by the record alone. */
export interface Holdings {
  /** The lines by which the plan gives each address, or lets it be kept: one in each network that has it. */
  readonly planned: ReadonlyMap<Address, readonly Allocation[]>;
  /** What it does not decide: the lines of other sets, and those that are releasing, which somebody may still have. */
  readonly others: ReadonlyMap<Address, readonly Other[]>;
  /** All live lines but those that are only imported: what policies of any set put on NICs. */
  readonly lines: readonly Allocation[];
}

interface Other {
  readonly claim: string;
  readonly why: string;
}

/** Of lines that the plan does not decide, it has those in the networks of its pools: of all networks if it has no pool. */
export function heldAfter(recorded: Snapshot, made?: Plan): Holdings {
  const live = made === undefined ? [] : liveIn(made);
  const ours = new Set(live.map(placeOf));
  const isNear = nearTo(recorded, made);
  const isOther = (line: Allocation) => line.set !== made?.set && !ours.has(placeOf(line)) && isNear(line);
  const foreign = recorded.allocations.filter(isOther);
  const leaving = [
    ...recorded.releasing.filter((line) => !ours.has(placeOf(line)) && isNear(line)),
    ...leavingBy(made),
  ];
  const others = [
    ...foreign.map((line) => ({ line, why: `(set ${line.set})` })),
    ...leaving.map((line) => ({ line, why: "(releasing)" })),
  ];
  return {
    planned: Map.groupBy(live, ({ address }) => address),
    others: grouped(
      others,
      ({ line }) => line.address,
      ({ line, why }) => ({ claim: line.claim, why }),
    ),
    lines: [...live, ...foreign.filter(({ set }) => set !== importedSet)],
  };
}

/** The lines that a plan makes, or lets be. */
function liveIn(made: Plan): Allocation[] {
  return [...made.assign, ...made.keep.filter(({ releasing }) => !releasing).map(({ allocation }) => allocation)];
}

function leavingBy(made: Plan | undefined): Allocation[] {
  return (made?.release ?? []).filter(({ to }) => to === "releasing").map(({ allocation }) => allocation);
}

function nearTo(recorded: Snapshot, made: Plan | undefined): (line: Allocation) => boolean {
  if (made === undefined || made.pools.length === 0) return () => true;
  const networks = new Set(made.pools.map(({ network }) => network));
  const pools = new Set(recorded.pools.filter(({ network }) => networks.has(network)).map(({ name }) => name));
  return ({ pool }) => pools.has(pool);
}

function grouped<T, K, V>(items: readonly T[], keyOf: (item: T) => K, toValue: (item: T) => V): Map<K, V[]> {
  return new Map([...Map.groupBy(items, keyOf)].map(([key, group]) => [key, group.map(toValue)]));
}

/**
 * What these policies write out by hand although the plan gives it to somebody: the record knows nothing of such an
 * address, so nothing but an audit would see that two have it.
 */
export function handWritten(policies: readonly Written[], { planned }: Pick<Holdings, "planned">): Issue[] {
  return policies.flatMap((policy) =>
    literals(policy).flatMap((address) => {
      const lines = planned.get(address);
      return lines === undefined ? [] : handWrittenIssue(address, lines, `policy ${policy.name} writes it out`);
    }),
  );
}

/** What a policy, whoever made it, writes out of a pool for several nodes at once: they would all have it. */
export function writtenForMany(speakers: readonly Speaker[], pools: readonly Pool[]): Issue[] {
  return speakers.flatMap((speaker) => {
    const { name, nodes } = speaker;
    if (nodes.length < 2) return [];
    const shared = literals(speaker).filter((address) => pools.some((pool) => contains(pool.assignable, address)));
    return shared.map((address) => ({
      message: `policy ${name} writes ${formatAddress(address)} out for ${nodes.length} nodes, and a pool may give it to yet another one`,
      hint: "Take it from the pool by a capture; an address that many are to have is excluded from it (exclude).",
    }));
  });
}

/** What policies write out for somebody else, or another NIC, than the plan and the record. */
export function writtenForOthers(
  uses: readonly Use[],
  { planned, others }: Pick<Holdings, "planned" | "others">,
): Issue[] {
  return uses.flatMap(({ address, owner, interface: nic, at }) => {
    const lines = planned.get(address) ?? [];
    const rest = others.get(address) ?? [];
    if (owner === undefined) return [];
    const own = lines.filter(({ claim }) => ownerOfKey(claim) === owner);
    if (own.length > 0)
      return own.some((line) => mayBeOn(line, nic)) ? [] : { ...handWrittenTwice(address, own, `${nic}`), at };
    if (lines.length > 0) return { ...handWrittenIssue(address, lines, `a policy writes it out for ${owner}`), at };
    if (rest.length === 0 || nodeNameOf(owner) === undefined || rest.some(({ claim }) => mayBe(claim, owner)))
      return [];
    const who = rest.map(({ claim, why }) => `${claim} ${why}`).join(" and ");
    return {
      message: `${formatAddress(address)} is recorded for ${who}, but a policy writes it out for ${owner}`,
      hint: "Write out another address, one that no pool gives, or take it from the pool. What is releasing is free once it is released.",
      at,
    };
  });
}

/** A node that only its hostname tells may be called by the first part of it in the record. */
function mayBe(claim: string, owner: string): boolean {
  return owner === ownerOfKey(claim) || owner.startsWith(`${ownerOfKey(claim)}.`);
}

/** A template stands for whatever NIC the node has. */
function mayBeOn({ interface: nic }: Allocation, other: string | undefined): boolean {
  return nic === undefined || other === undefined || hasTemplate(other) || nic === other;
}

function handWrittenIssue(address: Address, lines: readonly Allocation[], why: string): Issue {
  return {
    message: `${formatAddress(address)} is for ${claimsOf(lines)}, but ${why}`,
    hint: "While it is free, a reservation of the pool without an owner, or exclude, keeps it away from all claims; else write out another one. What is of another network comes from a pool of that network.",
  };
}

function handWrittenTwice(address: Address, lines: readonly Allocation[], nic: string): Issue {
  const nics = lines.map((line) => line.interface).join(" and ");
  return {
    message: `${formatAddress(address)} is for ${claimsOf(lines)} on ${nics}, but a policy writes it out for ${nic}`,
    hint: "Take it from the pool on the NIC that is to have it; or keep it away from all claims, while it is free, by a reservation without an owner.",
  };
}

function claimsOf(lines: readonly Allocation[]): string {
  return lines.map(({ claim }) => claim).join(" and ");
}

/** A policy by what it says; one of ours, or a copy of it whose tokens are addresses. */
export type Written = Pick<Policy, "name" | "desiredState">;

/** The addresses in a policy's address lists that come from no pool; of NICs and families that are off, none. */
export function literals({ desiredState }: Written): Address[] {
  return asList(asBag(desiredState)?.interfaces).flatMap((item) => {
    const nic = asBag(item);
    const isOff = ["absent", "ignore", "down"].includes(nic?.state as string);
    const sections = isOff ? [] : [nic?.ipv4, nic?.ipv6].map(asBag);
    return sections
      .filter((section) => asTruth(section?.enabled) !== false)
      .flatMap((section) => asList(section?.address).flatMap((entry) => parseAddress(asBag(entry)?.ip).value ?? []));
  });
}
