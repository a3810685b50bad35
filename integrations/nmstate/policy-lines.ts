import {
  type Allocation,
  byAddress,
  familyOf,
  formatBlock,
  IpamError,
  identityOf,
  importedSet,
  nodeOwner,
  ownerOfKey,
  type Pool,
  policyOfKey,
  type Snapshot,
} from "../../core/index.ts";
import type { ClusterNode } from "../../schema/node.ts";
import type { Left } from "../integration.ts";
import { listNameOf } from "./address-list.ts";
import type { Origin } from "./child.ts";
import { cleanupPolicy, whyLeft } from "./cleanup.ts";
import { expandPolicy } from "./expand.ts";
import { Neighbours } from "./neighbours.ts";
import type { Policy, PolicyObject } from "./policy.ts";
import type { ScopedPolicy } from "./scoped-policy.ts";
import { claimName } from "./select.ts";
import { inItsWave } from "./sync-wave.ts";

/** The record, looked up the way a renderer asks. */
export class PolicyLines {
  private readonly live: Map<string, Allocation>;
  private readonly leaving: Map<string, Allocation[]>;
  /** Releasing, on NICs that have live addresses of the family, with those. */
  private readonly beside: readonly { readonly line: Allocation; readonly live: readonly Allocation[] }[];
  /** Releasing, on NICs that other policies set. */
  private readonly spared: readonly Left[];

  constructor(snapshot: Snapshot, set: string, policies: readonly ScopedPolicy[]) {
    this.live = new Map(snapshot.allocations.filter((l) => l.set === set).map((l) => [identityOf(l), l]));
    // Of lines on unknown NICs nobody can say that they are on one NIC.
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
    const leaving = alone.filter((line) => !spared.has(line));
    this.beside = releasing.flatMap((line) => {
      const live = byList.get(listNameOf(line));
      return live === undefined ? [] : { line, live };
    });
    this.leaving = Map.groupBy(leaving, (line) => `${policyOfKey(line.claim)} ${ownerOfKey(line.claim)}`);
  }

  private addresses(policy: Policy, node: ClusterNode, pools: ReadonlyMap<string, Pool>) {
    const entries = [...policy.captures].map(([capture, { pool }]) => {
      const key = `${nodeOwner(node.name)}/${claimName(policy, capture)}`;
      const line = this.live.get(identityOf({ pool, claim: key }));
      if (line === undefined) throw new IpamError("stale", `no address is recorded for ${key} in pool ${pool}`);
      return [capture, { address: line.address, pool: pools.get(pool) as Pool }] as const;
    });
    return new Map(entries);
  }

  /** What this policy gave the node and the node is to give up, but where a live allocation replaces it on its NIC. */
  private releasing(policy: string, node: ClusterNode): readonly Allocation[] {
    return this.leaving.get(`${policy} ${nodeOwner(node.name)}`) ?? [];
  }

  /** The policy of a node that a policy is for. Throws `stale` if the record does not cover it. */
  child(policy: Policy, node: ClusterNode, pools: ReadonlyMap<string, Pool>): PolicyObject {
    const addresses = this.addresses(policy, node, pools);
    const child = expandPolicy({ policy, node, addresses, releasing: this.releasing(policy.name, node) });
    return inItsWave(child, policy, addresses);
  }

  /** What is left to do on a node that a policy is for no more: to give addresses up. Undefined if there is nothing. */
  cleanup(policy: Origin, node: ClusterNode): PolicyObject | undefined {
    return cleanupPolicy(policy, node, this.releasing(policy.name, node));
  }

  /** What stays on these nodes until somebody takes it off by hand. */
  left(nodesOf: ReadonlyMap<Policy, readonly ClusterNode[]>, nodes: readonly ClusterNode[]): Left[] {
    const byName = new Map([...nodesOf.keys()].map((policy) => [policy.name, policy]));
    const ownersOf = (list: readonly ClusterNode[]) => new Set(list.map((node) => nodeOwner(node.name)));
    const there = ownersOf(nodes);
    const selected = new Map([...nodesOf].map(([policy, list]) => [policy.name, ownersOf(list)]));
    const found = [...this.leaving.values()].flatMap((lines) => {
      const [first] = lines as [Allocation];
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

  /** Clean-up policies of policies that are gone. */
  orphans(policies: readonly Policy[], nodes: readonly ClusterNode[]): PolicyObject[] {
    const known = new Set(policies.map((policy) => policy.name));
    const gone = new Set([...this.leaving.values()].flat().map((line) => policyOfKey(line.claim)));
    return [...gone]
      .filter((name) => !known.has(name))
      .sort()
      .flatMap((name) => nodes.map((node) => this.cleanup({ name }, node)))
      .filter((object) => object !== undefined);
  }
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
