import type { ApiObjectMetadata } from "cdk8s";
import { Construct } from "constructs";
import { type Pool, type PoolSpec, unwrap } from "../core/index.ts";
import { parseNodeIPPool } from "../schema/index.ts";
import { AddressClaim } from "./address-claim.ts";
import { AddressPlan } from "./address-plan.ts";
import { ClusterObject } from "./cluster-object.ts";
import { named } from "./named.ts";

/** `spec` of a NodeIPPool, and its metadata. */
export interface NodeIPPoolProps extends PoolSpec {
  /**
   * Metadata of the object.
   *
   * @default - the name is the id of the construct
   */
  readonly metadata?: ApiObjectMetadata;

  /**
   * Whether another app has the object. This one then only takes addresses from the pool, and must say the same of it.
   *
   * @default false
   */
  readonly external?: boolean;
}

/**
 * A pool of addresses, and the NodeIPPool object that shows it to the cluster. `authority` is Plan where it is not
 * said: this app decides, the cluster only audits.
 */
export class NodeIPPool extends Construct {
  /** The name of the pool. */
  readonly name: string;
  /** @internal */
  readonly pool: Pool;

  /** Throws IpamError `invalid` with everything that is wrong with the pool. */
  constructor(scope: Construct, id: string, props: NodeIPPoolProps) {
    super(scope, id);
    const { metadata, external, ...given } = props;
    this.name = metadata?.name ?? id;
    const object = {
      apiVersion: "nmstate.io/v1",
      kind: "NodeIPPool",
      metadata: { ...metadata, name: this.name },
      spec: { ...given, authority: given.authority ?? "Plan" },
    };
    const plain = JSON.parse(JSON.stringify({ ...object, metadata: { name: this.name } }));
    this.pool = unwrap(named(`pool ${this.name}`, parseNodeIPPool(plain)));
    // The copy that was checked: what the caller does to its own objects later changes neither.
    if (!external) new ClusterObject(this, "Resource", { ...object, spec: plain.spec });
    AddressPlan.of(this).addPool(this);
  }

  /**
   * An address of this pool for each node of the policy it stands in. The name tells the claims of one policy apart;
   * the record knows it as `Node/<node>/<policy>/<name>`.
   */
  claim(name: string): AddressClaim {
    return new AddressClaim(this.name, name);
  }

  /**
   * A text that becomes the address a node holds of this pool, in any object of the app. `claim` is
   * `<policy>/<name>`, and may be left out where the node has one claim on the pool.
   */
  addressOf(node: string, claim?: string): string {
    return `ippool://${this.name}/${node}${claim === undefined ? "" : `/${claim}`}`;
  }
}
