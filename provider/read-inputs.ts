import {
  type Address,
  type Claim,
  IpamError,
  type Issue,
  isPlanned,
  nameOfKey,
  ownerOfKey,
  type Parsed,
  type Pool,
  parseAddress,
  parseClaimKey,
  parseOwner,
  unwrap,
} from "../core/index.ts";
import { didYouMean } from "../schema/nearest.ts";
import { parsePoolSpec } from "../schema/node-ip-pool.ts";
import { type ClaimInput, present, type SetInputs, unknown } from "./set-state.ts";

/** What a set has of pools and claims. */
export interface Read {
  readonly pools: readonly Pool[];
  readonly claims: readonly Claim[];
}

/** Reads pools and claims. Throws IpamError `invalid` with everything that is wrong with them. */
export function readInputs(inputs: SetInputs): Read {
  const issues: Issue[] = [];
  const pools = Object.entries(inputs.pools).flatMap(([name, spec]) => {
    const { value, issues: found = authorityIssues(value) } = parsePoolSpec(name, spec);
    issues.push(...found.map(inside("pools", name)));
    return value ?? [];
  });
  if (inputs.release.length > 0 && inputs.state.backend !== "stack")
    issues.push({ path: ["release"], message: "a shared record is released by: nodeippool release" });
  for (const [i, { from, to }] of inputs.moved.entries())
    for (const key of [from, to]) issues.push(...(parseClaimKey(key).issues ?? []).map(inside("moved", i)));
  const claims = inputs.claims === unknown ? [] : inputs.claims;
  const seen = firsts(claims);
  for (const [i, claim] of claims.entries()) issues.push(...issuesOf(claim, i, claims, inputs.pools, seen));
  if (issues.length > 0) throw new IpamError("invalid", issues);
  return { pools, claims: claims.map(claimOf) };
}

function authorityIssues(pool: Pool | undefined): Issue[] {
  if (pool === undefined || isPlanned(pool)) return [];
  return [{ path: ["authority"], message: "with authority Cluster, only the controller allocates from the pool" }];
}

function inside(...path: (string | number)[]): (issue: Issue) => Issue {
  return (issue) => ({ ...issue, path: [...path, ...(issue.path ?? [])] });
}

/** What is wrong with one claim, on its own or beside those before it. */
function issuesOf(
  claim: ClaimInput,
  i: number,
  claims: readonly ClaimInput[],
  pools: SetInputs["pools"],
  seen: Firsts,
): Issue[] {
  const { key, pool, owner, address } = claim;
  const at = (message: string, hint?: string): Issue => ({
    path: ["claims", i],
    message: `${key} in pool ${pool}: ${message}`,
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
