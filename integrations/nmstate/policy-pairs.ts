import {
  besidesAt,
  type Claim,
  claimKey,
  type Issue,
  ownerOfKey,
  type Place,
  placed,
  policyOfKey,
} from "../../core/index.ts";
import type { Facts } from "../contract/integration.ts";
import type { ScopedPolicy } from "./scoped-policy.ts";

/** What two policies set differently on a node. */
export interface PairConflict {
  /** The names of the policies; the second one gets nothing new on the node. */
  readonly pair: readonly [string, string];
  readonly owner: string;
  /** What both do, as in `policies a and b both set X`. */
  readonly what: string;
  /** Why that cannot hold together. */
  readonly why: string;
  readonly hint: string;
}

/** Collects the conflicts of policies: one issue for each pair of policies. */
export class PolicyPairs {
  readonly issues = new Map<string, Issue & { readonly claims: string[] }>();
  private readonly claims: ReadonlyMap<string, readonly string[]>;

  /** In a cluster the status of the policy names its nodes: one message is for all of them, and nothing stands in a text. */
  private readonly isInCluster: boolean;
  private readonly places: ReadonlyMap<string, () => Place>;

  constructor(claims: readonly Claim[], policies: readonly ScopedPolicy[], { authority }: Facts) {
    this.isInCluster = authority === "Cluster";
    this.places = new Map(this.isInCluster ? [] : policies.map(({ name, at }) => [name, at]));
    const keys = claims.map(({ owner, name }) => claimKey(owner, name));
    this.claims = Map.groupBy(keys, policyOnNode);
  }

  add(conflict: PairConflict): void {
    const { pair, owner } = conflict;
    const key = pair.toSorted().join(" ");
    const issue = this.issues.get(key) ?? { ...this.issueOf(conflict), claims: [] };
    issue.claims.push(...(this.claims.get(`${owner} ${pair[1]}`) ?? []));
    this.issues.set(key, issue);
  }

  private issueOf({ pair: [first, second], owner, what, why, hint }: PairConflict): Issue {
    const where = this.isInCluster ? "" : ` on ${owner}`;
    const [other, at] = [first, second].map((name) => this.places.get(name)?.());
    return { message: `policies ${what}${where}; ${why}${besidesAt(first, other)}`, ...placed(at), hint };
  }
}

/** Returns the node and the policy of a claim, as one text. */
export function policyOnNode(claim: string): string {
  return `${ownerOfKey(claim)} ${policyOfKey(claim)}`;
}
