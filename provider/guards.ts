import {
  formatBlock,
  IpamError,
  type Issue,
  identityOf,
  ownerOfKey,
  type Plan,
  Renames,
  type Snapshot,
} from "../core/index.ts";
import { type Guard, guards } from "../pipeline/guards.ts";
import { type Left, type Line, linesOf } from "./left-behind.ts";
import { type ClaimInput, entriesOf, type SetInputs, type SetState, unknown } from "./set-state.ts";

/**
 * Those of every surface, and what only a stack can lose:
 *
 *  | guard             | protects against                                                              |
 *  | ----------------- | ----------------------------------------------------------------------------- |
 *  | poolsStay         | a pool whose addresses are in another record of the stack                     |
 *  | ownersStay        | an owner that loses its address because its claim has another id              |
 *  | (every surface's) |                                                                               |
 *  | nothingLeftBehind | addresses of the set in a record that it leaves                               |
 */
export function guardsFor(inputs: SetInputs, claims: readonly ClaimInput[], left: Left): readonly Guard[] {
  return [poolsStay(inputs, left), ownersStay(inputs, claims), ...guards, nothingLeftBehind(inputs, left)];
}

function inUse(issues: readonly Issue[]): IpamError | undefined {
  return issues.length === 0 ? undefined : new IpamError("in-use", issues);
}

/** What other sets and records have of a set's pools is in its own record already. */
function poolsStay(inputs: SetInputs, { others }: Left): Guard {
  return ({ before }) => {
    const isThere = finder(before, inputs);
    const lost = others.filter((one) => !isThere(one, [inputs.set, one.line.set]));
    return inUse(
      [...Map.groupBy(lost, ({ line }) => line.pool).values()].map((some) => ({
        path: ["pools"],
        message: `another record or set of this stack has ${describe(some)}: a pool stays where it is while it has addresses`,
        hint: "Keep the pool there, or release its addresses there first.",
      })),
    );
  };
}

/** What a set has in a record that it leaves is in its new record then. */
function nothingLeftBehind(inputs: SetInputs, { own }: Left): Guard {
  return ({ holdings: { snapshot } }) => {
    const isThere = finder(snapshot, inputs);
    const lost = own.filter((one) => !isThere(one, [inputs.set]));
    if (lost.length === 0) return undefined;
    const message = `the record that the set leaves has ${describe(lost)}, which would be lost`;
    const hint =
      "First release what is releasing there, then change the state alone, with the same pools and claims; nodeippool migrate moves a shared record. Only then change those.";
    return inUse([{ path: ["state"], message, hint }]);
  };
}

/** Tells whether a record has an address for the same claim, which may have been renamed, of one of these sets. */
function finder(record: Snapshot, { moved }: SetInputs) {
  const renames = new Renames(moved);
  const lines = new Map(linesOf(record).map(({ line, place }) => [place, line]));
  return ({ line, place }: Line, sets: readonly string[]) => {
    const now = lines.get(place);
    return now !== undefined && sets.includes(now.set) && renames.after(line.claim).includes(now.claim);
  };
}

function describe(some: readonly Line[]): string {
  const { line } = some[0] as Line;
  const count = new Set(some.map(({ place }) => place)).size;
  const what = count === 1 ? "1 address" : `${count} addresses`;
  return `${what}, as ${formatBlock(line)} of ${line.claim} in pool ${line.pool}`;
}

/** An address of an owner, by the claim under which it has it. */
interface Has {
  readonly pool: string;
  readonly key: string;
  readonly owner: string;
  readonly address: string;
}

/**
 * An owner keeps its address where its claim gets an id, loses it, or has another one. Of one whose name is not
 * known yet nobody can tell.
 */
function ownersStay({ previous, allowMove }: SetInputs, claims: readonly ClaimInput[]): Guard {
  const { owners = {}, addresses = {} } = previous.own ?? ({} as Partial<SetState>);
  const hasIds = claims.some(({ owner }) => owner !== undefined) || Object.keys(owners).length > 0;
  return ({ plan, desired: { placeOf } }) => {
    if (allowMove || !hasIds) return undefined;
    const before = entriesOf(addresses).map(
      ({ claim, ...rest }): Has => ({ ...rest, key: claim, owner: owners[claim] ?? ownerOfKey(claim) }),
    );
    const had = Map.groupBy(before, ({ pool, owner }) => `${pool} ${owner}`);
    const has = Map.groupBy(hasAfter(plan, claims), ({ pool, owner }) => `${pool} ${owner}`);
    const issues = [...has].flatMap(([owner, now]): Issue[] => {
      const was = had.get(owner) ?? [];
      const lost = was.find(({ address }) => !now.some((one) => one.address === address));
      const got = now.find(({ address }) => !was.some((one) => one.address === address));
      if (lost === undefined || got === undefined) return [];
      const message = `${got.key} in pool ${got.pool}: its owner would lose ${lost.address}, which it has as ${lost.key}`;
      const hint = `If this is the same claim, declare it: moved: [{ from: "${lost.key}", to: "${got.key}" }]. If not: allowMove: true`;
      return [{ ...placeOf?.({ pool: got.pool, claim: got.key }), message, hint }];
    });
    return inUse(issues);
  };
}

function hasAfter({ assign, keep }: Plan, claims: readonly ClaimInput[]): Has[] {
  const live = [...assign, ...keep.flatMap(({ allocation, releasing }) => (releasing ? [] : [allocation]))];
  const addresses = new Map(live.map((line) => [identityOf(line), formatBlock(line)]));
  return claims.flatMap(({ pool, key, owner = ownerOfKey(key) }) => {
    const address = addresses.get(identityOf({ pool, claim: key }));
    return address === undefined || owner === unknown ? [] : { pool, key, owner, address };
  });
}
