import { Chart } from "cdk8s";
import { Construct } from "constructs";
import { IpamError, type Pool, unwrap } from "../core/index.ts";
import { parsePolicy } from "../integrations/nmstate/parse-policy.ts";
import { type Policy, waveAnnotation } from "../integrations/nmstate/policy.ts";
import { authorityOf } from "../integrations/nmstate/select.ts";
import { unknownField } from "../schema/nearest.ts";
import type { ClusterNode } from "../schema/node.ts";
import type { Bag } from "../schema/objects.ts";
import { captureClaims } from "./address-claim.ts";
import { AddressPlan } from "./address-plan.ts";
import type { DesiredState } from "./desired-state.ts";
import { named } from "./named.ts";
import type { Nodes } from "./nodes.ts";

/** A policy as nmstate has it, and the nodes it is for. */
export interface NodeNetworkPolicyProps {
  /**
   * The nodes that get a policy of their own, with literal addresses.
   *
   * @default - none: right where the cluster allocates (pools of authority Cluster), or nothing comes from a pool
   */
  readonly nodes?: Nodes;

  /**
   * Of `nodes`, only those that have all these labels.
   *
   * @default - all of `nodes`
   */
  readonly nodeSelector?: { readonly [label: string]: string };

  /** What nmstate is to make of each node. Claims of pools stand in it: `address: [pool.claim("eth1")]`. */
  readonly desiredState: DesiredState;

  /**
   * Captures of nmstate itself, by name; they are left to the handler.
   *
   * @default - none
   */
  readonly capture?: { readonly [name: string]: string };

  /**
   * How many nodes may be configured at once. It holds where the policy itself is in the cluster; see
   * `nodesPerSyncWave` for policies of single nodes.
   *
   * @default - nmstate's own, 50%
   */
  readonly maxUnavailable?: number | string;

  /**
   * Spreads the policies of single nodes over Argo CD sync waves, at most this many nodes in one. The wave follows
   * from the node's address, so that it never changes when other nodes come and go.
   *
   * @default - no waves
   */
  readonly nodesPerSyncWave?: number;

  /**
   * Metadata of the policy. Labels and annotations go to the policies of single nodes as well.
   *
   * @default - the name is the id of the construct
   */
  readonly metadata?: PolicyMetadata;
}

const fields: readonly (keyof NodeNetworkPolicyProps)[] = [
  "nodes",
  "nodeSelector",
  "desiredState",
  "capture",
  "maxUnavailable",
  "nodesPerSyncWave",
  "metadata",
];

/** What a policy, and the policies of single nodes after it, can have of a Kubernetes object's metadata. */
export interface PolicyMetadata {
  readonly name?: string;
  readonly labels?: { readonly [key: string]: string };
  readonly annotations?: { readonly [key: string]: string };
}

/**
 * A NodeNetworkConfigurationPolicy that takes addresses from pools. In the manifests it is one policy per node with
 * literal addresses; where the cluster allocates, it is the policy itself, parked for the controller.
 */
export class NodeNetworkPolicy extends Construct {
  /** The name of the policy. */
  readonly name: string;
  /** @internal */
  readonly object: Bag;
  /** @internal */
  readonly nodes?: readonly ClusterNode[];
  private readonly policy: Policy;

  /** Throws IpamError `invalid` with everything that is wrong with the policy. */
  constructor(scope: Construct, id: string, props: NodeNetworkPolicyProps) {
    super(scope, id);
    if (!this.node.scopes.some((one) => Chart.isChart(one)))
      throw new IpamError("invalid", `${this.node.path} must be in a chart: its policies are objects of that`);
    this.name = props.metadata?.name ?? id;
    const unknown = unknownField(props, fields);
    if (unknown !== undefined) throw new IpamError("invalid", `policy ${this.name}: ${unknown}`);
    if (props.nodes !== undefined && !Array.isArray(props.nodes?.all))
      throw new IpamError(
        "invalid",
        `policy ${this.name}: nodes is what Nodes.named, Nodes.of or Nodes.fromFile gives`,
      );
    const { nodesPerSyncWave } = props;
    if (nodesPerSyncWave !== undefined && !(Number.isInteger(nodesPerSyncWave) && nodesPerSyncWave > 0))
      throw new IpamError("invalid", `policy ${this.name}: nodesPerSyncWave must be a whole number above 0`);
    this.object = objectOf(this.name, props);
    this.policy = unwrap(named(`policy ${this.name}`, parsePolicy(this.object)));
    if (props.nodes !== undefined) this.nodes = props.nodes.all;
    AddressPlan.of(this).addObject(this);
  }

  /** @internal Pools must be in the app; those that are planned need nodes to plan for. */
  refusal(pools: readonly Pool[]): IpamError | undefined {
    const byName = new Map(pools.map((pool) => [pool.name, pool]));
    for (const [capture, { pool }] of this.policy.captures)
      if (!byName.has(pool))
        return new IpamError(
          "invalid",
          `capture ${capture} of policy ${this.name} asks for pool ${pool}, which is not in this app`,
          { hint: "Add it: new NodeIPPool(chart, id, { external: true, ... }) where another app applies it." },
        );
    if (this.nodes !== undefined || authorityOf(this.policy, byName) !== "Plan") return undefined;
    return new IpamError("invalid", `policy ${this.name} takes addresses from pools, but has no nodes`, {
      hint: 'Add nodes: Nodes.fromFile("nodes.yaml"), or leave the pools to the cluster (authority Cluster).',
    });
  }
}

function objectOf(name: string, props: NodeNetworkPolicyProps): { readonly [field: string]: unknown } {
  const { state, claims } = captureClaims(props.desiredState);
  const capture: Record<string, string> = { ...props.capture };
  for (const [claim, pools] of claims) {
    if (pools.size > 1 || Object.hasOwn(capture, claim))
      throw new IpamError("invalid", `policy ${name} has two claims or captures named ${claim}`, {
        hint: `Give each a name of its own: pool.claim("${claim}-2").`,
      });
    capture[claim] = `ippool.${[...pools][0]}.allocate`;
  }
  const { nodeSelector, maxUnavailable, nodesPerSyncWave, metadata: { labels, annotations: own } = {} } = props;
  const annotations = nodesPerSyncWave === undefined ? own : { ...own, [waveAnnotation]: `${nodesPerSyncWave}` };
  const captures = Object.keys(capture).length === 0 ? {} : { capture };
  const spec = { nodeSelector, ...captures, desiredState: state, maxUnavailable };
  const object = {
    apiVersion: "nmstate.io/v1",
    kind: "NodeNetworkConfigurationPolicy",
    metadata: { name, labels, annotations },
    spec,
  };
  return JSON.parse(JSON.stringify(object));
}
