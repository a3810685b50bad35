/** What people write and what clusters say: manifests, nodes and reports, read with the place of everything that is wrong. */

// A folder of YAML and JSON as pools, policies and nodes.

export { type ManifestDocument, type Manifests, readManifests } from "./manifests.ts";
export type { SourceFile } from "./yaml.ts";

// One object of a kind, parsed already. The schema itself is nodeippool/schemas/nodeippool.schema.json.

export type { NodeIPPool } from "./generated/node-ip-pool.types.ts";
export { parseNodeIPPool } from "./node-ip-pool.ts";
export { type Capture, type Policy, type PolicyObject, parsePolicy } from "./policy.ts";
export { type Field, Reference } from "./template.ts";

// Nodes, and the addresses that they or manifests of any kind use: for `audit`, `planImport` and `provenGone`.

export { findUses } from "./find-addresses.ts";
export type { Evidence } from "./findings.ts";
export { type ClusterNode, readNodes } from "./node.ts";
export { readEvidence } from "./uses.ts";
