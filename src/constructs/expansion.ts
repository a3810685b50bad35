import { ApiObject, Chart } from "cdk8s";
import { Construct } from "constructs";
import { byCodeUnit, type Claim, IpamError, type Pool, type Snapshot } from "../core/index.ts";
import { parkPolicy } from "../nmstate/expand.ts";
import { PolicyLines } from "../nmstate/policy-lines.ts";
import { claimsOf, selectNodes } from "../nmstate/select.ts";
import type { ClusterNode, PolicyObject } from "../schema/index.ts";
import { ClusterObject } from "./cluster-object.ts";
import type { NodeIPPool } from "./node-ip-pool.ts";
import type { NodeNetworkPolicy } from "./node-network-policy.ts";

/** Who gives a policy its addresses; undefined where it takes none. Throws `invalid` where it is not one and the same. */
function authorityOf({ name, policy }: NodeNetworkPolicy, pools: readonly Pool[]): Pool["authority"] | undefined {
  const used = new Set([...policy.captures.values()].map(({ pool }) => pool));
  const authorities = new Set(pools.filter((pool) => used.has(pool.name)).map((pool) => pool.authority ?? "Plan"));
  if (authorities.size > 1)
    throw new IpamError("invalid", `policy ${name} takes addresses from pools of authority Plan and Cluster`, {
      hint: "Make two policies of it, for different interfaces.",
    });
  return used.size === 0 ? undefined : ([...authorities][0] ?? "Plan");
}

/** The claims of a policy that this app plans. */
export function claimsIn(construct: NodeNetworkPolicy, pools: readonly Pool[]): Claim[] {
  const { name, policy, props } = construct;
  if (authorityOf(construct, pools) !== "Plan") return [];
  if (props.nodes === undefined)
    throw new IpamError("invalid", `policy ${name} takes addresses from pools, but has no nodes`, {
      hint: 'Add nodes: Nodes.fromFile("nodes.yaml"), or leave the pools to the cluster (authority Cluster).',
    });
  return claimsOf(policy, props.nodes.all);
}

/** The objects that follow from a plan: a policy for each node, parked policies, clean-ups. */
export class Expansion {
  private readonly pools: ReadonlyMap<string, Pool>;
  private readonly constructs: readonly NodeNetworkPolicy[];
  private readonly home: Construct | undefined;
  private readonly lines: PolicyLines;
  private readonly nodes: ReadonlyMap<string, ClusterNode>;

  constructor(pools: readonly NodeIPPool[], policies: readonly NodeNetworkPolicy[], snapshot: Snapshot, set: string) {
    this.pools = new Map(pools.map(({ pool }) => [pool.name, pool]));
    this.constructs = policies;
    this.home = [...pools, ...policies].sort((a, b) => byCodeUnit(a.node.path, b.node.path))[0];
    this.lines = new PolicyLines(snapshot, set);
    const nodes = policies.flatMap(({ props }) => props.nodes?.all ?? []);
    this.nodes = new Map(nodes.sort((a, b) => byCodeUnit(a.name, b.name)).map((node) => [node.name, node]));
  }

  /** Adds them to their constructs. Throws `invalid` if one has the name of another policy of the app. */
  objects(): ApiObject[] {
    const made = [...this.constructs.flatMap((construct) => this.ofPolicy(construct)), ...this.ofGonePolicies()];
    if (this.home !== undefined) refuseTwins(this.home.node.root);
    return made;
  }

  private ofPolicy(construct: NodeNetworkPolicy): ApiObject[] {
    const { policy, props } = construct;
    const authority = authorityOf(construct, [...this.pools.values()]);
    const add = (id: string, object: PolicyObject) => new ClusterObject(construct, id, object);
    if (authority === "Cluster") return [add("Parked", parkPolicy(policy))];
    if (props.nodes === undefined) return [add("Policy", policy.source)];
    const selected = new Map(selectNodes(policy, props.nodes.all).map((node) => [node.name, node]));
    const children = [...this.nodes.values()].flatMap(({ name }): ApiObject[] => {
      const node = selected.get(name);
      if (node !== undefined) return [add(name, this.child(construct, node))];
      const cleanup = this.lines.cleanup(policy, this.nodes.get(name) as ClusterNode);
      return cleanup === undefined ? [] : [add(name, cleanup)];
    });
    const joinsLater = [...policy.captures.values()].some(({ pool }) => this.pools.get(pool)?.clusterRange.length);
    return joinsLater ? [...children, add("Parked", parkPolicy(policy))] : children;
  }

  /** Policies that are not in the app any more, whose nodes still have their addresses. */
  private ofGonePolicies(): ApiObject[] {
    const orphans = this.lines.orphans(
      this.constructs.map(({ policy }) => policy),
      [...this.nodes.values()],
    );
    if (orphans.length === 0 || this.home === undefined) return [];
    const scope = new Construct(Chart.of(this.home), "nodeippool-releasing");
    return orphans.map((object) => new ClusterObject(scope, object.metadata.name, object));
  }

  private child({ policy, props: { nodesPerSyncWave } }: NodeNetworkPolicy, node: ClusterNode): PolicyObject {
    const object = this.lines.child(policy, node, this.pools);
    const first = this.lines.firstAddress(policy, node, this.pools);
    if (nodesPerSyncWave === undefined || first === undefined) return object;
    const wave = 1n + (((first.address - first.pool.prefix.first) / BigInt(nodesPerSyncWave)) % 1_000_000n);
    const annotations = { ...(object.metadata.annotations as object | undefined), [syncWave]: `${wave}` };
    return { ...object, metadata: { ...object.metadata, annotations } };
  }
}

const syncWave = "argocd.argoproj.io/sync-wave";

function refuseTwins(app: Construct): void {
  const makers = new Map<string, ApiObject>();
  for (const object of app.node.findAll()) {
    if (!ApiObject.isApiObject(object) || object.kind !== "NodeNetworkConfigurationPolicy") continue;
    const other = makers.get(object.name);
    if (other !== undefined)
      throw new IpamError("invalid", `policy ${object.name} is made by ${other.node.path} and by ${object.node.path}`, {
        hint: "Rename one of them.",
      });
    makers.set(object.name, object);
  }
}
