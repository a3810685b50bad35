import {
  type Address,
  address,
  formatAddress,
  IpamError,
  type Issue,
  identityOf,
  ownerOfKey,
  type Plan,
} from "../core/index.ts";
import { type ClaimInput, entriesOf, only, type SetInputs, statesOf, unknown } from "./set-state.ts";
import { holderOf } from "./stack-record.ts";

/** An address of an owner, by the claim under which it has it. */
interface Having {
  readonly pool: string;
  readonly key: string;
  readonly owner: string;
  /** An id stands for the owner in the key. */
  readonly hasId: boolean;
  readonly address: Address;
}

/**
 * Throws IpamError `in-use` where an owner would lose an address of a pool and get another one because its claims have
 * other ids now, or none: it is the same machine. Of one whose name, or address, is not known yet nobody can tell.
 */
export function refuseOtherIds(made: Plan, claims: readonly ClaimInput[], inputs: SetInputs): void {
  const isPlain = claims.every(({ owner }) => owner === undefined);
  if (isPlain && statesOf(inputs.previous).every(({ owners }) => owners === undefined)) return;
  const before = havingBefore(inputs);
  const after = havingAfter(made, claims);
  const has = Map.groupBy(after, ofOwner);
  const had = Map.groupBy(before, ofOwner);
  const places = new Map(claims.map(({ pool, key }, i) => [identityOf({ pool, claim: key }), i]));
  const issues = [...has].flatMap(([owner, now]): Issue[] => {
    const was = had.get(owner) ?? [];
    const [lost] = was.filter((one) => !now.some(({ address }) => address === one.address));
    const [got] = now.filter((one) => !was.some(({ address }) => address === one.address));
    if (lost === undefined || got === undefined || ![...was, ...now].some(({ hasId }) => hasId)) return [];
    const path = ["claims", places.get(placeOfHaving(got)) ?? 0];
    const message = `${got.key} of pool ${got.pool}: ${got.owner} would lose ${formatAddress(lost.address)}, which it has as ${lost.key}`;
    const isFree = !places.has(placeOfHaving(lost)) && !before.some((one) => placeOfHaving(one) === placeOfHaving(got));
    const hint = isFree
      ? `Declare that this is the same claim: moved: [{ from: "${lost.key}", to: "${got.key}" }], or allowMove: true`
      : "Give each owner the id that it had. If it is to have the other address: allowMove: true";
    return [{ path, message, hint }];
  });
  if (issues.length > 0) throw new IpamError("in-use", issues);
}

function havingBefore({ previous, pools }: SetInputs): Having[] {
  const states = statesOf(previous);
  return Object.keys(pools).flatMap((pool) => {
    const { addresses = {}, owners = {} } = holderOf(pool, states) ?? {};
    return entriesOf(only(addresses, (name) => name === pool)).map(({ claim, address: text }) => ({
      ...having({ key: claim, pool, ...(owners[claim] === undefined ? {} : { owner: owners[claim] }) }),
      address: address(text),
    }));
  });
}

function havingAfter({ assign, keep }: Plan, claims: readonly ClaimInput[]): Having[] {
  const live = [...assign, ...keep.flatMap(({ allocation, releasing }) => (releasing ? [] : [allocation]))];
  const addresses = new Map(live.map((line) => [identityOf(line), line.address]));
  return claims.flatMap((claim) => {
    const found = addresses.get(identityOf({ pool: claim.pool, claim: claim.key }));
    const isKnown = claim.owner !== unknown && claim.address !== unknown;
    return found === undefined || !isKnown ? [] : { ...having(claim), address: found };
  });
}

function having({ key, pool, owner }: ClaimInput): Omit<Having, "address"> {
  return { key, pool, owner: owner ?? ownerOfKey(key), hasId: owner !== undefined };
}

function ofOwner({ pool, owner }: Having): string {
  return `${pool} ${owner}`;
}

function placeOfHaving({ pool, key }: Having): string {
  return identityOf({ pool, claim: key });
}
