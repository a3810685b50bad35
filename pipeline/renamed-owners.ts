import {
  type Allocation,
  formatBlock,
  type Issue,
  nameOfKey,
  nodeNameOf,
  nodeOwner,
  ownerName,
  ownerOfKey,
  placed,
} from "../core/index.ts";
import { hostnameLabel } from "../schema/node.ts";
import type { Desired } from "./desired.ts";
import { LikeNames } from "./like-names.ts";
import { presentOwners } from "./presence.ts";
import type { Proposal } from "./proposal.ts";

/**
 * Returns what is wrong with a plan that releases the address of an owner who is gone, and allocates another one for the same claim
 * of a new owner, or has none for it, who may be the same machine: its name is misspelt, or was changed without `mv`.
 *
 *  the owner that is gone | the new owner                           | it may be the same
 *  -----------------------+-----------------------------------------+-------------------
 *  node02                 | mode02, nodeO2, node2: a slip           | yes
 *  node02                 | node02.example.org, or the reverse      | yes
 *  node02                 | a node whose hostname label is node02   | yes
 *  node02                 | node03, node021: the next one           | no
 *  any                    | one that the record has already         | no
 */
export function renamedOwners({ plan, before, desired, options }: Proposal): Issue[] {
  if (options.allowMove || plan.release.length === 0) return [];
  const there = presentOwners(desired);
  const known = new Set([...before.allocations, ...before.releasing].map(({ claim }) => ownerOfKey(claim)));
  const fresh = Map.groupBy(
    [...plan.assign, ...plan.pending].filter(({ claim }) => !known.has(ownerOfKey(claim))),
    claimInPool,
  );
  const gone = Map.groupBy(
    plan.release.map(({ allocation }) => allocation).filter(({ claim }) => !there.has(ownerOfKey(claim))),
    claimInPool,
  );
  const issues = [...gone].flatMap(([key, lines]) => {
    const names = new NewNames(fresh.get(key) ?? [], desired);
    return lines.flatMap((line) => issueOf(line, names.sameAs(ownerOfKey(line.claim)), desired));
  });
  return [...new Map(issues.map((issue) => [issue.message, issue])).values()];
}

/** What a line of the record, or a claim that gets none, is of. */
type ClaimedLine = Pick<Allocation, "pool" | "claim">;

function claimInPool({ pool, claim }: ClaimedLine): string {
  return `${pool} ${nameOfKey(claim)}`;
}

/** New owners, by the names that each may have had before. */
class NewNames {
  private readonly alike: LikeNames;
  private readonly byHostname: ReadonlyMap<string | undefined, string>;

  constructor(lines: readonly ClaimedLine[], { facts }: Desired) {
    const owners = new Set(lines.map(({ claim }) => ownerOfKey(claim)));
    const nodes = facts.nodes.filter(({ name }) => owners.has(nodeOwner(name)));
    this.alike = new LikeNames(owners);
    this.byHostname = new Map(nodes.map(({ name, labels }) => [labels.get(hostnameLabel), nodeOwner(name)]));
  }

  sameAs(owner: string): string | undefined {
    const node = nodeNameOf(owner);
    return (node === undefined ? undefined : this.byHostname.get(node)) ?? this.alike.like(owner);
  }
}

function issueOf(line: Allocation, owner: string | undefined, { facts }: Desired): Issue[] {
  if (owner === undefined) return [];
  const [gone, name] = [ownerOfKey(line.claim), nodeNameOf(owner) ?? owner];
  const at = facts.nodes.find((node) => nodeOwner(node.name) === owner)?.at;
  return [
    {
      message: `${name} is new, and ${ownerName(line.claim)}, which has ${formatBlock(line)}, is gone: they may be one machine`,
      ...placed(at),
      hint: "If they are, correct the name or declare the rename. If they are two, allow the move.",
      remedy: ["rename-owner", gone, owner],
    },
  ];
}
