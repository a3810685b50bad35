import { eventOfProblem } from "../../../controller/events.ts";
import type { ClusterIntegration } from "../../../integrations/contract/cluster-integration.ts";
import { objectKey } from "../../../integrations/contract/object-key.ts";
import type { Objects } from "../../../kube/index.ts";
import { integrationsInCluster, reconcilersInCluster } from "../../../pipeline/integrations.ts";
import { asBag, asList, type Bag } from "../../../schema/objects.ts";
import { type AddressOfOwner, addressesIn } from "../core/addresses-in.ts";
import type { BadObject } from "../objects/bad-object.ts";
import { gate } from "../objects/workload-objects.ts";
import { EverySystem, type Flags } from "./every-system.ts";
import { simWithMaps } from "./maps.ts";
import { SimReconciler } from "./reconciler.ts";

/** All systems that these flags switch on, served by one controller in memory, in virtual time. */
export class SimTogether {
  readonly kube: Objects;
  readonly systems: EverySystem;
  private readonly flags: Flags;
  private readonly sim;
  private readonly reconcilers: readonly SimReconciler[];
  /** When each owner had what it asked for, in milliseconds after it asked. */
  readonly took = new Map<string, number>();
  private readonly waiting = new Map<string, { readonly since: number; readonly has: () => Promise<boolean> }>();
  private readonly edit;
  /** The texts of the record that somebody damaged, as they were. */
  private readonly whole = new Map<BadObject, string>();
  /** Addresses that bad objects had when they were made: the controller did not write them. */
  private readonly writtenByHand = new Set<string>();
  /** Each address that objects of two owners have had at one moment, with both. */
  readonly shared = new Set<string>();
  private readonly shown = new WeakMap<object, readonly AddressOfOwner[]>();
  now = 0;

  /** `wrapped` is what becomes of each integration. */
  constructor(flags: Flags, wrapped: (one: ClusterIntegration) => ClusterIntegration = (one) => one) {
    this.flags = flags;
    const { sim, edit } = simWithMaps(integrationsInCluster(flags).map(wrapped));
    this.sim = sim;
    this.edit = edit;
    sim.server.webhook = (object) => this.admitted(object) as never;
    this.reconcilers = reconcilersInCluster(flags).map((one) => new SimReconciler(one, sim.server));
    this.kube = sim.server.client(async (_, run) => run());
    this.systems = new EverySystem(this.kube);
  }

  /** Each object has a time of creation, and pods of VMs wait for their addresses, as the admission policy sees to. */
  private admitted(object: Bag): Bag {
    const metadata = asBag(object.metadata) ?? {};
    const { creationTimestamp = new Date(Date.UTC(2026, 0, 1) + this.now).toISOString(), resourceVersion } = metadata;
    const dated = { ...object, metadata: { ...metadata, creationTimestamp } };
    const isLauncher = asBag(metadata.labels)?.["kubevirt.io"] === "virt-launcher" && resourceVersion === "";
    if (!isLauncher || !this.flags.vmAddresses) return dated;
    return { ...dated, spec: { ...asBag(object.spec), schedulingGates: [{ name: gate }] } };
  }

  /** One more owner of each kind, and a node that joins. */
  async ask(): Promise<void> {
    for (const [who, has] of Object.entries(await this.systems.ask(this.flags)))
      this.waiting.set(who, { since: this.now, has });
    const node = `n${2 + this.waiting.size + this.took.size}`;
    this.waiting.set(`node ${node}`, { since: this.now, has: await this.systems.join(node) });
  }

  /** Somebody makes a bad object, or damages what is there. */
  async throwIn(bad: BadObject): Promise<void> {
    for (const { address, owner } of bad.objects.flatMap(addressesIn)) this.writtenByHand.add(`${address} ${owner}`);
    await this.systems.throwIn(bad);
    if (bad.damage !== undefined) this.edit(bad.damage.part, (text) => this.damaged(bad, text));
  }

  private damaged(bad: BadObject, text: string): string {
    this.whole.set(bad, text);
    return bad.damage?.change(text) ?? text;
  }

  /** It is as if it had not been. */
  async takeAway(bad: BadObject): Promise<void> {
    await this.systems.takeAway(bad);
    if (bad.damage !== undefined) this.edit(bad.damage.part, () => this.whole.get(bad));
  }

  /** Who waits. */
  get unserved(): string[] {
    return [...this.waiting.keys()];
  }

  async pass(ms: number): Promise<void> {
    for (const end = this.now + ms; this.now < end; this.now += 100) {
      await this.sim.pass(100);
      for (const one of this.reconcilers) await one.pass(100);
      this.lookForShared();
      for (const [who, { since, has }] of this.waiting) {
        if (!(await has())) continue;
        this.waiting.delete(who);
        this.took.set(who, this.now + 100 - since);
      }
    }
  }

  /** The Events and conditions of an object, as `REASON: MESSAGE`. */
  wordsAbout(about: string): string[] {
    const events = [this.sim, ...this.reconcilers].flatMap(({ said }) => said);
    const told = events.flatMap((text) => {
      const [, one = "", problem = "", message = ""] = /^(\S+) (\S+): (.*)$/s.exec(text) ?? [];
      return one.startsWith(about) ? eventOfProblem(one, problem, message) : [];
    });
    const there = [...this.sim.server.objects.values()].find((one) => objectKey(one as never) === about);
    const conditions = asList(asBag(there?.status)?.conditions).map((one) => asBag(one) ?? {});
    return [...told, ...conditions].map(({ reason, message }) => `${reason}: ${message}`);
  }

  /** The server never changes an object that it has: it puts another one in its place. */
  private shownBy(object: Bag): readonly AddressOfOwner[] {
    const known = this.shown.get(object) ?? addressesIn(object);
    this.shown.set(object, known);
    return known;
  }

  private lookForShared(): void {
    const owners = new Map<string, string>();
    for (const object of this.sim.server.objects.values())
      for (const { address, owner } of this.shownBy(object)) {
        if (this.writtenByHand.has(`${address} ${owner}`)) continue;
        const other = owners.get(address);
        if (other !== undefined && other !== owner)
          this.shared.add(`${address} of ${[other, owner].sort().join(" and ")}`);
        owners.set(address, owner);
      }
  }
}
