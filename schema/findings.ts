import {
  type Address,
  type Allocation,
  type Family,
  type Issue,
  ownerOfKey,
  type Place,
  type Use,
} from "../core/index.ts";

/** What a text shows of the addresses that nodes have. */
export interface Evidence {
  readonly uses: Use[];
  /**
   * The owners (`Node/<name>`) that it speaks about, and of which of their NICs (that are up) and families: what `uses` does not
   * show of these, they do not have. Only a NodeNetworkState tells that much, and only if it lists interfaces and its
   * handler could read them (it keeps the last state that it read, with condition Failing). Policies and CSV say what
   * a node has, never what it has no more.
   */
  readonly nodes: Map<string, Map<string, Set<Family>>>;
  readonly names: NicNames;
}

/** The names that NICs of an owner have: a policy may call one otherwise than its node does. */
export class NicNames {
  private readonly nics = new Map<string, string>();

  /** All of these as one; the first word counts. */
  static of(...list: readonly NicNames[]): NicNames {
    const all = new NicNames();
    for (const { nics } of list) for (const [name, nic] of nics) if (!all.nics.has(name)) all.nics.set(name, nic);
    return all;
  }

  /** Says that a name stands for the NIC of another name; the first word counts. */
  add(owner: string | undefined, name: string, nic: string): void {
    const key = `${owner} ${name}`;
    if (name !== nic && !this.nics.has(key)) this.nics.set(key, nic);
  }

  /** Gives the NIC of a use the name that these call it by, the first that does; else the use stays as it is. */
  calledAs(
    known: Iterable<{ readonly owner?: string | undefined; readonly interface?: string | undefined }>,
  ): (use: Use) => Use {
    if (this.nics.size === 0) return (use) => use;
    const called = new Map<string, string>();
    for (const { owner, interface: name } of known) {
      if (name === undefined) continue;
      const nic = this.nicOf(owner, name);
      if (!called.has(nic)) called.set(nic, name);
    }
    return (use) => {
      const name = use.interface === undefined ? undefined : called.get(this.nicOf(use.owner, use.interface));
      return name === undefined || name === use.interface ? use : { ...use, interface: name };
    };
  }

  /** A policy's name may stand for a MAC address, and that for a NIC. */
  private nicOf(owner: string | undefined, name: string): string {
    const next = this.nics.get(`${owner} ${name}`) ?? name;
    return `${owner} ${this.nics.get(`${owner} ${next}`) ?? next}`;
  }
}

/** What has been found so far. */
export interface Findings extends Evidence {
  /** Addresses that a policy writes out and does not give: their NIC goes, or their family is off. */
  readonly idle: Set<Address>;
  readonly issues: Issue[];
  /** What is no address in objects that are not ours: text that somebody fills in later, say. */
  readonly unreadable: Issue[];
  /** Whether anything could have shown an address. */
  speaks: boolean;
}

export function emptyFindings(): Findings {
  return {
    uses: [],
    nodes: new Map(),
    names: new NicNames(),
    idle: new Set(),
    issues: [],
    unreadable: [],
    speaks: false,
  };
}

/** An address that somebody has, at a place of a text. */
export function useOf(address: Address, owner: string | undefined, nic: string | undefined, at: Place): Use {
  return { address, ...(owner === undefined ? {} : { owner }), ...(nic === undefined ? {} : { interface: nic }), at };
}

/** The NIC that a line of the record is for. */
export function nicOfLine({ claim, interface: nic }: Allocation) {
  return { owner: ownerOfKey(claim), interface: nic };
}
