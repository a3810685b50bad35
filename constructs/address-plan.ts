import { type ApiObject, App } from "cdk8s";
import { Construct } from "constructs";
import { adviceOf, checkSet, IpamError, type Issue, type Plan, type Snapshot } from "../core/index.ts";
import { doubtfulRelease, firstRefusal } from "../pipeline/guards.ts";
import { type PlanOptions, type Proposal, propose, recorded } from "../pipeline/proposal.ts";
import { unknownField } from "../schema/nearest.ts";
import { covering } from "../state/index.ts";
import { Holders } from "./address-token.ts";
import { type AppDesired, type AppObjects, readApp } from "./app-objects.ts";
import { AppRecord, type LoadedState } from "./app-record.ts";
import { addRendered } from "./expansion.ts";
import type { PlannedObject, PlannedPool } from "./planned-construct.ts";
import { TokenResolver } from "./token-resolver.ts";

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
    const plan = AddressPlan.of(app);
    if (plan.props !== undefined) throw new IpamError("invalid", "AddressPlan.configure is called twice for one app");
    const unknown = unknownField(props, ["lock", "state", "set", "allowMove"]);
    if (unknown !== undefined) throw new IpamError("invalid", `AddressPlan.configure: ${unknown}`);
    if (props.set !== undefined) checkSet(props.set);
    if (props.state !== undefined && props.state?.snapshot === undefined)
      throw new IpamError("invalid", "AddressPlan.configure: state is what await loadState(backend) gives");
    if (props.lock !== undefined && props.state !== undefined)
      throw new IpamError("invalid", "AddressPlan.configure is given lock and state: the record is in one of them");
    plan.props = props;
    plan.record = new AppRecord(props);
    plan.last = undefined;
  }

  private props: AddressPlanProps | undefined;
  private readonly pools: PlannedPool[] = [];
  private readonly objects: PlannedObject[] = [];
  private last: { readonly count: number; readonly others: string; readonly holders: Holders } | undefined;
  private record = new AppRecord();
  private added: ApiObject[] = [];
  /** While the app is read: who is to hold what, as far as that is known. */
  private reading: { readonly holders: Holders | undefined } | undefined;

  private constructor(app: App) {
    super(app, "AddressPlan");
    plans.set(app, this);
    this.node.addValidation({ validate: () => this.validate() });
    app.resolvers.unshift(
      new TokenResolver(() => (this.reading ?? { holders: this.last?.holders ?? this.holders() }).holders),
    );
  }

  /**
   * What would have to change in the record; for backends that `nodeippool allocate` does not know, whose `commit`
   * takes it. Throws IpamError where claims cannot be met, and for a plan that releases addresses as a mistake would (a
   * selector that selects no node any more, all of a policy or pool, or at least half or a fifth of one), unless
   * `confirmRelease` is true.
   */
  plan({ confirmRelease = false }: { readonly confirmRelease?: boolean } = {}): Plan {
    return this.propose(this.present(), this.record.read().snapshot, confirmRelease).plan;
  }

  /** @internal Registers a pool of the app. */
  addPool(pool: PlannedPool): void {
    this.pools.push(pool);
    this.last = undefined;
  }

  /** @internal Registers a construct that takes addresses. */
  addObject(object: PlannedObject): void {
    this.objects.push(object);
    this.last = undefined;
  }

  /** cdk8s asks once for the app and once more for each chart. */
  private validate(): string[] {
    try {
      this.holders();
      return [];
    } catch (error) {
      if (error instanceof IpamError) return [adviceOf(error, "cdk8s")];
      throw error;
    }
  }

  /** What is in the app now: somebody may have taken some out. */
  private present(): AppObjects {
    const app = App.of(this);
    const all = new Set(app.node.findAll());
    return {
      app,
      pools: this.pools.filter((one) => all.has(one)),
      objects: this.objects.filter((one) => all.has(one)),
      added: this.added,
    };
  }

  /** Returns the allocations after the plan; plans, and makes the objects that follow, once. */
  private holders(): Holders {
    const present = this.present();
    // Whatever is added forgets the last plan, so that only a smaller count can mean other constructs.
    const count = present.pools.length + present.objects.length;
    // Of others' objects nothing tells: they are looked at each time.
    if (this.last?.count === count && this.last.others === othersOf(this.read(present, this.last.holders)))
      return this.last.holders;
    const snapshot = this.record.offered();
    // What is not recorded is drift here; who records it is asked by `nodeippool allocate`.
    const proposal = this.propose(present, snapshot, true);
    if (covering(proposal.plan, snapshot, doubtfulRelease(proposal)) === undefined)
      this.record.refuseDrift(proposal.plan, this.options.set);
    const desired = proposal.desired as AppDesired;
    for (const { node } of this.added) node.scope?.node.tryRemoveChild(node.id);
    this.added = [];
    this.last = undefined;
    this.added = addRendered(proposal.rendered(), present, desired);
    this.last = { count, others: othersOf(desired), holders: this.holdersOf(proposal.holdings.snapshot, present) };
    return this.last.holders;
  }

  /** Throws IpamError where a guard has something against the plan. An app without pools and claims plans nothing. */
  private propose(present: AppObjects, snapshot: Snapshot, confirmRelease: boolean): Proposal {
    const options = { ...this.options, confirmRelease };
    const read = (after?: Snapshot) =>
      this.read(present, after === undefined ? undefined : this.holdersOf(after, present));
    const isEmpty = present.pools.length + present.objects.length === 0;
    const proposal = isEmpty ? recorded(read, snapshot, options) : propose(read, snapshot, options);
    const refusal = firstRefusal(proposal);
    if (refusal !== undefined) throw new IpamError(refusal.code, refusal.issues.map(withPath));
    return proposal;
  }

  /** Tokens of the objects that are looked at become addresses meanwhile; before it is known which, they stay. */
  private read(present: AppObjects, holders: Holders | undefined): AppDesired {
    this.reading = { holders };
    try {
      return readApp(present, holders);
    } catch (error) {
      if (error instanceof IpamError) throw new IpamError(error.code, error.issues.map(withPath), { cause: error });
      throw error;
    } finally {
      this.reading = undefined;
    }
  }

  private holdersOf(snapshot: Snapshot, { pools }: AppObjects): Holders {
    return new Holders(
      snapshot,
      pools.map(({ pool }) => pool),
    );
  }

  private get options(): PlanOptions {
    return { set: this.props?.set ?? "default", allowMove: this.props?.allowMove ?? false };
  }
}

/** What may change without a word: objects of others, also those that constructs of ours speak for. */
function othersOf({ others, constructs }: AppDesired): string {
  const spoken = [...constructs].flatMap(([source, { subject }]) => (subject === undefined ? [] : source));
  return JSON.stringify([...others, ...spoken].map(({ object }) => object));
}

/** A construct has a path, and no line; what it is made of has fields. */
function withPath({ at, message, ...issue }: Issue): Issue {
  const place = [at?.file ?? [], issue.path?.join(".") ?? []].flat();
  return { ...issue, message: at === undefined ? message : [...place, message].join(": ") };
}
