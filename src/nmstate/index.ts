export { childName, childPolicy } from "./child.ts";
export { cleanupPolicy } from "./cleanup.ts";
export { type ChildInput, expandPolicy, parkPolicy } from "./expand.ts";
export { PolicyLines } from "./policy-lines.ts";
export { joinDocuments, type RenderInput, render } from "./render.ts";
export { claimsOf, parkKey, refuseSharedNics, selectNodes } from "./select.ts";
