/** Policies of kubernetes-nmstate: what they claim, and the one policy per node that allocations make of them. Pure. */

// The integration as a whole, for a pipeline of one's own.

export type { NmstateModel, OwnPolicy } from "./model.ts";
export { nmstate } from "./plan.ts";

// One policy.

export { childName } from "./child.ts";
export type { DroppedRoutes } from "./dropped-routes.ts";
export { type ChildInput, expandPolicy } from "./expand.ts";
export { parsePolicy } from "./parse-policy.ts";
export type { Capture, Policy, PolicyObject } from "./policy.ts";
export type { Replaced } from "./routes.ts";
export { claimsOf, selectNodes } from "./select.ts";
