import { type ApiObject, App } from "cdk8s";
import { Construct } from "constructs";
import {
  adviceOf,
  checkSet,
  IpamError,
  type Plan,
  type Pool,
  plan,
  refuseBulkRelease,
  refusePending,
  type Snapshot,
} from "../core/index.ts";
import { type Holdings, heldAfter } from "../integrations/nmstate/hand-written.ts";
import { refuseWiping } from "../integrations/nmstate/neighbours.ts";
import { refuseSameName } from "../integrations/nmstate/same-name.ts";
import { refuseSharedNics } from "../integrations/nmstate/shared-nics.ts";
import { unknownField } from "../schema/nearest.ts";
import type { Bag } from "../schema/objects.ts";
import { applyPlan } from "../state/apply.ts";
import { covering } from "../state/index.ts";
import { Holders } from "./address-token.ts";
import { AppRecord, type LoadedState } from "./app-record.ts";
import { Expansion } from "./expansion.ts";
import type { NodeIPPool } from "./node-ip-pool.ts";
import type { NodeNetworkPolicy } from "./node-network-policy.ts";
import { otherPolicies, refuseWritten } from "./other-policies.ts";
import { claimsIn, speakersIn } from "./own-policies.ts";
import { refusePatchedTokens, TokenResolver } from "./token-resolver.ts";

/** Where an app's record is, and how it is planned. */
export interface AddressPlanProps {
  /**
   * Path of the lockfile.
   *
   * @default "nodeippool.lock" in the working folder
   */
  readonly lock?: string;

  /**
   * A record that lives elsewhere, loaded before.
   *
   * @default - the lockfile
   */
  readonly state?: LoadedState;

  /**
   * The claim set of this app. Apps that share a record need one each: what a set claims no more is released.
   *
   * @default "default"
   */
  readonly set?: string;

  /**
   * Let nodes lose an address and get another one of the same pool.
   *
   * @default false
   */
  readonly allowMove?: boolean;
}

const plans = new WeakMap<App, AddressPlan>();

/**
 * The one plan of an App, for all its charts. It is made when the app is synthesised, whatever the order in which
 * constructs were. Synthesis only reads, once: it fails where the record does not cover the plan.
 */
export class AddressPlan extends Construct {
  /** The plan of the app that a construct is in. It exists once anything of this package is in the app. */
  static of(scope: Construct): AddressPlan {
    const app = App.of(scope) as App;
    if (!Array.isArray(app.resolvers))
      throw new IpamError("invalid", `${scope.node.path} is in no App, so nothing can plan its addresses`);
    return plans.get(app) ?? new AddressPlan(app);
  }

  /**
   * Says where the record is, before or after other constructs are made. An app that has only `ippool://` tokens
   * and no construct of this package needs this call for them to be looked up.
   */
  static configure(app: App, props: AddressPlanProps = {}): void {
    const made = AddressPlan.of(app);
    if (made.props !== undefined) throw new IpamError("invalid", "AddressPlan.configure is called twice for one app");
    const stranger = unknownField(props, ["lock", "state", "set", "allowMove"]);
    if (stranger !== undefined) throw new IpamError("invalid", `AddressPlan.configure: ${stranger}`);
    if (props.set !== undefined) checkSet(props.set);
    if (props.state !== undefined && props.state?.snapshot === undefined)
      throw new IpamError("invalid", "AddressPlan.configure: state is what await loadState(backend) gives");
    if (props.lock !== undefined && props.state !== undefined)
      throw new IpamError("invalid", "AddressPlan.configure is given lock and state: the record is in one of them");
    made.props = props;
    made.record = new AppRecord(props);
    made.last = undefined;
  }

  private props: AddressPlanProps | undefined;
  private readonly pools: NodeIPPool[] = [];
  private readonly policies: NodeNetworkPolicy[] = [];
  private last: { readonly count: number; readonly others: string; readonly holders: Holders } | undefined;
  private record = new AppRecord();
  private objects: ApiObject[] = [];
  /** While others' policies are looked at: who is to hold what. */
  private planned: Holders | undefined;

  private constructor(app: App) {
    super(app, "AddressPlan");
    plans.set(app, this);
    this.node.addValidation({ validate: () => this.validate() });
    app.resolvers.unshift(new TokenResolver(() => this.planned ?? this.last?.holders ?? this.holders()));
  }

