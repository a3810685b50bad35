import {
  type Address,
  type Claim,
  groupPending,
  IpamError,
  type Issue,
  identityOf,
  isPlanned,
  nameOfKey,
  ownerOfKey,
  type Parsed,
  type Pending,
  type Pool,
  parseAddress,
  parseClaimKey,
  parseOwner,
  unwrap,
} from "../core/index.ts";
import { didYouMean } from "../schema/nearest.ts";
import { parsePoolSpec } from "../schema/node-ip-pool.ts";
import { type ClaimInput, present, type SetInputs, unknown } from "./set-state.ts";

/** What a set has of pools and claims, and everything that is wrong with the rest. */
export interface Read {
  readonly pools: readonly Pool[];
  readonly claims: readonly Claim[];
  readonly errors: readonly IpamError[];
}

/** Reads pools and claims. What is wrong is left out, so that all mistakes can be told at once. */
export function readInputs(inputs: SetInputs): Read {
  const errors: IpamError[] = [];
  const pools = Object.entries(inputs.pools).flatMap(([name, spec]) => {
    const { value, issues = authorityIssues(value) } = parsePoolSpec(name, spec);
    if (issues.length > 0) errors.push(new IpamError("invalid", issues.map(inside("pools", name))));
    return value === undefined || issues.length > 0 ? [] : [value];
  });
  if (inputs.release.length > 0 && inputs.state.backend !== "stack")
    errors.push(
      new IpamError("invalid", [{ path: ["release"], message: "a shared record is released by: nodeippool release" }]),
    );
  const renames = inputs.moved.flatMap(({ from, to }, i) =>
    [from, to].flatMap((key) => (parseClaimKey(key).issues ?? []).map(inside("moved", i))),
  );
  if (renames.length > 0) errors.push(new IpamError("invalid", renames));
  if (inputs.claims === unknown) return { pools, claims: [], errors };
  const seen = firsts(inputs.claims);
  const issues = inputs.claims.map((claim, i) => issuesOf(claim, i, inputs, seen));
  if (issues.some((found) => found.length > 0)) errors.push(new IpamError("invalid", issues.flat()));
  const isUsable = ({ pool }: Claim) => pools.some(({ name }) => name === pool);
  const claims = inputs.claims.flatMap((claim, i) => ((issues[i] ?? []).length > 0 ? [] : claimOf(claim)));
  return { pools, claims: claims.filter(isUsable), errors };
}

function authorityIssues(pool: Pool | undefined): Issue[] {
  if (pool === undefined || isPlanned(pool)) return [];
  return [{ path: ["authority"], message: "with authority Cluster, only the controller allocates from the pool" }];
}

function inside(...path: (string | number)[]): (issue: Issue) => Issue {
  return (issue) => ({ ...issue, path: [...path, ...(issue.path ?? [])] });
}

/** What is wrong with one claim, on its own or beside those before it. */
function issuesOf(claim: ClaimInput, i: number, { pools, claims }: SetInputs, seen: Firsts): Issue[] {
  const { key, pool, owner, address } = claim;
  const at = (message: string, hint?: string): Issue => ({
    path: ["claims", i],
    message: `${placeOf(claim)}${message}`,
    ...present({ hint }),
  });
  const unreadable = [parseClaimKey(key), wantedOf(address)].flatMap(({ issues = [] }) => issues);
  // An owner behind an id is an output, and may be a secret: it is not repeated.
  const isNoOwner = owner !== undefined && owner !== unknown && parseOwner(owner).issues !== undefined;
  const [first, twin] = [seen.keys.get(`${pool} ${key}`), seen.owners.get(nameOf(claim))];
  const other = seen.ids.get(ownerOfKey(key)) ?? i;
  const isOther = owner !== unknown && ownerOf(claims[other] as ClaimInput) !== ownerOf(claim);
  return [
    ...unreadable.map(({ message, hint }) => at(message, hint)),
    ...(isNoOwner ? [at("the name of its owner is not valid")] : []),
    ...(address === unknown ? [at("the address that it asks for is not known yet", lateHint)] : []),
    ...(Object.hasOwn(pools, pool) ? [] : [at(`the set has no such pool${didYouMean(pool, Object.keys(pools))}`)]),
    ...(first === i || first === undefined ? [] : [at(`claims[${first}] claims the same`)]),
    ...(isOther ? [at(`${ownerOfKey(key)} stands for another owner in claims[${other}]`)] : []),
    ...(first !== i || twin === i || twin === undefined ? [] : [at(`claims[${twin}] is of the same owner`)]),
  ];
}

