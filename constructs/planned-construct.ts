import type { ApiObject } from "cdk8s";
import type { Construct } from "constructs";
import type { IpamError, Pool } from "../core/index.ts";
import type { RenderedObject } from "../integrations/contract/integration.ts";
import type { ClusterNode } from "../schema/node.ts";
import type { Bag } from "../schema/objects.ts";

/** A construct that is a pool of the app's plan. */
export interface PlannedPool extends Construct {
  readonly pool: Pool;
}

/**
 * A construct whose object takes addresses from pools: an integration owns its kind. What the plan makes of it is added
 * below the construct when the app is synthesised.
 */
export interface PlannedObject extends Construct {
  /** The object, as it would stand in a folder of manifests. */
  readonly object: Bag;
  /** The nodes that it is for; absent where it is for those of all. */
  readonly nodes?: readonly ClusterNode[];
  /** What is wrong with it beside these pools. */
  refusal?(pools: readonly Pool[]): IpamError | undefined;
  /** The object of the app that it speaks for. */
  readonly subject?: ApiObject;
  /** Takes what is rendered of that; the rest is to be added. */
  takes?(rendered: readonly RenderedObject[]): readonly RenderedObject[];
}
