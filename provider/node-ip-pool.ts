import * as pulumi from "@pulumi/pulumi";
import type { PoolSpec } from "../core/index.ts";
import { parsePoolSpec } from "../schema/node-ip-pool.ts";
import { customResource } from "./kubernetes.ts";
import { checkMetadata, type MetadataArgs } from "./node-network-policy.ts";
import { takeObject } from "./pools-of-program.ts";
import { checkFields, isLate, refusal } from "./refuse.ts";

/** A pool, for the cluster to see. */
export interface NodeIPPoolArgs {
  /** The pool, as an AllocationSet has it. */
  readonly spec: PoolSpec;
  /** Default: the name of the component is the name of the pool. */
  readonly metadata?: MetadataArgs;
}

/**
 * Shows a pool to the cluster as a NodeIPPool. Its authority is Plan where the spec does not say Cluster: the cluster
 * audits the pool and allocates nothing.
 */
export class NodeIPPool extends pulumi.ComponentResource {
  /** Throws pulumi.RunError for a pool that is none, and for one that another NodeIPPool of the program shows to the same cluster. */
  constructor(name: string, args: NodeIPPoolArgs, opts?: pulumi.ComponentResourceOptions) {
    const refuse = refusal(`NodeIPPool ${name}`);
    checkFields(refuse, "", args, ["spec", "metadata"]);
    checkMetadata(refuse, args.metadata);
    if (isLate(args.spec)) refuse("spec must be known, not an output or a promise");
    const { spec, metadata } = args;
    super("nodeippool:index:NodeIPPool", name, {}, opts);
    const named = { ...metadata, name: metadata?.name ?? name };
    for (const { message } of parsePoolSpec(named.name, spec).issues ?? [])
      throw new pulumi.RunError(`pool ${named.name}: ${message}`);
    takeObject("NodeIPPool", named.name, name, this);
    const object = {
      apiVersion: "nmstate.io/v1",
      kind: "NodeIPPool",
      metadata: named,
      spec: { ...spec, authority: spec.authority ?? "Plan" },
    };
    customResource(name, object, { parent: this });
    this.registerOutputs();
  }
}
