import { ApiObject, Chart } from "cdk8s";
import type { Construct } from "constructs";
import { byCodeUnit, type Pool, type Snapshot } from "../core/index.ts";
import { parkPolicy, servesLaterNodes } from "../integrations/nmstate/expand.ts";
import { Makers } from "../integrations/nmstate/makers.ts";
import { PolicyLines } from "../integrations/nmstate/policy-lines.ts";
import { selectNodes } from "../integrations/nmstate/select.ts";
import { inLastWave } from "../integrations/nmstate/sync-wave.ts";
import type { ClusterNode } from "../schema/node.ts";
import { asBag, type Bag } from "../schema/objects.ts";
import type { PolicyObject } from "../schema/policy.ts";
import { ClusterObject } from "./cluster-object.ts";
import type { NodeIPPool } from "./node-ip-pool.ts";
import type { NodeNetworkPolicy } from "./node-network-policy.ts";
import { authorityOf, nodesOf, speakersIn } from "./own-policies.ts";

/** An object, and where in the tree it goes. */
interface Addition {
  readonly scope: Construct;
  readonly id: string;
  readonly object: PolicyObject;
}

/** What an expansion is made from. */
export interface ExpansionProps {
  readonly pools: readonly NodeIPPool[];
  readonly policies: readonly NodeNetworkPolicy[];
  /** The policies that somebody else makes in the app. */
  readonly others: readonly Bag[];
  readonly snapshot: Snapshot;
  readonly set: string;
}

/** The objects that follow from a plan: a policy for each node, parked policies, clean-ups. */
export class Expansion {
  private readonly pools: ReadonlyMap<string, Pool>;
  private readonly constructs: readonly NodeNetworkPolicy[];
  private readonly lines: PolicyLines;
  private readonly nodes: ReadonlyMap<string, ClusterNode>;
  private readonly additions: readonly Addition[];
  private readonly others: readonly Bag[];

  constructor({ pools, policies, others, snapshot, set }: ExpansionProps) {
    this.pools = new Map(pools.map(({ pool }) => [pool.name, pool]));
    this.constructs = policies;
    this.others = others;
    this.lines = new PolicyLines(snapshot, set, speakersIn(policies, others, [...this.pools.values()]));
    this.nodes = nodesOf(policies);
    const [home] = [...pools, ...policies].flatMap(chartOf).sort((a, b) => byCodeUnit(a.node.path, b.node.path));
    this.additions = [...policies.flatMap((one) => this.ofPolicy(one)), ...(home ? this.ofGonePolicies(home) : [])];
  }

  /** Adds them to their constructs. Throws `invalid`, and adds none, if one has the name of another policy of the app. */
  addTo(app: Construct): ApiObject[] {
    refuseSameNames(app, this.additions, this.others);
    return this.additions.map(({ scope, id, object }) => new ClusterObject(scope, id, object));
  }

  private ofPolicy(scope: NodeNetworkPolicy): Addition[] {
    const { policy, props } = scope;
    const authority = authorityOf(scope, [...this.pools.values()]);
    if (authority === "Cluster") return [{ scope, id: "Parked", object: parkPolicy(policy) }];
    if (props.nodes === undefined) return [{ scope, id: "Policy", object: policy.source }];
    const selected = new Map(selectNodes(policy, props.nodes.all).map((node) => [node.name, node]));
    const children = [...this.nodes.values()].flatMap((known): Addition[] => {
      const node = selected.get(known.name);
      const object =
        node === undefined ? this.lines.cleanup(policy, known) : this.lines.child(policy, node, this.pools);
      return object === undefined ? [] : [{ scope, id: known.name, object }];
    });
    if (!servesLaterNodes(policy, this.pools)) return children;
    return [...children, { scope, id: "Parked", object: inLastWave(parkPolicy(policy), policy) }];
  }

  /** Policies that are not in the app any more, whose nodes still have their addresses. */
  private ofGonePolicies(scope: Chart): Addition[] {
    const known = this.constructs.map(({ policy }) => policy);
    return this.lines.orphans(known, [...this.nodes.values()]).map((object) => ({
      scope,
      id: `nodeippool-releasing-${object.metadata.name}`,
      object,
    }));
  }
}

/** The chart that a construct is in; a pool that another app has need not be in one. */
function chartOf({ node }: Construct): Chart[] {
  return node.scopes.filter((scope) => Chart.isChart(scope)).slice(-1);
}

function refuseSameNames(app: Construct, additions: readonly Addition[], others: readonly Bag[]): void {
  const makers = new Makers();
  const alone = new Set<unknown>();
  for (const object of app.node.findAll())
    if (ApiObject.isApiObject(object) && object.kind === "NodeNetworkConfigurationPolicy") {
      makers.take(object.name, object.node.path);
      alone.add(object.name);
    }
  const listed = new Set(others.map(({ metadata }) => asBag(metadata)?.name).filter((name) => !alone.has(name)));
  for (const name of listed) makers.take(String(name), "a List");
  for (const { scope, object } of additions) makers.take(object.metadata.name, scope.node.path);
}