const lateHint = "Bring up first what makes it known.";

/** The first claims of a pool and key, of a pool and owner, and of an id or name in its place. */
type Firsts = { readonly [of in "keys" | "owners" | "ids"]: ReadonlyMap<string, number> };

function firsts(claims: readonly ClaimInput[]): Firsts {
  const places = [...claims.entries()].toReversed();
  const known = places.filter(([, { owner }]) => owner !== unknown);
  return {
    keys: new Map(places.map(([i, { pool, key }]) => [`${pool} ${key}`, i])),
    owners: new Map(known.map(([i, claim]) => [nameOf(claim), i])),
    ids: new Map(known.map(([i, { key }]) => [ownerOfKey(key), i])),
  };
}

function ownerOf({ key, owner }: ClaimInput): string {
  return owner ?? ownerOfKey(key);
}

/** Pool, and the key that a claim would have without its id. */
function nameOf(claim: ClaimInput): string {
  return `${claim.pool} ${ownerOf(claim)}/${nameOfKey(claim.key)}`;
}

function wantedOf(address: string | undefined): Partial<Parsed<Address>> {
  return address === undefined || address === unknown ? {} : parseAddress(address);
}

/** A claim that nothing is wrong with. */
function claimOf({ key, pool, address, interface: nic }: ClaimInput): Claim {
  return { ...unwrap(parseClaimKey(key)), pool, ...present({ wanted: wantedOf(address).value, interface: nic }) };
}

function placeOf({ key, pool }: { readonly key: string; readonly pool: string }): string {
  return `${key} of pool ${pool}: `;
}

/**
 * What stands against a plan, an error for each kind of failure and pool, with the place of the first claim it is about.
 * Claims of a pool that have other names now are one error, with the renames to declare.
 */
export function pendingErrors(pending: readonly Pending[], claims: readonly ClaimInput[]): IpamError[] {
  if (pending.length === 0) return [];
  const places = new Map(claims.map(({ key, pool }, i) => [identityOf({ pool, claim: key }), i]));
  const pathOf = (one: Pending) => ["claims", places.get(identityOf(one)) ?? 0];
  const [renamed, others] = [true, false].map((isRename) =>
    pending.filter(({ remedy }) => (remedy?.[0] === "rename") === isRename),
  ) as [Pending[], Pending[]];
  const renames = [...Map.groupBy(renamed, ({ pool }) => pool).values()].map((some): [Pending, Issue] => {
    const first = some[0] as Pending;
    const more = some.length === 1 ? "" : ` (and ${some.length - 1} more claims of this pool)`;
    const message = `${placeOf({ key: first.claim, pool: first.pool })}${first.message}${more}`;
    return [first, { path: pathOf(first), message, hint: renameHint(some) }];
  });
  const rest = groupPending(others).map(({ first, more }): [Pending, Issue] => {
    const { claim, pool, message, hint, remedy } = first;
    const said = `${placeOf({ key: claim, pool })}${message}${more}`;
    return [first, { path: pathOf(first), message: said, ...present({ hint, remedy }) }];
  });
  return [...renames, ...rest].map(([{ code }, issue]) => new IpamError(code, [issue]));
}

/** As many renames as people paste at once: the next preview has the others. */
const most = 20;

function renameHint(renamed: readonly Pending[]): string {
  const entries = renamed.slice(0, most).flatMap(({ claim, remedy }) => {
    if (remedy?.[0] !== "rename") return [];
    return `{ from: "${ownerOfKey(claim)}/${remedy[1]}", to: "${claim}" }`;
  });
  return `If this is a rename, declare it, and nobody moves: moved: [${entries.join(", ")}]. If not: allowMove: true`;
}
