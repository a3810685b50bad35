import {
  type Address,
  type Claim,
  describeChanges,
  IpamError,
  type Issue,
  identityOf,
  isNamedBy,
  type Parsed,
  type Plan,
  parseAddress,
  parseClaimKey,
  plan,
  planRelease,
  refusePending,
  type Snapshot,
} from "../core/index.ts";
import { applyPlan, covering, lockfile, withOffers } from "../state/index.ts";
import {
  addressesOf,
  type ClaimInput,
  onlyPools,
  poolsOf,
  recordOf,
  type SetInputs,
  type SetState,
} from "./set-state.ts";

/** The engine's word for a value that preview does not know yet (`rpc.unknownValue` in @pulumi/pulumi). */
export const unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

/**
 * What a set is to hold: the plan of its claims against the record, all or nothing. The same in preview and update,
 * as long as the record is the same. A claim whose wanted address is unknown is unknown itself.
 * Throws IpamError with everything that stands against it.
 */
export function planSet(inputs: SetInputs): SetState {
  const pools = poolsOf(inputs.pools);
  const [waiting, ready] = [inputs.claims.filter(isWaiting), inputs.claims.filter((claim) => !isWaiting(claim))];
  const recorded = readRecord(inputs);
  const made = plan({
    pools,
    claims: claimsOf([...ready, ...waiting.map(({ address: _, ...claim }) => claim)]),
    snapshot: recorded,
    set: inputs.set,
    allowMove: inputs.allowMove,
  });
  refusePending(made);
  const planned = inputs.state.backend === "stack" ? (applyPlan(recorded, made) ?? recorded) : covering(made, recorded);
  if (planned === undefined) throw drift(made, inputs);
  const after = inputs.state.backend === "stack" ? released(planned, inputs.release) : planned;
  return stateOf(after, inputs, waiting);
}

function isWaiting(claim: ClaimInput): boolean {
  return claim.address === unknown;
}

function readRecord({ state, previous: { own, others }, set, pools }: SetInputs): Snapshot {
  if (state.backend === "lockfile") return withOffers(lockfile(state.path).readSync());
  const names = new Set(Object.keys(pools));
  return recordOf([...(own === undefined ? [] : [own]), ...others.map((state) => onlyPools(state, names))], set);
}

function claimsOf(claims: readonly ClaimInput[]): Claim[] {
  const issues: Issue[] = [];
  const read = claims.flatMap(({ key, pool, address: wanted, interface: nic, uid }): Claim[] => {
    const name = parseClaimKey(key);
    const parsed: Partial<Parsed<Address>> = wanted === undefined ? {} : parseAddress(wanted);
    const place = { path: ["claims", key] };
    issues.push(...[...(name.issues ?? []), ...(parsed.issues ?? [])].map((issue) => ({ ...issue, ...place })));
    if (name.value === undefined) return [];
    const { value } = parsed;
    return [{ ...name.value, pool, ...present({ wanted: value, interface: nic, uid }) }];
  });
  if (issues.length > 0) throw new IpamError("invalid", issues);
  return read;
}

/** The fields that have a value. The engine refuses `undefined` anywhere. */
function present<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}

/** Frees what a human named. Nobody gets it in the same plan: this comes after all claims are served. */
function released(after: Snapshot, words: readonly string[]): Snapshot {
  const lines = after.releasing.filter((line) => words.some((word) => isNamedBy(line, word)));
  return lines.length === 0 ? after : (applyPlan(after, planRelease(after, lines)) ?? after);
}

function drift(made: Plan, { state }: SetInputs): IpamError {
  const path = state.backend === "lockfile" ? state.path : "";
  return new IpamError(
    "stale",
    [`${path} is not up to date with the program:`, ...describeChanges(made)].join("\n  "),
    {
      hint: "Run nodeippool allocate -- pulumi preview, review the lockfile, and commit it.",
    },
  );
}

function stateOf(after: Snapshot, inputs: SetInputs, waiting: readonly ClaimInput[]): SetState {
  const {
    pools,
    state,
    set,
    previous: { own },
  } = inputs;
  const mine = new Set(inputs.claims.map(({ key, pool }) => identityOf({ pool, claim: key })));
  const held = addressesOf(after.allocations.filter((line) => mine.has(identityOf(line))));
  const addresses = Object.fromEntries(
    Object.entries(held).map(([pool, claims]) => [pool, { ...claims, ...unknowns(pool) }]),
  );
  function unknowns(pool: string) {
    return Object.fromEntries(waiting.filter((claim) => claim.pool === pool).map(({ key }) => [key, unknown]));
  }
  if (state.backend === "lockfile" || after.releasing.length === 0) return { addresses, pools, state, set };
  const releasing = addressesOf(after.releasing);
  const gone = Object.keys(releasing).filter((pool) => !(pool in pools));
  const kept = Object.fromEntries(
    gone.flatMap((pool) => (own?.pools[pool] === undefined ? [] : [[pool, own.pools[pool]]])),
  );
  return { addresses, releasing, pools: { ...kept, ...pools }, state, set };
}
