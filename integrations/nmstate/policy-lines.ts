import { type Allocation, IpamError, identityOf, nodeOwner, type Pool, policyOfKey } from "../../core/index.ts";
import type { ClusterNode } from "../../schema/node.ts";
import type { Bag } from "../../schema/objects.ts";
import type { Holdings, RenderedObject } from "../contract/integration.ts";
import { fleetEnactment } from "./captured.ts";
import { cleanupName, type Origin } from "./child.ts";
import { cleanupPolicy } from "./cleanup.ts";
import { cleanupEnactment } from "./cleanup-form.ts";
import type { DroppedRoutes } from "./dropped-routes.ts";
import { expandPolicy } from "./expand.ts";
import type { Leaving } from "./leaving.ts";
import { keyOfPolicy } from "./node-objects.ts";
import { asPolicy } from "./objects.ts";
import type { Policy, PolicyObject } from "./policy.ts";
import { nicsIn } from "./releasing.ts";
import { claimName } from "./select.ts";
import { hasGates, isSharedCleanup } from "./shared-policy.ts";
import { inItsWave } from "./sync-wave.ts";
import { isGivenBy, listsOf } from "./taken-off.ts";

/** The live lines of a set, by policy, node and capture. */
export class LiveLines {
  private readonly lines: ReadonlyMap<string, Allocation>;

  constructor({ snapshot, set }: Holdings) {
    this.lines = new Map(snapshot.allocations.filter((l) => l.set === set).map((l) => [identityOf(l), l]));
  }

  of(policy: Policy, node: ClusterNode, capture: string, pool: string): Allocation | undefined {
    return this.lines.get(identityOf({ pool, claim: `${nodeOwner(node.name)}/${claimName(policy, capture)}` }));
  }

  /** Returns whether a node has an address for each capture of a policy. */
  cover(policy: Policy, node: ClusterNode): boolean {
    return [...policy.captures].every(([capture, { pool }]) => this.of(policy, node, capture, pool) !== undefined);
  }
}

/** Finds a policy by its name, if it does not select a node, or no longer. */
export type LeftPolicies = (name: string, node: ClusterNode) => Policy | undefined;

/** Returns the routes that the policy of a node had before; undefined if they are unknown. */
export type DroppedFor = (policy: Policy, node: ClusterNode) => DroppedRoutes | undefined;

/** The record, looked up the way a renderer asks. */
export class PolicyLines {
  private readonly live: LiveLines;
  private readonly leaving: Leaving;
  private readonly left: LeftPolicies;
  private readonly droppedFor: DroppedFor;
  private readonly find: (key: string) => Bag | undefined;

  constructor(
    live: LiveLines,
    leaving: Leaving,
    left: LeftPolicies,
    droppedFor: DroppedFor,
    find: (key: string) => Bag | undefined = () => undefined,
  ) {
    this.find = find;
    this.droppedFor = droppedFor;
    this.live = live;
    this.leaving = leaving;
    this.left = left;
  }

  private addresses(policy: Policy, node: ClusterNode, pools: ReadonlyMap<string, Pool>) {
    const entries = [...policy.captures].map(([capture, { pool }]) => {
      const line = this.live.of(policy, node, capture, pool);
      if (line === undefined) {
        const key = `${nodeOwner(node.name)}/${claimName(policy, capture)}`;
        throw new IpamError("stale", `no address is recorded for ${key} in pool ${pool}`);
      }
      return [capture, { address: line.address, pool: pools.get(pool) as Pool }] as const;
    });
    return new Map(entries);
  }

  /** The policies of a node that a policy is for. Throws `stale` if the record does not cover it. */
  children(policy: Policy, node: ClusterNode, pools: ReadonlyMap<string, Pool>): PolicyObject[] {
    const addresses = this.addresses(policy, node, pools);
    const releasing = this.leaving.of(policy.name, node);
    const replaced = this.leaving.replacedBy(policy.name, node).map((line) => {
      const left = this.left(policyOfKey(line.claim), node);
      return { line, pool: pools.get(line.pool), desiredState: left?.desiredState };
    });
    const dropped = this.droppedFor(policy, node);
    const made = expandPolicy({ policy, node, addresses, releasing, replaced, ...(dropped && { dropped }) });
    return made.map((one) => inItsWave(one, policy, addresses));
  }

  /** The enactment of a node for the fleet form of a policy. Throws as `children`. */
  enactment(policy: Policy, node: ClusterNode, pools: ReadonlyMap<string, Pool>): RenderedObject {
    return fleetEnactment(policy, node, this.addresses(policy, node, pools));
  }

  /** Returns whether an object gives a node an address that it has for a policy. */
  isGivenBy(object: Bag | undefined, policy: Policy, node: ClusterNode): boolean {
    const lists = listsOf(asPolicy(object).spec.desiredState);
    return [...policy.captures].some(([capture, { pool }]) => {
      const line = this.live.of(policy, node, capture, pool);
      return line !== undefined && isGivenBy(line, lists);
    });
  }

  /** What takes old addresses off NICs that the fleet form of a policy leaves alone. Undefined if there is nothing. */
  cleanupBeside(policy: Policy, node: ClusterNode): RenderedObject | undefined {
    const nics = nicsIn(policy.source);
    const others = this.leaving.of(policy.name, node).filter(({ interface: nic = "" }) => !nics.includes(nic));
    return this.shared(policy, node, cleanupPolicy(policy, node, others));
  }

  /** The same as `cleanup`, in the fleet form. */
  sharedCleanup(policy: Origin, node: ClusterNode): RenderedObject | undefined {
    return this.shared(policy, node, this.cleanup(policy, node));
  }

  /**
   * Returns what one policy for many nodes does in the place of a clean-up policy. One with captures of its own reads the node, so it
   * stays; so it does where a policy of somebody else has the name of the one for many.
   */
  private shared({ name }: Origin, node: ClusterNode, cleanup: PolicyObject | undefined): RenderedObject | undefined {
    if (cleanup === undefined || cleanup.spec.capture !== undefined || !hasGates(name)) return cleanup;
    const there = this.find(keyOfPolicy(cleanupName(name)));
    if (there !== undefined && !isSharedCleanup(there)) return cleanup;
    return cleanupEnactment(name, node, cleanup.spec.desiredState);
  }

  /** What is left to do on a node that a policy is for no more: to give addresses up. Undefined if there is nothing. */
  cleanup(policy: Origin, node: ClusterNode): PolicyObject | undefined {
    return cleanupPolicy(policy, node, this.leaving.of(policy.name, node));
  }

  /** Clean-up policies of policies that are gone. */
  orphans(policies: readonly Policy[], nodes: readonly ClusterNode[], isFleet: boolean): RenderedObject[] {
    const known = new Set(policies.map((policy) => policy.name));
    return this.leaving.policies
      .filter((name) => !known.has(name))
      .flatMap((name) =>
        nodes.map((node) => (isFleet ? this.sharedCleanup({ name }, node) : this.cleanup({ name }, node))),
      )
      .filter((object) => object !== undefined);
  }
}
