/** Policies of kubernetes-nmstate: what they claim, and the one policy per node that allocations make of them. Pure. */

// Policies to claims, for `plan`.

export { claimsOf, selectNodes } from "./select.ts";
export { refuseSharedNics } from "./shared-nics.ts";

// Allocations to manifests: a folder at once, or the policy of one node.

export { childName } from "./child.ts";
export { type ChildInput, expandPolicy } from "./expand.ts";
export type { Left } from "./policy-lines.ts";
export { leftOnNodes, type RenderInput, render } from "./render.ts";
