import * as pulumi from "@pulumi/pulumi";
import { childName, childPolicy } from "../nmstate/child.ts";
import { hostnameLabel } from "../schema/node.ts";
import { customResource } from "./kubernetes.ts";

/** Metadata of objects without a namespace. */
export interface MetadataArgs {
  readonly name?: string;
  readonly labels?: { readonly [key: string]: string };
  readonly annotations?: { readonly [key: string]: string };
}

/** A node by name, and by its hostname label where that is another one. */
export type NodeArgs = string | { readonly name: string; readonly hostname: string };

/** A policy, and the nodes it is for. */
export interface NodeNetworkPolicyArgs {
  readonly nodes: readonly NodeArgs[];
  /** What nmstate is to make of a node; claims of an AllocationSet stand in its address lists. */
  readonly desiredState: (node: string) => pulumi.Input<object>;
  /** Captures of nmstate itself; they are left to the handler. */
  readonly capture?: { readonly [name: string]: string };
  /** So many nodes are changed at once; the next ones wait until they are. Default: all at once. */
  readonly batchSize?: number;
  /** Goes to every node's policy. Default: the name of the component is the name of the policy. */
  readonly metadata?: MetadataArgs;
}

/** One NodeNetworkConfigurationPolicy for each node, with literal addresses. */
export class NodeNetworkPolicy extends pulumi.ComponentResource {
  /** The objects as they go to the cluster, in the order of their nodes' names. */
  readonly manifests: pulumi.Output<object[]>;

  constructor(name: string, args: NodeNetworkPolicyArgs, opts?: pulumi.ComponentResourceOptions) {
    super("nodeippool:index:NodeNetworkPolicy", name, {}, opts);
    const policy = { labels: {}, annotations: {}, ...args.metadata, name: args.metadata?.name ?? name };
    const nodes = args.nodes
      .map((node) => (typeof node === "string" ? { name: node, hostname: node } : node))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    const objects = nodes.map((node) => {
      const known = { name: node.name, labels: new Map([[hostnameLabel, node.hostname]]), bare: true };
      return childPolicy(policy, known, { capture: args.capture, desiredState: args.desiredState(node.name) });
    });
    const size = args.batchSize ?? nodes.length;
    const made: pulumi.Resource[] = [];
    for (const [i, object] of objects.entries()) {
      const batch = Math.floor(i / size);
      const dependsOn = batch === 0 ? [] : made.slice((batch - 1) * size, batch * size);
      made.push(customResource(childName(name, nodes[i]?.name as string), object, { parent: this, dependsOn }));
    }
    this.manifests = pulumi.output(objects as object[]);
    this.registerOutputs({ manifests: this.manifests });
  }
}
