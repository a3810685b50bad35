import { type ApiObjectMetadata, Chart } from "cdk8s";
import { Construct } from "constructs";
import { IpamError, unwrap } from "../core/index.ts";
import { attachmentGroup, attachmentKind, configPath } from "../integrations/networks/attachment-definition.ts";
import { parseAttachment } from "../integrations/whereabouts/attachment.ts";
import { unknownField } from "../schema/nearest.ts";
import type { ClusterNode } from "../schema/node.ts";
import type { Bag } from "../schema/objects.ts";
import { AddressPlan } from "./address-plan.ts";
import { named } from "./named.ts";
import type { Nodes } from "./nodes.ts";

/** A network whose nodes have a slice each, and the nodes. */
export interface NodeSliceNetworkProps {
  /** The configuration of CNI: one plugin, or a list of plugins. Its IPAM is whereabouts, with `node_slice_size`. */
  readonly config: { readonly [field: string]: unknown };

  /** The nodes that get a slice. */
  readonly nodes: Nodes;

  /**
   * Metadata of the NetworkAttachmentDefinition.
   *
   * @default - the name is the id of the construct, the namespace is that of the chart
   */
  readonly metadata?: ApiObjectMetadata;
}

/**
 * A NetworkAttachmentDefinition whose pods get addresses of the slice of their node, as docs/node-slices.md has it. In the
 * manifests is the NodeSlicePool beside it, from which whereabouts reads the slices.
 */
export class NodeSliceNetwork extends Construct {
  /** The name of the network, and of its NodeSlicePool. */
  readonly name: string;
  /** @internal */
  readonly object: Bag;
  /** @internal */
  readonly nodes: readonly ClusterNode[];

  /** Throws IpamError `invalid` with everything that is wrong with the configuration. */
  constructor(scope: Construct, id: string, props: NodeSliceNetworkProps) {
    super(scope, id);
    const { path, scopes } = this.node;
    if (!scopes.some((one) => Chart.isChart(one)))
      throw new IpamError("invalid", `${path} must be in a chart: its network is an object of that`);
    const unknown = unknownField(props, ["config", "nodes", "metadata"]);
    if (unknown !== undefined) throw new IpamError("invalid", `${path}: ${unknown}`);
    const { namespace = "default" } = Chart.of(this);
    this.object = {
      apiVersion: `${attachmentGroup}/v1`,
      kind: attachmentKind,
      metadata: { namespace, ...props.metadata, name: props.metadata?.name ?? id },
      spec: { config: JSON.stringify(props.config) },
    };
    const attachment = unwrap(named(path, parseAttachment(this.object)));
    if (attachment === undefined)
      throw new IpamError(
        "invalid",
        `${path}: ${configPath.join(".")} has no IPAM of type whereabouts with node_slice_size`,
      );
    this.name = attachment.network;
    this.nodes = props.nodes.all;
    AddressPlan.of(this).addObject(this);
  }
}
