import { existsSync } from "node:fs";
import { type ApiObject, App, type IResolver, type ResolutionContext } from "cdk8s";
import { Construct } from "constructs";
import { describeChanges, IpamError, type Plan, type Pool, plan, refusePending, type Snapshot } from "../core/index.ts";
import { refuseSharedNics } from "../nmstate/index.ts";
import { covering, lockfile, type StateBackend, withOffers } from "../state/index.ts";
import { Holders, replaceTokens } from "./address-token.ts";
import { claimsIn, Expansion } from "./expansion.ts";
import type { NodeIPPool } from "./node-ip-pool.ts";
import type { NodeNetworkPolicy } from "./node-network-policy.ts";

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
}

/** Loads a record that cannot be read while constructs are made: `await loadState(backend)` before `new App()`. */
export async function loadState(backend: StateBackend): Promise<LoadedState> {
  return { name: backend.name, snapshot: await backend.read() };
}

/**
 * The one plan of an App, for all its charts. It is made when the app is synthesised, whatever the order in which
 * constructs were. Synthesis only reads: it fails where the record does not cover the plan.
 */
export class AddressPlan extends Construct {
  /** The plan of the app that a construct is in. It exists once anything of this package is in the app. */
  static of(scope: Construct): AddressPlan {
    const app = App.of(scope) as App;
    return (app.node.tryFindChild(planId) as AddressPlan | undefined) ?? new AddressPlan(app);
  }

  /**
   * Says where the record is, before or after other constructs are made. An app that has only `ippool://` tokens
   * and no construct of this package needs this call for them to be looked up.
   */
  static configure(app: App, props: AddressPlanProps = {}): void {
    const made = AddressPlan.of(app);
    if (made.props !== undefined) throw new IpamError("invalid", "AddressPlan.configure is called twice for one app");
    made.props = props;
  }

  private props: AddressPlanProps | undefined;
  private readonly pools: NodeIPPool[] = [];
  private readonly policies: NodeNetworkPolicy[] = [];
  private last: { readonly of: readonly Construct[]; readonly holders: Holders } | undefined;
  private objects: ApiObject[] = [];

  private constructor(app: App) {
    super(app, planId);
    this.node.addValidation({ validate: () => this.validate() });
    app.resolvers.unshift(new TokenResolver(() => this.holders()));
  }

  /** @internal */
  addPool(pool: NodeIPPool): void {
    this.pools.push(pool);
  }

  /** @internal */
  addPolicy(policy: NodeNetworkPolicy): void {
    this.policies.push(policy);
  }

  /** cdk8s asks once for the app and once more for each chart. */
  private validate(): string[] {
    try {
      this.holders();
      return [];
    } catch (error) {
      if (error instanceof IpamError) return [error.message];
      throw error;
    }
  }

  /** Who holds what after the plan; makes it, and the objects that follow from it, unless that has been done. */
  private holders(): Holders {
    const present = new Set(App.of(this).node.findAll());
    const pools = this.pools.filter((pool) => present.has(pool));
    const policies = this.policies.filter((policy) => present.has(policy));
    const of = [...pools, ...policies];
    if (this.last?.of.length === of.length && of.every((construct, i) => construct === this.last?.of[i]))
      return this.last.holders;
    for (const { node } of this.objects) node.scope?.node.tryRemoveChild(node.id);
    const snapshot = of.length === 0 ? this.read().snapshot : this.covered(pools, policies);
    this.objects = new Expansion(pools, policies, snapshot, this.set).objects();
    this.last = { of, holders: new Holders(snapshot) };
    return this.last.holders;
  }

  private get set(): string {
    return this.props?.set ?? "default";
  }

  private read(): LoadedState {
    const { state, lock = "nodeippool.lock" } = this.props ?? {};
    const { name, snapshot } = state ?? { name: lock, snapshot: lockfile(lock).readSync() };
    return { name, snapshot: withOffers(snapshot) };
  }

  /** The record with everything that the app claims in it. */
  private covered(pools: readonly NodeIPPool[], policies: readonly NodeNetworkPolicy[]): Snapshot {
    const { name, snapshot } = this.read();
    const defined: Pool[] = pools.map(({ pool }) => pool);
    const claims = policies.flatMap((policy) => claimsIn(policy, defined));
    const others = snapshot.allocations.filter((line) => line.set !== this.set);
    refuseSharedNics(claims, defined, others);
    const made = plan({ pools: defined, claims, snapshot, set: this.set, allowMove: this.props?.allowMove ?? false });
    refusePending(made);
    return covering(made, snapshot) ?? refuseDrift(made, name);
  }
}

const planId = "nodeippool";

function refuseDrift(made: Plan, name: string): never {
  const what = existsSync(name) ? `${name} is not up to date with the app:` : `the app is not recorded in ${name}:`;
  throw new IpamError("stale", [what, ...describeChanges(made)].join("\n    "), {
    hint: "Run nodeippool allocate -- npx cdk8s synth, review the record, and commit it.",
  });
}

class TokenResolver implements IResolver {
  private readonly holders: () => Holders;

  constructor(holders: () => Holders) {
    this.holders = holders;
  }

  resolve(context: ResolutionContext): void {
    if (typeof context.value !== "string" || !context.value.includes("ippool://")) return;
    context.replaceValue(replaceTokens(context.value, this.holders()));
  }
}
