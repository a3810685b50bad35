import { asBag, asList } from "../../../schema/objects.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { type Revision, replay } from "../cluster/history.ts";

type Change = Pick<Revision, "number" | "key" | "object">;

/** The policy of a node: whose it is, and its addresses. */
interface Child {
  readonly owner: unknown;
  readonly addresses: readonly string[];
}

/** Each address that the policies of two nodes, both there, ever had at one revision of etcd since one. */
export async function sharedByPolicies(cluster: Cluster, since: number): Promise<string[]> {
  const changes: Change[] = [];
  for (const kind of ["minions", "nmstate.io/nodenetworkconfigurationpolicies"])
    await replay(cluster, kind, ({ number, key, object }) => changes.push({ number, key, object }), since);
  const nodes = new Map<string, unknown>();
  const children = new Map<string, Child>();
  const wrong: string[] = [];
  for (const { number, key, object } of changes.sort((a, b) => a.number - b.number)) {
    if (key.startsWith("/registry/minions/")) put(nodes, key, asBag(asBag(object)?.metadata)?.uid);
    else {
      put(children, key, childOf(object));
      const there = new Set(nodes.values());
      for (const address of children.get(key)?.addresses ?? []) {
        const all = [...children].filter(([, one]) => there.has(one.owner) && one.addresses.includes(address));
        if (new Set(all.map(([, { owner }]) => owner)).size > 1)
          wrong.push(`${number}: ${address} in ${all.map(([name]) => name.replace(/.*\//, "")).join(" and ")}`);
      }
    }
  }
  return wrong;
}

function put<T>(map: Map<string, T>, key: string, value: T | undefined): void {
  if (value === undefined) map.delete(key);
  else map.set(key, value);
}

/** Undefined where it is no policy that the controller made. */
function childOf(object: unknown): Child | undefined {
  const { metadata, spec } = asBag(object) ?? {};
  const { labels, ownerReferences } = asBag(metadata) ?? {};
  if (asBag(labels)?.["app.kubernetes.io/managed-by"] !== "nodeippool-controller") return undefined;
  const interfaces = asList(asBag(asBag(spec)?.desiredState)?.interfaces).map(asBag);
  const addresses = interfaces.flatMap((nic) => [nic?.ipv4, nic?.ipv6].flatMap((one) => asList(asBag(one)?.address)));
  return { owner: asBag(asList(ownerReferences)[0])?.uid, addresses: addresses.map((one) => `${asBag(one)?.ip}`) };
}
