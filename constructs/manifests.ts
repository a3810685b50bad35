import { ApiObject, type ApiObjectProps, Chart } from "cdk8s";
import { Construct } from "constructs";
import { IpamError } from "../core/index.ts";
import { isOfGroup } from "../integrations/networks/attachment-definition.ts";
import { readKinds } from "../pipeline/integrations.ts";
import { unknownField } from "../schema/nearest.ts";
import type { ClusterNode } from "../schema/node.ts";
import { asBag, type Bag } from "../schema/objects.ts";
import { AddressPlan } from "./address-plan.ts";
import type { Nodes } from "./nodes.ts";
import type { PlannedObject } from "./planned-construct.ts";

/** Objects as they would stand in a folder of manifests. */
export interface ManifestsProps {
  /** Networks, VMs, policies, and whatever goes with them. Each has its own namespace. */
  readonly objects: readonly ApiObjectProps[];

  /**
   * The nodes of the cluster, for objects that ask for addresses of nodes.
   *
   * @default - none
   */
  readonly nodes?: Nodes;
}

/**
 * Objects that take addresses as they are: VMs on networks that keep addresses, as docs/virtual-machines.md has it. In the manifests are these
 * objects, and beside them what `nodeippool render` makes of them. Objects that take no addresses stay as they are.
 */
export class Manifests extends Construct {
  /** Throws IpamError `invalid` for a name that two of them have, and for what is no object. */
  constructor(scope: Construct, id: string, props: ManifestsProps) {
    super(scope, id);
    const { path, scopes } = this.node;
    if (!scopes.some((one) => Chart.isChart(one)))
      throw new IpamError("invalid", `${path} must be in a chart: its objects are objects of that`);
    const unknown = unknownField(props, ["objects", "nodes"]);
    if (unknown !== undefined) throw new IpamError("invalid", `${path}: ${unknown}`);
    const kinds = readKinds();
    const plan = AddressPlan.of(this);
    for (const [i, object] of props.objects.entries()) {
      const { apiVersion, kind, metadata } = object;
      const name = asBag(metadata)?.name;
      if (typeof name !== "string") throw new IpamError("invalid", `${path}: objects[${i}] has no metadata.name`);
      const isOwned = kinds.some(
        (one) => one.kind === kind && isOfGroup(apiVersion, one.group) && one.owns(bagOf(object)),
      );
      const own = `${kind}-${metadata?.namespace ?? ""}-${name}`;
      if (this.node.tryFindChild(own) !== undefined)
        throw new IpamError("invalid", `${path}: objects has ${kind} ${name} twice`);
      if (isOwned) plan.addObject(new ManifestObject(this, own, bagOf(object), props.nodes?.all));
      else new ApiObject(this, own, object);
    }
  }
}

/** One of them that takes addresses. */
class ManifestObject extends Construct implements PlannedObject {
  /** @internal */
  readonly object: Bag;
  /** @internal */
  readonly nodes?: readonly ClusterNode[];

  constructor(scope: Construct, id: string, object: Bag, nodes: readonly ClusterNode[] | undefined) {
    super(scope, id);
    this.object = object;
    if (nodes !== undefined) this.nodes = nodes;
  }
}

function bagOf(object: ApiObjectProps): Bag {
  return { ...object };
}
