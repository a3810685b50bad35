import type { ClusterIntegration } from "../../../integrations/contract/cluster-integration.ts";
import { isDeleting } from "../../../integrations/contract/object-metadata.ts";
import { cleanups } from "../../../integrations/nmstate/cleanups.ts";
import { gates } from "../../../integrations/nmstate/gate.ts";
import { fleetInCluster, nmstateInCluster } from "../../../integrations/nmstate/in-cluster.ts";
import { asBag, type Bag } from "../../../schema/objects.ts";
import type { EnactmentState } from "../objects/handler-conditions.ts";
import { filledFrom } from "../real/captured-states.ts";
import { Game, kinds, type Machine, versionOf } from "./game.ts";
import type { Odds } from "./play.ts";

const enactments = kinds.NodeNetworkConfigurationEnactment;

/** What a handler knows of its node. */
interface Known {
  labels: string;
  /** The version of each policy that it has looked at. */
  readonly policies: Map<string, string>;
}

/**
 * Nodes whose policies have the fleet form, and handlers as those of kubernetes-nmstate 0.86: one looks at a policy when that is made,
 * changed or deleted, and at all of them when a label of its node changes. It reads the captured states of its enactment, evaluates
 * nothing beside them, and writes what it has read back later, over whatever was written meanwhile.
 */
export class FleetGame extends Game {
  edits = 0;
  /** How often a handler found no captured state. */
  failed = 0;
  /** How often the controllers were replaced by others that know the fleet form, or do not. */
  switches = 0;
  private isFleet = true;
  private isBeginning = false;
  private readonly stalled = new Set<Machine>();
  private readonly known = new Map<Machine, Known>();

  constructor(seed: number, odds: Odds) {
    super(seed, odds, false, fleetInCluster);
  }

  protected override change(): void {
    const changes = [
      () => this.edit(),
      () => this.deleteEnactment(),
      () => this.deleteEnactment(),
      () => this.replacePolicy(),
      () => this.stall(),
      () => this.switchForm(),
    ];
    (changes[this.pick(18)] ?? (() => super.change()))();
  }

  /** Somebody edits a policy: all handlers look at it. */
  private edit(): void {
    const policies = this.all("NodeNetworkConfigurationPolicy").filter(({ metadata }) => metadata.labels === undefined);
    const policy = policies[this.pick(policies.length)];
    if (policy === undefined) return;
    const mtu = 1400 + ++this.edits;
    this.trace.push(`edit ${policy.metadata.name} ${mtu}`);
    this.server.change(kinds.NodeNetworkConfigurationPolicy, policy.metadata.name, (one) => {
      const spec = asBag(one.spec);
      return { ...one, spec: { ...spec, desiredState: { ...asBag(spec?.desiredState), mtu } } };
    });
  }

  protected override served(): readonly ClusterIntegration[] {
    return [this.isFleet ? fleetInCluster : nmstateInCluster];
  }

  protected override reconcilers() {
    return [gates(this.isFleet), cleanups];
  }

  /** An upgrade, or a downgrade. */
  private switchForm(): void {
    this.isFleet = !this.isFleet;
    this.switches++;
    this.trace.push(`the controllers ${this.isFleet ? "know" : "do not know"} the fleet form from now on`);
    this.kill();
  }

  /** A handler hangs where it is, or goes on. */
  private stall(): void {
    const all = [...this.machines.values()];
    const machine = all[this.pick(all.length)];
    if (machine === undefined) return;
    this.trace.push(`the handler of ${machine.name} ${this.stalled.has(machine) ? "goes on" : "hangs"}`);
    if (!this.stalled.delete(machine)) this.stalled.add(machine);
  }

  override async calm(): Promise<void> {
    this.stalled.clear();
    await super.calm();
  }

  /** Somebody deletes a policy, and perhaps makes it anew at once. */
  private replacePolicy(): void {
    this.togglePolicy("b", "eth2", "q");
    if (this.pick(2) === 0) this.togglePolicy("b", "eth2", "q");
  }

  private deleteEnactment(): void {
    const all = this.all("NodeNetworkConfigurationEnactment").filter(({ metadata }) => metadata.name.includes("---"));
    const one = all[this.pick(all.length)];
    if (one === undefined) return;
    this.trace.push(`delete enactment ${one.metadata.name}`);
    this.server.remove(enactments, one);
  }

