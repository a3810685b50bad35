/** What people write and what clusters say: manifests, nodes and reports, read with the place of everything that is wrong. */

// A folder of YAML and JSON as pools, nodes and objects of the kinds that are asked for.

export type { ManifestDocument, Manifests, ReadKind, SourceObject, UnreadDocument } from "./manifest-document.ts";
export { readManifests } from "./manifests.ts";
export type { Bag, LocatedObject } from "./objects.ts";
export type { Path, QuotedLine, SourceFile } from "./yaml.ts";

// One object of a kind, parsed already. The schema itself is nodeippool/schemas/nodeippool.schema.json.

export type { NodeIPPool } from "./generated/node-ip-pool.types.ts";
export { parseNodeIPPool } from "./node-ip-pool.ts";
export { type Field, Reference } from "./template.ts";

// Nodes, and the addresses that they or manifests show.

export type { Evidence, Findings, NicNames } from "./findings.ts";
export type { ClusterNode } from "./node.ts";
export { readNodes } from "./read-nodes.ts";
