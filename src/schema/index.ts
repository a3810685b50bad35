export { nodeIPPoolSchema } from "./generated/node-ip-pool.schema.ts";
export type { NodeIPPool } from "./generated/node-ip-pool.types.ts";
export { type ManifestDocument, type Manifests, readManifests } from "./manifests.ts";
export { didYouMean } from "./nearest.ts";
export { type ClusterNode, hostnameLabel, readNodes } from "./node.ts";
export { parseNodeIPPool } from "./node-ip-pool.ts";
export { type Capture, type Policy, type PolicyObject, parsePolicy } from "./policy.ts";
export { type Field, Reference } from "./template.ts";
export { type SourceFile, splitDocuments, YamlDocument } from "./yaml.ts";