  protected override handle(machine: Machine): void {
    if (this.stalled.has(machine) || this.goOn(machine)) return;
    const known = this.known.get(machine) ?? { labels: "", policies: new Map() };
    this.known.set(machine, known);
    const node = this.server.objects.get(`nodes/${machine.name}`);
    const labels = asBag(node?.metadata.labels) ?? {};
    const isRelabelled = known.labels !== JSON.stringify(labels);
    known.labels = JSON.stringify(labels);
    const policies = new Map(this.all("NodeNetworkConfigurationPolicy").map((one) => [one.metadata.name, one]));
    for (const name of known.policies.keys())
      if (!policies.has(name)) {
        known.policies.delete(name);
        this.dropEnactment(machine, name);
      }
    for (const [name, policy] of policies) {
      const isChanged = known.policies.get(name) !== versionOf(policy);
      known.policies.set(name, versionOf(policy));
      const selector = Object.entries(asBag(asBag(policy.spec)?.nodeSelector) ?? {});
      const isSelected = selector.every(([label, value]) => labels[label] === value);
      if (isChanged || isRelabelled) {
        if (isSelected) machine.work.push(this.read(machine, policy));
        else this.dropEnactment(machine, name);
      } else if (isSelected && machine.failures.has(name) && this.isDue(machine, policy))
        machine.work.push(this.read(machine, policy));
    }
    for (const { metadata } of this.all("NodeNetworkConfigurationEnactment")) {
      const { labels: its = {} } = metadata;
      if (its["nmstate.io/node"] === machine.name && !policies.has(`${its["nmstate.io/policy"]}`))
        this.dropEnactment(machine, `${its["nmstate.io/policy"]}`);
    }
    if (machine.work.length === 0) this.reportState(machine);
  }

  protected override tryAgain(machine: Machine): void {
    super.tryAgain(machine);
    this.known.get(machine)?.policies.clear();
  }

  private dropEnactment({ name }: Machine, policy: string): void {
    const there = this.enactmentOf(name, policy);
    if (there !== undefined) this.server.remove(enactments, there);
  }

  private enactmentOf(node: string, policy: string) {
    return this.server.objects.get(`${enactments.plural}/${node}.${policy}`);
  }

  /** A policy, and what the enactment captures then. */
  private read(machine: Machine, policy: Bag): Bag {
    const { name } = policy.metadata as { name: string };
    const captured = asBag(this.enactmentOf(machine.name, name)?.status)?.capturedStates;
    return structuredClone({ ...policy, captured });
  }

  /** One that is deleted while its handler applies the policy is not made again: the handler applies it all the same. */
  protected override enactment(machine: Machine, policy: Bag, state: EnactmentState, message: string): void {
    const { name } = policy.metadata as { name: string };
    if (this.isBeginning || this.enactmentOf(machine.name, name) !== undefined)
      super.enactment(machine, policy, state, message);
  }

  protected override begin(machine: Machine, policy: Bag): void {
    this.isBeginning = true;
    this.beginWith(machine, policy);
    this.isBeginning = false;
  }

  private beginWith(machine: Machine, { captured, ...policy }: Bag): void {
    const spec = asBag(policy.spec) ?? {};
    if (spec.capture === undefined) {
      super.begin(machine, policy);
      return;
    }
    const { name } = policy.metadata as { name: string };
    const desiredState = filledFrom(captured, spec.desiredState);
    if (desiredState === undefined) {
      this.failed++;
      this.trace.push(`${machine.name} cannot generate ${name}`);
      this.enactment(machine, policy, "failing", "failure generating desiredState and capturedStates");
      return;
    }
    super.begin(machine, { ...policy, spec: { ...spec, desiredState } });
    this.server.change(enactments, `${machine.name}.${name}`, (one) => ({
      ...one,
      status: { ...asBag(one.status), desiredState, capturedStates: captured },
    }));
  }

  override checkRest(): void {
    super.checkRest();
    const policies = this.all("NodeNetworkConfigurationPolicy").map(({ metadata }) => metadata.name);
    const wrong = policies.filter((name) => (this.isFleet ? /[a-z]--[a-z]/.test(name) : name.endsWith("---fleet")));
    const left = this.all("NodeNetworkConfigurationEnactment").map(({ metadata }) => metadata.name);
    wrong.push(...left.filter((name) => name.endsWith("---cleanup")));
    // Of a policy that cannot be acted upon all stays as it is.
    const isMissing = this.all("NodeIPPool").filter((one) => !isDeleting(one)).length < 2;
    if (wrong.length > 0 && !isMissing) throw this.broken(`of the other form: ${wrong}`);
    for (const { metadata } of this.all("Node"))
      for (const label of Object.keys(metadata.labels ?? {}).filter((one) => /^(gate|cleanup)[.]/.test(one))) {
        const policy = `${label.split("/")[1]}---${label.startsWith("gate.") ? "fleet" : "cleanup"}`;
        if (this.enactmentOf(metadata.name, policy) === undefined)
          throw this.broken(`${metadata.name} has the gate of ${policy} without an enactment`);
      }
  }
}
