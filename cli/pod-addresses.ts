import {
  contains,
  formatAddress,
  formatIssue,
  howToKeep,
  IpamError,
  type Issue,
  isSingle,
  ownerName,
  type Pool,
} from "../core/index.ts";
import { findReadable } from "../pipeline/find-uses.ts";
import type { Guard } from "../pipeline/guards.ts";
import type { ClusterNode, SourceFile } from "../schema/index.ts";
import { splitDocuments } from "../schema/yaml.ts";

/** What a document has in it that gives pods or VMs their networks: Multus, its definitions with static addresses or ranges, KubeVirt. */
const ofPods = /\b(?:k8s\.(?:v1\.)?cni\.cncf|kubevirt)\.io\b/;

/**
 * The guard of addresses that pods and VMs have by themselves: `in-use` where a plan newly allocates one that such a document of
 * the folder names, to an owner that does not ask for it. An address that is in two networks is left alone: which one is meant
 * is not known. What audit refuses in objects of other programs does not stop a plan: `unreadPodNotes` names it.
 */
export function leavesPodAddresses(files: readonly SourceFile[], nodes: readonly ClusterNode[]): Guard {
  return ({ plan, desired: { pools, claims } }) => {
    const own = files.filter(({ text }) => ofPods.test(text));
    if (own.length === 0) return undefined;
    const wanted = new Set(claims.map((claim) => claim.wanted));
    const fresh = new Map(
      plan.assign.flatMap((line) => (isSingle(line) && !wanted.has(line.address) ? [[line.address, line]] : [])),
    );
    if (fresh.size === 0) return undefined;
    const documents = own.flatMap(splitDocuments).filter(({ text }) => ofPods.test(text));
    const issues = findReadable(own, pools, nodes).uses.flatMap(({ address, owner, at }): Issue[] => {
      const line = fresh.get(address);
      const [pool, ...others] = pools.filter(({ range }) => contains(range, address));
      if (line === undefined || owner !== undefined || pool === undefined || others.length > 0) return [];
      const isHere = documents.some(
        (one) => one.label === at.file && at.line >= one.line && at.line < one.line + one.text.split("\n").length,
      );
      if (!isHere) return [];
      const message = `${formatAddress(address)} would go to ${ownerName(line.claim)}, and this names it for pods or VMs`;
      return [{ message, at, hint: `In pool ${pool.name}, ${howToKeep(pool)}.` }];
    });
    return issues.length === 0 ? undefined : new IpamError("in-use", issues);
  };
}

/** Returns a note for each document beside pods and VMs whose addresses cannot be read: the guard does not see them. */
export function unreadPodNotes(files: readonly SourceFile[], nodes: readonly ClusterNode[], pools: readonly Pool[]) {
  const own = files.filter(({ text }) => ofPods.test(text));
  const { issues } = findReadable(own, pools, nodes);
  const end = "A plan does not see which addresses it names: correct it";
  return issues.map(({ hint: _, ...issue }) => `Note: ${formatIssue(issue)}. ${end}`);
}
