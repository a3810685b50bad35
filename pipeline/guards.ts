import {
  type Address,
  audit,
  contains,
  type Finding,
  howToKeep,
  IpamError,
  type Issue,
  type Pool,
  refusePending,
  releaseRefusal,
  type Snapshot,
} from "../core/index.ts";
import type { Rendered } from "../integrations/contract/integration.ts";
import { conflictsIn } from "./desired.ts";
import { placesOf } from "./places.ts";
import { presenceIn } from "./presence.ts";
import type { Proposal } from "./proposal.ts";
import { renamedOwners } from "./renamed-owners.ts";
import { misspeltReservers } from "./reserved-for.ts";

/**
 * Says why a proposal must not be recorded, or nothing. Guards are asked in one order, on every surface:
 *
 *  | guard           | protects against                                                          |
 *  | --------------- | ------------------------------------------------------------------------- |
 *  | allServed       | an object that asks for addresses and gets none; the command line serves the others first |
 *  | noConflicts     | two policies that undo each other on a node, two hosts of one name        |
 *  | noRenames       | a node that is misspelt, or renamed without being declared, which would get another address |
 *  | noMisspelt      | a reservation for a misspelt owner, whose address another owner would get |
 *  | nothingPending  | a claim without an address: all or nothing                                |
 *  | releasesMeant   | a wrong selector, node list or folder, which would release addresses; a policy that leaves them on its old NIC |
 *  | manifestsAgree  | an address that an object writes out for somebody else, or with another prefix length |
 *  | renderable      | a record of what cannot be written to the cluster                         |
 *
 * A surface adds its own: a folder has lost no line of its lock, a Pulumi set loses no address to another record of its stack.
 */
export type Guard = (proposal: Proposal) => IpamError | undefined;

const noMisspelt: Guard = ({ desired }) => refusalOf(misspeltReservers(desired));

const noRenames: Guard = (proposal) => {
  const issues = renamedOwners(proposal);
  return issues.length === 0 ? undefined : new IpamError("in-use", issues);
};

const nothingPending: Guard = ({ plan, desired }) => caught(() => refusePending(plan, placesOf(desired)));

const releasesMeant: Guard = (proposal) => (proposal.options.confirmRelease ? undefined : doubtfulRelease(proposal));

/**
 * The refusal of a proposal that releases addresses as a mistake would (`releaseRefusal`), or leaves them on a NIC that no policy
 * mentions any more, whether or not that is confirmed.
 */
export function doubtfulRelease({ plan, before, desired, holdings }: Proposal): IpamError | undefined {
  const releasesNone = plan.release.length === 0 && plan.keep.every(({ releasing }) => !releasing);
  const released = releasesNone ? [] : (releaseRefusal(plan, before, presenceIn(desired))?.issues ?? []);
  const isSameNic = plan.keep.every(({ allocation, was = allocation }) => allocation.interface === was.interface);
  const left = isSameNic ? [] : conflictsIn(desired, { ...holdings, before }).filter(mayBeMeant);
  return released.length + left.length === 0 ? undefined : new IpamError("in-use", [...released, ...left]);
}

/** Two objects must not undo each other; also where nothing is planned. */
export const noConflicts: Guard = ({ desired, holdings }) =>
  refusalOf(conflictsIn(desired, holdings).filter((one) => !mayBeMeant(one)));

function mayBeMeant({ remedy }: Issue): boolean {
  return remedy?.[0] === "allow";
}

/** Objects that write addresses out are held against the record as it will be, like `audit` does it. */
const manifestsAgree: Guard = (proposal) => {
  const { pools, uses: read } = proposal.desired;
  const uses = read();
  if (uses.length === 0) return undefined;
  const findings = audit({ pools, snapshot: inNetworksOf(proposal), uses });
  const isAssignable = ({ address }: Finding) => pools.some((pool) => contains(pool.assignable, address));
  const wrong = findings.filter(
    (finding) =>
      finding.kind === "wrong-owner" ||
      finding.kind === "wrong-interface" ||
      finding.kind === "wrong-prefix" ||
      (finding.kind === "duplicate" && isAssignable(finding)),
  );
  if (wrong.length === 0) return undefined;
  const issues = wrong.map(
    ({ kind, address, message, at, hint }): Issue => ({
      message,
      ...(at === undefined ? {} : { at }),
      hint: hint ?? (kind === "wrong-prefix" ? "Write out the prefix length of the pool." : freeHint(pools, address)),
    }),
  );
  return new IpamError("in-use", issues);
};

function freeHint(pools: readonly Pool[], address: Address): string {
  const pool = pools.find(({ range }) => contains(range, address)) ?? {};
  return `Write out another address, or take it from the pool; if it must stay as it is, import it, or ${howToKeep(pool)}.`;
}

const renderable =
  (write: Write): Guard =>
  ({ rendered }) =>
    caught(() => write(rendered()));

/** How a surface writes out what is rendered. Throws IpamError for what cannot be written. */
type Write = (rendered: Rendered) => unknown;

/** Throws IpamError `invalid` for what no object can say. */
function refuseInexpressible({ inexpressible = [] }: Rendered): void {
  if (inexpressible.length > 0) throw new IpamError("invalid", inexpressible);
}

/** Objects that get nothing stop a surface that has no other way to say so. */
export const allServed: Guard = ({ unserved }) => refusalOf(unserved);

function refusalOf(issues: readonly Issue[]): IpamError | undefined {
  return issues.length === 0 ? undefined : new IpamError("invalid", issues);
}

/** One order for all surfaces. Most of them write objects as they are rendered. */
export function guardsOf(write: Write = refuseInexpressible): readonly Guard[] {
  return [noConflicts, noRenames, noMisspelt, nothingPending, releasesMeant, manifestsAgree, renderable(write)];
}

/** Those of a surface that writes objects as they are rendered, and serves all of them or none. */
export const guards: readonly Guard[] = [allServed, ...guardsOf()];

/** An address of another network is another address: lines there say nothing of these pools. */
function inNetworksOf({ holdings: { snapshot: after }, desired }: Proposal): Snapshot {
  if (desired.pools.length === 0) return after;
  const networks = new Set(desired.pools.map(({ network }) => network));
  const pools = new Set(after.pools.filter(({ network }) => networks.has(network)).map(({ name }) => name));
  return {
    ...after,
    allocations: after.allocations.filter(({ pool }) => pools.has(pool)),
    releasing: after.releasing.filter(({ pool }) => pools.has(pool)),
  };
}

/** Why a proposal must not be recorded: what the first guard says that has something against it. */
export function firstRefusal(proposal: Proposal, chain: readonly Guard[] = guards): IpamError | undefined {
  for (const guard of chain) {
    const refusal = guard(proposal);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

/** The IpamError that something throws. */
export function caught(work: () => unknown): IpamError | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    if (error instanceof IpamError) return error;
    throw error;
  }
}
