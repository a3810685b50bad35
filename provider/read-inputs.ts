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
import { type ClaimInput, present, type SetInputs, type StateArgs, unknown } from "./set-state.ts";

/** What a set has of pools and claims, and everything that is wrong with the rest. */
export interface Read {
  readonly pools: readonly Pool[];
  /** One whose wanted address is not known yet wants none here: it keeps a line that it has. */
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
  const issues = inputs.claims.map((claim, i) => issuesOf(claim, i, inputs.pools, seen));
  if (issues.some((found) => found.length > 0)) errors.push(new IpamError("invalid", issues.flat()));
  const isUsable = ({ pool }: Claim) => pools.some(({ name }) => name === pool);
  const claims = inputs.claims.flatMap((claim, i) => ((issues[i] ?? []).length > 0 ? [] : claimOf(claim)));
  return { pools, claims: claims.filter(isUsable), errors };
}

const settings = { stack: [], lockfile: ["path"], kubernetes: ["context", "namespace"] } as const;

/** Nothing but these goes into the stack's state. Throws IpamError `invalid`. */
export function checkState(state: StateArgs): void {
  const known: readonly string[] | undefined = Object.hasOwn(settings, state.backend)
    ? settings[state.backend]
    : undefined;
  const refuse = (path: string[], message: string, hint?: string) => {
    throw new IpamError("invalid", [{ path: ["state", ...path], message, ...present({ hint }) }]);
  };
  if (known === undefined) {
    const names = Object.keys(settings);
    refuse(
      ["backend"],
      `there is no such backend${didYouMean(`${state.backend}`, names)}; there are: ${names.join(", ")}`,
    );
  }
  for (const [name, value] of Object.entries(state)) {
    if (name === "backend") continue;
    const hint = name === "set" ? `It stands beside state, not in it: set: ${JSON.stringify(value)}.` : undefined;
    if (!known?.includes(name)) refuse([name], `the backend ${state.backend} has no such setting`, hint);
    if (typeof value !== "string" || value === "" || value === unknown)
      refuse([name], "should be a text that is known");
  }
  if (state.backend === "lockfile" && state.path === undefined) refuse(["path"], "is missing");
}

function authorityIssues(pool: Pool | undefined): Issue[] {
  if (pool === undefined || isPlanned(pool)) return [];
  return [{ path: ["authority"], message: "with authority Cluster, only the controller allocates from the pool" }];
}

function inside(...path: (string | number)[]): (issue: Issue) => Issue {
  return (issue) => ({ ...issue, path: [...path, ...(issue.path ?? [])] });
}

/** What is wrong with one claim, on its own or beside those before it. */
function issuesOf(claim: ClaimInput, i: number, pools: SetInputs["pools"], seen: Firsts): Issue[] {
  const { key, pool, owner, address } = claim;
  const at = (message: string, hint?: string): Issue => ({
    path: ["claims", i],
    message: `${placeOf(claim)}${message}`,
    ...present({ hint }),
  });
  const named: Partial<Parsed<unknown>> = owner === undefined || owner === unknown ? {} : parseOwner(owner);
  const unreadable = [parseClaimKey(key), named, wantedOf(address)].flatMap(({ issues = [] }) => issues);
  const [first, twin] = [seen.keys.get(`${pool} ${key}`), seen.owners.get(`${pool} ${nameOf(claim)}`)];
  const same = seen.ids.get(ownerOfKey(key));
  const isOther = same !== undefined && same.owner !== (owner ?? ownerOfKey(key)) && owner !== unknown;
  return [
    ...unreadable.map(({ message, hint }) => at(message, hint)),
    ...(Object.hasOwn(pools, pool) ? [] : [at(`the set has no such pool${didYouMean(pool, Object.keys(pools))}`)]),
    ...(first === i || first === undefined ? [] : [at(`claims[${first}] claims the same`)]),
    ...(isOther ? [at(`${ownerOfKey(key)} stands for another owner in claims[${same.at}]`)] : []),
    ...(first !== i || twin === i || twin === undefined ? [] : [at(`claims[${twin}] is of the same owner`)]),
  ];
}

interface Firsts {
  /** Index of the first claim of a pool and key, and of a pool and owner. */
  readonly keys: ReadonlyMap<string, number>;
  readonly owners: ReadonlyMap<string, number>;
  /** The owner that an id, or a name in its place, stands for in its first claim. */
  readonly ids: ReadonlyMap<string, { readonly owner: string; readonly at: number }>;
}

function firsts(claims: readonly ClaimInput[]): Firsts {
  const keys = new Map<string, number>();
  const owners = new Map<string, number>();
  const ids = new Map<string, { owner: string; at: number }>();
  for (const [i, claim] of claims.entries()) {
    const id = ownerOfKey(claim.key);
    if (claim.owner !== unknown && !ids.has(id)) ids.set(id, { owner: claim.owner ?? id, at: i });
    const [key, owner] = [`${claim.pool} ${claim.key}`, `${claim.pool} ${nameOf(claim)}`];
    if (!keys.has(key)) keys.set(key, i);
    if (claim.owner !== unknown && !owners.has(owner)) owners.set(owner, i);
  }
  return { keys, owners, ids };
}

/** The key that a claim would have without its id. */
function nameOf({ key, owner }: ClaimInput): string {
  return owner === undefined ? key : `${owner}/${nameOfKey(key)}`;
}

function wantedOf(address: string | undefined): Partial<Parsed<Address>> {
  return address === undefined || address === unknown ? {} : parseAddress(address);
}

/** A claim that nothing is wrong with. */
function claimOf({ key, pool, address, interface: nic, uid }: ClaimInput): Claim {
  return { ...unwrap(parseClaimKey(key)), pool, ...present({ wanted: wantedOf(address).value, interface: nic, uid }) };
}

function placeOf({ key, pool }: { readonly key: string; readonly pool: string }): string {
  return `${key} of pool ${pool}: `;
}

/** What stands against a plan, an error for each kind of failure, with the place of the first claim it is about. */
export function pendingErrors(pending: readonly Pending[], claims: readonly ClaimInput[]): IpamError[] {
  const places = new Map(claims.map(({ key, pool }, i) => [identityOf({ pool, claim: key }), i]));
  return groupPending(pending).map(({ first, more }) => {
    const { claim, pool, code, message, hint, remedy } = first;
    const path = ["claims", places.get(identityOf({ pool, claim })) ?? 0];
    const issue = { path, message: `${placeOf({ key: claim, pool })}${message}${more}`, ...present({ hint, remedy }) };
    return new IpamError(code, [issue]);
  });
}