  /**
   * What would have to change in the record; for backends that `nodeippool allocate` does not know, whose `commit`
   * takes it. Throws IpamError where claims cannot be met, and for a plan that releases more than a fifth of the set's
   * addresses (and more than three), unless `confirmRelease` says that it is meant.
   */
  plan({ confirmRelease = false }: { readonly confirmRelease?: boolean } = {}): Plan {
    const { pools, policies } = this.present();
    const { snapshot } = this.record.read();
    const proposed = this.planFor(pools, policies, snapshot);
    if (!confirmRelease) refuseBulkRelease(proposed, snapshot);
    return proposed;
  }

  /** @internal */
  addPool(pool: NodeIPPool): void {
    this.pools.push(pool);
    this.last = undefined;
  }

  /** @internal */
  addPolicy(policy: NodeNetworkPolicy): void {
    this.policies.push(policy);
    this.last = undefined;
  }

  /** cdk8s asks once for the app and once more for each chart. */
  private validate(): string[] {
    try {
      this.holders();
      refusePatchedTokens(App.of(this));
      return [];
    } catch (error) {
      if (error instanceof IpamError) return [adviceOf(error, "cdk8s")];
      throw error;
    }
  }

  /** The constructs that are in the app now: somebody may have taken some out. */
  private present(): { pools: NodeIPPool[]; policies: NodeNetworkPolicy[] } {
    const all = new Set(App.of(this).node.findAll());
    return { pools: this.pools.filter((one) => all.has(one)), policies: this.policies.filter((one) => all.has(one)) };
  }

  /** Who holds what after the plan; makes it, and the objects that follow from it, unless that has been done. */
  private holders(): Holders {
    const { pools, policies } = this.present();
    // Whatever is added forgets the last plan, so that only a smaller count can mean other constructs.
    const count = pools.length + policies.length;
    // Of others' policies nothing tells: they are looked at each time.
    if (this.last?.count === count && this.last.others === JSON.stringify(this.others(this.last.holders)))
      return this.last.holders;
    const snapshot = count === 0 ? this.record.offered() : this.covered(pools, policies);
    const defined = pools.map(({ pool }) => pool);
    const holders = new Holders(snapshot, defined);
    if (count === 0) this.refuseOthers(defined, policies, heldAfter(snapshot), holders);
    const others = this.others(holders);
    const expansion = new Expansion({ pools, policies, others, snapshot, set: this.set });
    for (const { node } of this.objects) node.scope?.node.tryRemoveChild(node.id);
    this.objects = [];
    this.last = undefined;
    this.objects = expansion.addTo(App.of(this));
    this.last = { count, others: JSON.stringify(others), holders };
    return this.last.holders;
  }

  /** The policies of the app that are not ours, with the addresses that the plan gives. */
  private others(holders: Holders): Bag[] {
    this.planned = holders;
    try {
      return otherPolicies(App.of(this), this.objects);
    } finally {
      this.planned = undefined;
    }
  }

  private get set(): string {
    return this.props?.set ?? "default";
  }

  /** The record with everything that the app claims in it. */
  private covered(pools: readonly NodeIPPool[], policies: readonly NodeNetworkPolicy[]): Snapshot {
    const snapshot = this.record.offered();
    const made = this.planFor(pools, policies, snapshot);
    return covering(made, snapshot) ?? this.record.refuseDrift(made, this.set);
  }

  private planFor(pools: readonly NodeIPPool[], policies: readonly NodeNetworkPolicy[], snapshot: Snapshot): Plan {
    const defined: Pool[] = pools.map(({ pool }) => pool);
    const claims = claimsIn(policies, defined);
    refuseSameName(claims, snapshot, this.set);
    refuseSharedNics(claims, defined, snapshot.allocations, this.set);
    const made = plan({ pools: defined, claims, snapshot, set: this.set, allowMove: this.props?.allowMove ?? false });
    refusePending(made);
    const holders = new Holders(applyPlan(snapshot, made) ?? snapshot, defined);
    this.refuseOthers(defined, policies, heldAfter(snapshot, made), holders);
    return made;
  }

  /** Throws `in-use` and `invalid` for what policies of the app, ours and others', write out for or wipe from somebody. */
  private refuseOthers(
    pools: readonly Pool[],
    policies: readonly NodeNetworkPolicy[],
    held: Holdings,
    holders: Holders,
  ): void {
    const others = this.others(holders);
    refuseWritten({ policies, others, holders, pools }, held);
    refuseWiping(held.lines, speakersIn(policies, others, pools));
  }
}
