import {
  type Allocation,
  type Claim,
  claimKey,
  comersOf,
  familyOf,
  formatOwner,
  IpamError,
  type Issue,
  identityOf,
  isOfOtherSet,
  ownerOfKey,
  type Plan,
  type Pool,
  policyOf,
  policyOfKey,
  toSetRemedy,
} from "../core/index.ts";
import type { ClusterNode, Policy } from "../schema/index.ts";
import { hostnameLabel } from "../schema/node.ts";
import { hostnameOf } from "./child.ts";

/** The key that parks a policy: no node bears it, so no handler applies it. */
export const parkKey = "nmstate.io/ippool-template";

/**
 * The nodes a policy is for. Throws `invalid` where a node is known by name alone and the selector asks for more, and
 * where a policy could not be written for one of them alone.
 */
export function selectNodes(policy: Policy, nodes: readonly ClusterNode[]): ClusterNode[] {
  const selector = Object.entries(policy.nodeSelector).filter(([key]) => key !== parkKey);
  const other = selector.map(([key]) => key).find((key) => key !== hostnameLabel);
  const bare = nodes.find((node) => node.bare);
  if (other !== undefined && bare !== undefined)
    throw new IpamError(
      "invalid",
      `policy ${policy.name} selects nodes by ${other}, but only the name of ${bare.name} is known`,
      {
        hint: "Give the nodes with their labels: kubectl get nodes -o json, or NAME kubernetes.io/hostname=NAME,label=value in the list.",
      },
    );
  refuseTwins(nodes);
  const selected = nodes.filter((node) => selector.every(([key, value]) => node.labels.get(key) === value));
  selected.forEach(hostnameOf);
  return selected;
}

/** A policy for one node is selected by its hostname label: two nodes with one label would each get both. Throws `invalid`. */
export function refuseTwins(nodes: readonly ClusterNode[]): void {
  const known = new Map<string, ClusterNode>();
  for (const node of nodes) {
    const hostname = node.labels.get(hostnameLabel);
    const twin = hostname === undefined ? undefined : known.get(hostname);
    if (twin !== undefined)
      throw new IpamError(
        "invalid",
        `nodes ${twin.name} and ${node.name} have the same label ${hostnameLabel}: ${hostname}`,
      );
    if (hostname !== undefined) known.set(hostname, node);
  }
}

/** Throws `invalid` where no policy takes an address any more, and the plan gives up what they had: more likely one is missing. */
export function refuseNoPolicy(policies: readonly Policy[], { release, set }: Plan): void {
  if (release.length === 0 || policies.some(({ captures }) => captures.size > 0)) return;
  const held = release.length === 1 ? "1 address that is held" : `${release.length} addresses that are held`;
  throw new IpamError("invalid", `no policy here takes an address from a pool: ${held} would be given up`, {
    hint: "See where they are. If that is meant, keep a policy, for no node: nodeSelector {kubernetes.io/hostname: none}. Of those that went to another folder or app, say so.",
    remedy: ["to-set", [...new Set(release.map(({ allocation }) => policyOfKey(allocation.claim)))], set],
  });
}

/** One claim for each node a policy is for and each capture it makes: `Node/<node>` asks as `<policy>/<capture>`. */
export function claimsOf(policy: Policy, nodes: readonly ClusterNode[]): Claim[] {
  return selectNodes(policy, nodes).flatMap((node) =>
    [...policy.captures].map(([capture, { pool, interface: nic }]) => ({
      owner: { kind: "Node", name: node.name },
      name: claimName(policy, capture),
      pool,
      ...(nic === undefined ? {} : { interface: nic }),
    })),
  );
}

/**
 * nmstate replaces the address list of a NIC as a whole, so two policies that both give a node's NIC addresses of
 * one family would wipe each other's, also where the record has the other one for another claim set. What an import
 * recorded is nobody's yet: a plan adopts it. Throws `invalid` for each such pair.
 */
export function refuseSharedNics(
  claims: readonly Claim[],
  pools: readonly Pool[],
  recorded: readonly Allocation[] = [],
  set = "default",
): void {
  const others = recorded.filter((line) => isOfOtherSet(line, set));
  const families = new Map(pools.map((pool) => [pool.name, familyOf(pool.prefix.first)]));
  const lists = Map.groupBy(others, listOf);
  const users = new Map<string, User>(
    others.map((line) => [listOf(line), { policy: policyOfKey(line.claim), set: line.set }]),
  );
  const clashes = new Map<string, Clash>();
  for (const { owner, name, pool, interface: nic } of claims) {
    if (nic === undefined) continue;
    const place = addressList(families.get(pool), nic, formatOwner(owner));
    const policy = policyOf(name);
    const other = users.get(place) ?? { policy };
    users.set(place, other);
    if (other.policy === policy) continue;
    const shown = other.set === undefined ? other.policy : `${other.policy} (set ${other.set})`;
    const clash = clashes.get(`${shown} ${policy}`) ?? {
      policies: `${shown} and ${policy}`,
      from: other.set,
      claims: [],
    };
    clashes.set(`${shown} ${policy}`, clash);
    clash.claims.push({ place, pool, claim: claimKey(owner, name) });
  }
  if (clashes.size === 0) return;
  const issues = [...clashes.values()].map((clash) => ({
    message: `policies ${clash.policies} both set the ${clash.claims[0]?.place}; nmstate replaces the whole list`,
    ...howToShare(clash, lists, set, recorded),
  }));
  throw new IpamError("invalid", issues);
}

/** Whose the addresses of a NIC are. */
interface User {
  readonly policy: string;
  /** Of another claim set. */
  readonly set?: string;
}

/** Two policies that set one list, the claim set of the first one if it is another, and the claims of the second one. */
interface Clash {
  readonly policies: string;
  readonly from: string | undefined;
  readonly claims: { readonly place: string; readonly pool: string; readonly claim: string }[];
}

/** What another set has there may be these very claims, under the names that they had in that one. */
function howToShare(
  { from, claims }: Clash,
  lists: ReadonlyMap<string, readonly Allocation[]>,
  set: string,
  live: readonly Allocation[],
): Pick<Issue, "hint" | "remedy"> {
  const hint = "Make all captures of one NIC in one policy.";
  const held = new Set(live.filter((line) => line.set === set).map(identityOf));
  const fresh = claims.filter((claim) => !held.has(identityOf(claim)));
  const came = [...Map.groupBy(fresh, ({ place }) => place)].flatMap(([place, asked]) =>
    comersOf(asked, lists.get(place)?.filter((line) => line.set === from) ?? []),
  );
  if (from === undefined || came.length === 0) return { hint };
  const renamed = came.map(({ was, now }) => [was.claim, now.claim] as const);
  return {
    hint: `${hint} If it is one that came over under a new name, say so.`,
    remedy: toSetRemedy(renamed, from, set, live),
  };
}

/** What nmstate replaces as a whole: no two policies may set it. */
export function addressList(family: number | undefined, nic: string | undefined, owner: string): string {
  return `IPv${family} addresses of ${nic} on ${owner}`;
}

/** The list that the address of a line stands in. */
export function listOf(line: Allocation): string {
  return addressList(familyOf(line.address), line.interface, ownerOfKey(line.claim));
}

export function claimName(policy: Policy, capture: string): string {
  return `${policy.name}/${capture}`;
}
