import { setTimeout as sleep } from "node:timers/promises";
import { asBag, asList, type Bag } from "../../../schema/objects.ts";

/** What a handler works on. */
export interface Machine {
  /** The state as nmstatectl shows it. */
  show(): Promise<Bag>;
  /** A policy's desired state without its captures. */
  resolve(capture: Record<string, string>, desiredState: unknown): Promise<unknown>;
  apply(state: unknown): Promise<void>;
}

/** Nothing but the addresses of NICs. A section without a list leaves what is there, as with nmstate. */
export class MemoryMachine implements Machine {
  readonly nics = new Map<string, Map<string, readonly unknown[]>>();
  /** Why nothing can be applied now. */
  failure: string | undefined;
  /** How many milliseconds it takes to apply something. */
  delay = 0;
  private readonly changed: (machine: MemoryMachine) => void;

  constructor(nics: readonly string[], changed: (machine: MemoryMachine) => void) {
    for (const nic of nics) this.nics.set(nic, new Map());
    this.changed = changed;
  }

  /** All addresses, without prefix lengths. */
  addresses(): string[] {
    return [...this.nics.values()]
      .flatMap((families) => [...families.values()].flat())
      .map((one) => `${asBag(one)?.ip}`);
  }

  async show(): Promise<Bag> {
    const interfaces = [...this.nics].map(([name, families]) => {
      const family = (version: string) => ({ enabled: true, address: families.get(version) ?? [] });
      return { name, type: "ethernet", state: "up", ipv4: family("ipv4"), ipv6: family("ipv6") };
    });
    return { interfaces };
  }

  async resolve(_: Record<string, string>, desiredState: unknown): Promise<unknown> {
    if (JSON.stringify(desiredState).includes("{{")) throw new Error("Failed to find property ip");
    return desiredState;
  }

  async apply(state: unknown): Promise<void> {
    if (this.delay > 0) await sleep(this.delay);
    if (this.failure !== undefined) throw new Error(this.failure);
    for (const item of asList(asBag(state)?.interfaces)) {
      const { name, ...sections } = asBag(item) ?? {};
      const families = this.nics.get(`${name}`);
      if (families === undefined) throw new Error(`there is no NIC ${name}`);
      for (const version of ["ipv4", "ipv6"]) {
        const section = asBag(sections[version]);
        if (section?.enabled === false) families.set(version, []);
        else if (Array.isArray(section?.address)) families.set(version, section.address);
      }
    }
    this.changed(this);
  }
}
