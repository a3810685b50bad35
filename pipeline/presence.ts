import {
  type Allocation,
  type Claim,
  claimKey,
  formatOwner,
  isOfNode,
  nodeOwner,
  ownerOfKey,
  type Presence,
  policyOfKey,
} from "../core/index.ts";
import { asBag, type Bag } from "../schema/objects.ts";
import type { Desired } from "./desired.ts";
import { aliasesOf } from "./owner-names.ts";

/**
 * Returns whether the owner of a recorded line and the object that asked for it are still there, as far as the input of a
 * plan tells.
 *
 *  input     | owner of the line                             | its policy                  | still there
 *  ----------+-----------------------------------------------+-----------------------------+--------------
 *  objects   | not among the nodes, the claims, the objects  | any                         | no
 *  objects   | a node                                        | not among the objects       | no
 *  objects   | a node                                        | selects none, or others     | yes
 *  objects   | another owner                                 | none: it asks for itself    | yes
 *  claims    | has another claim                             | unknown                     | yes
 *  claims    | a node without another claim                  | unknown                     | nothing tells
 *  claims    | another owner without another claim           | none: it asks for itself    | no
 */
export function presenceIn(desired: Desired): Presence {
  const { claims, parts, objects } = desired;
  const claiming = new Set(claims.map(({ owner }) => formatOwner(owner)));
  const idle = new Map(
    parts
      .flatMap(({ integration, model, facts }) => integration.explain?.idle?.(model, facts) ?? [])
      .map((one) => [one.name, one]),
  );
  const idleFor = (line: Allocation) => (isOfNode(line) ? idle.get(policyOfKey(line.claim)) : undefined);
  const whyIdle = (line: Allocation) => idleFor(line)?.why;
  const placeOf = (line: Allocation) => idleFor(line)?.at ?? askerIn(claims, line)?.at?.();
  if (objects === undefined) {
    const isThere = (line: Allocation) => claiming.has(ownerOfKey(line.claim)) || (isOfNode(line) ? undefined : false);
    return { isThere, whyIdle, placeOf };
  }
  const owners = new Set([...presentOwners(desired), ...objects.filter(hasPods).map(ownerIn)]);
  const keys = claims.map(({ owner, name }) => claimKey(owner, name));
  const policies = new Set([...keys.filter((claim) => isOfNode({ claim })).map(policyOfKey), ...idle.keys()]);
  const isOwner = (owner: string) => owners.has(owner) || aliasesOf(owner).some((alias) => owners.has(alias));
  const isThere = (line: Allocation) =>
    isOwner(ownerOfKey(line.claim)) && (!isOfNode(line) || policies.has(policyOfKey(line.claim)));
  return { isThere, whyIdle, placeOf };
}

/** Returns the owners that ask for something, and all nodes. */
export function presentOwners({ claims, facts }: Pick<Desired, "claims" | "facts">): ReadonlySet<string> {
  return new Set([...claims.map(({ owner }) => formatOwner(owner)), ...facts.nodes.map(({ name }) => nodeOwner(name))]);
}

/** A claim of the policy that asked for a line, or of the owner that asked for itself. */
function askerIn(claims: readonly Claim[], { claim }: Allocation): Claim | undefined {
  const isSame = isOfNode({ claim })
    ? (key: string) => isOfNode({ claim: key }) && policyOfKey(key) === policyOfKey(claim)
    : (key: string) => ownerOfKey(key) === ownerOfKey(claim);
  return claims.find(({ owner, name }) => isSame(claimKey(owner, name)));
}

/** A workload that is scaled to no pods takes their addresses from nobody. */
function hasPods({ spec }: Bag): boolean {
  return asBag(spec)?.replicas !== 0;
}

/** The owner that an object is. Objects without a namespace are in `default`, as their claims are. */
function ownerIn({ kind, metadata }: Bag): string {
  const { namespace = "default", name } = asBag(metadata) ?? {};
  return formatOwner({ kind: `${kind}`, namespace: `${namespace}`, name: `${name}` });
}
