import { type ApiObject, App, type IResolver, type ResolutionContext } from "cdk8s";
import { Construct } from "constructs";
import {
  describeChanges,
  IpamError,
  type Plan,
  type Pool,
  plan,
  refusePending,
  replacedOwners,
  type Snapshot,
} from "../core/index.ts";
import { type Holdings, heldAfter } from "../nmstate/hand-written.ts";
import { refuseWiping } from "../nmstate/neighbours.ts";
import { refuseNoPolicy, refuseSharedNics } from "../nmstate/select.ts";
import type { Bag } from "../schema/objects.ts";
import { applyPlan } from "../state/apply.ts";
import { covering, lockfile, type StateBackend, withOffers } from "../state/index.ts";
import { refuseClaimText } from "./address-claim.ts";
import { Holders, replaceTokens, scheme } from "./address-token.ts";
import { adviceOf, clusterOptions, lockOption } from "./advice.ts";
import { claimsIn, Expansion, speakersIn } from "./expansion.ts";
import type { NodeIPPool } from "./node-ip-pool.ts";
import type { NodeNetworkPolicy } from "./node-network-policy.ts";
import { otherPolicies, refuseWritten } from "./other-policies.ts";

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

/** A record at the moment it was loaded. */
export interface LoadedState {
  readonly name: string;
  readonly snapshot: Snapshot;
  /** Of a record in a cluster: what it was opened with. */
  readonly where?: StateBackend["where"];
}

/** Loads a record that cannot be read while constructs are made: `await loadState(backend)` before `new App()`. */
export async function loadState(backend: StateBackend): Promise<LoadedState> {
  return { name: backend.name, snapshot: await backend.read(), where: backend.where };
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
    made.props = props;
    made.record = undefined;
    made.last = undefined;
  }

  private props: AddressPlanProps | undefined;
  private readonly pools: NodeIPPool[] = [];
  private readonly policies: NodeNetworkPolicy[] = [];
  private last: { readonly count: number; readonly others: string; readonly holders: Holders } | undefined;
  private record: LoadedState | undefined;
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
   * takes it. Throws IpamError where claims cannot be met.
   */
  plan(): Plan {
    const { pools, policies } = this.present();
    return this.planFor(pools, policies, this.read().snapshot);
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
      return [];
    } catch (error) {
      const isOwn = this.props?.state !== undefined && this.props.state.where === undefined;
      if (error instanceof IpamError) return [adviceOf(error, isOwn ? "" : this.option)];
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
    const snapshot = count === 0 ? this.asOffered() : this.covered(pools, policies);
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

  private read(): LoadedState {
    const { state, lock = "nodeippool.lock" } = this.props ?? {};
    this.record ??= state ?? { name: lock, snapshot: lockfile(lock).readSync() };
    return this.record;
  }

  private asOffered(): Snapshot {
    const { name, snapshot } = this.read();
    return withOffers(snapshot, name);
  }

  /** The record with everything that the app claims in it. */
  private covered(pools: readonly NodeIPPool[], policies: readonly NodeNetworkPolicy[]): Snapshot {
    const { name } = this.read();
    const snapshot = this.asOffered();
    const made = this.planFor(pools, policies, snapshot);
    const covered = covering(made, snapshot);
    if (covered !== undefined) return covered;
    const isKnown = snapshot.allocations.some((line) => line.set === this.set);
    const what = isKnown ? `${name} is not up to date with the app:` : `the app is not recorded in ${name}:`;
    throw new IpamError("stale", [what, ...describeChanges(made)].join("\n    "), {
      hint: `Run nodeippool allocate${this.option} -- npx cdk8s synth, ${this.afterwards}.`,
    });
  }

  /** What tells the command line of this record. */
  private get option(): string {
    if (this.props?.state !== undefined) return clusterOptions(this.props.state.where);
    return this.props?.lock === undefined ? "" : lockOption(this.props.lock);
  }

  private get afterwards(): string {
    if (this.props?.state?.where !== undefined) return "and synthesise anew";
    if (this.props?.state === undefined) return "review the record, and commit it";
    return "or, for a backend of your own, commit AddressPlan.of(app).plan() to it";
  }

  private planFor(pools: readonly NodeIPPool[], policies: readonly NodeNetworkPolicy[], snapshot: Snapshot): Plan {
    const defined: Pool[] = pools.map(({ pool }) => pool);
    const claims = claimsIn(policies, defined);
    refuseSharedNics(claims, defined, snapshot.allocations, this.set);
    const made = plan({ pools: defined, claims, snapshot, set: this.set, allowMove: this.props?.allowMove ?? false });
    refusePending(made);
    refuseNoPolicy(
      policies.map(({ policy }) => policy),
      made,
    );
    const replaced = this.props?.allowMove ? undefined : replacedOwners(made, snapshot);
    if (replaced) throw replaced;
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
    refuseWritten({ policies, others, holders }, held);
    refuseWiping(held.lines, speakersIn(policies, others, pools));
  }
}

class TokenResolver implements IResolver {
  private readonly holders: () => Holders;

  constructor(holders: () => Holders) {
    this.holders = holders;
  }

  resolve(context: ResolutionContext): void {
    const { value } = context;
    if (typeof value === "string") {
      refuseClaimText(value);
      if (value.includes(scheme)) context.replaceValue(replaceTokens(value, this.holders()));
    } else if (typeof value === "object" && value !== null && Object.keys(value).some((key) => key.includes(scheme)))
      context.replaceValue(
        Object.fromEntries(Object.entries(value).map(([key, item]) => [replaceTokens(key, this.holders()), item])),
      );
  }
}
