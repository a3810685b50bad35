import {
  type Allocation,
  byAddress,
  familyOf,
  formatBlock,
  importedSet,
  nodeOwner,
  ownerOfKey,
  policyOfKey,
} from "../../core/index.ts";
import type { ClusterNode } from "../../schema/node.ts";
import type { Holdings, Left } from "../contract/integration.ts";
import { listNameOf } from "./address-list.ts";
import { whyLeft } from "./cleanup.ts";
import { Neighbours } from "./neighbours.ts";
import type { Policy } from "./policy.ts";
import type { ScopedPolicy } from "./scoped-policy.ts";

/**
 * The releasing addresses of a set, by what becomes of them on their nodes:
 *
 *  on the address list of the NIC                            | decision
 *  ----------------------------------------------------------+----------------------------------------
 *  a live address that a policy gives                        | nothing to do: its policy sets the list
 *  imported addresses alone                                  | stays: they would go with it
 *  what another policy sets, or may set                      | stays: that is theirs
 *  an imported address of an unknown NIC may be              | stays: it would go with it
 *  nothing else                                              | `whyLeft` decides: it is taken off, or stays
 */
export class Leaving {
  private readonly byPolicy: ReadonlyMap<string, readonly Allocation[]>;
  /** On NICs that have live addresses of the family, with those. */
  private readonly beside: readonly Beside[];
  private readonly besideOn: ReadonlyMap<string, readonly Beside[]>;
  private readonly spared: readonly Left[];

  constructor({ snapshot, set }: Holdings, policies: readonly ScopedPolicy[]) {
    // Two lines on unknown NICs need not be on one NIC.
    const placed = snapshot.allocations.filter((line) => line.interface !== undefined);
    const byList = Map.groupBy(placed, listNameOf);
    const unplaced = new Map(snapshot.allocations.filter(isUnplaced).map((line) => [familyOfOwner(line), line]));
    const releasing = snapshot.releasing.filter((line) => line.set === set);
    const alone = releasing.filter((line) => !byList.has(listNameOf(line)));
    const neighbours = new Neighbours(alone.length === 0 ? [] : policies);
    this.spared = alone.flatMap((line) => {
      const why = neighbours.whyLeft(line) ?? whyUnplaced(line, unplaced.get(familyOfOwner(line)));
      return why === undefined ? [] : { line, why };
    });
    const spared = new Set(this.spared.map(({ line }) => line));
    this.beside = releasing.flatMap((line) => {
      const live = byList.get(listNameOf(line));
      return live === undefined ? [] : { line, live };
    });
    this.besideOn = Map.groupBy(this.beside, ({ line }) => ownerOfKey(line.claim));
    this.byPolicy = Map.groupBy(
      alone.filter((line) => !spared.has(line)),
      (line) => `${policyOfKey(line.claim)} ${ownerOfKey(line.claim)}`,
    );
  }

  /** Returns the releasing addresses that this policy gave a node, except those that a live address replaces on its NIC. */
  of(policy: string, node: ClusterNode): readonly Allocation[] {
    return this.byPolicy.get(`${policy} ${nodeOwner(node.name)}`) ?? [];
  }

  /** Returns the releasing addresses of a node, of any policy, that a live address of this policy replaces on its NIC. */
  replacedBy(policy: string, node: ClusterNode): readonly Allocation[] {
    const isOf = ({ claim, set }: Allocation) => set !== importedSet && policyOfKey(claim) === policy;
    const beside = this.besideOn.get(nodeOwner(node.name)) ?? [];
    return beside.filter(({ live }) => live.some(isOf)).map(({ line }) => line);
  }

  /** Returns the policies that gave nodes these releasing addresses. */
  get policies(): string[] {
    return [...new Set([...this.byPolicy.values()].flat().map((line) => policyOfKey(line.claim)))].sort();
  }

  /** Returns the addresses that stay on these nodes until a user takes them off by hand. */
  left(nodesOf: ReadonlyMap<Policy, readonly ClusterNode[]>, nodes: readonly ClusterNode[]): Left[] {
    const byName = new Map([...nodesOf.keys()].map((policy) => [policy.name, policy]));
    const ownersOf = (list: readonly ClusterNode[]) => new Set(list.map((node) => nodeOwner(node.name)));
    const there = ownersOf(nodes);
    const selected = new Map([...nodesOf].map(([policy, list]) => [policy.name, ownersOf(list)]));
    const found = [...this.byPolicy.values()].flatMap((lines) => {
      const [first] = lines;
      if (first === undefined) return [];
      const policy = byName.get(policyOfKey(first.claim));
      const isForNode = selected.get(policyOfKey(first.claim))?.has(ownerOfKey(first.claim));
      const state = isForNode ? policy?.desiredState : undefined;
      return lines.flatMap((line) => {
        const why = whyLeft(line, state, lines, policy ?? { name: policyOfKey(line.claim) });
        return why === undefined ? [] : { line, why };
      });
    });
    const imported = this.beside.flatMap(({ line, live }) => {
      // A live address that a policy gives replaces the list.
      if (live.some((other) => other.set !== importedSet)) return [];
      const others = live.map(formatBlock).join(", ");
      return { line, why: `${line.interface} has imported addresses too (${others}), which would go with it` };
    });
    return [...found, ...imported, ...this.spared]
      .filter(({ line }) => there.has(ownerOfKey(line.claim)))
      .sort((a, b) => byAddress(a.line, b.line));
  }
}

/** A releasing address, and the live ones on its address list. */
interface Beside {
  readonly line: Allocation;
  readonly live: readonly Allocation[];
}

/** An import from what knows no NICs: the address may be on any. */
function isUnplaced({ set, interface: nic }: Allocation): boolean {
  return set === importedSet && nic === undefined;
}

function familyOfOwner({ claim, address }: Allocation): string {
  return `${ownerOfKey(claim)} ${familyOf(address)}`;
}

function whyUnplaced({ interface: nic }: Allocation, imported: Allocation | undefined): string | undefined {
  if (imported === undefined) return undefined;
  return `the imported ${formatBlock(imported)}, of which no NIC is known, may be on ${nic ?? "its NIC"} too`;
}
