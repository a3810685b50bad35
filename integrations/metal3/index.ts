/** Bare-metal hosts of Metal3: what a configuration claims for them, and the objects that allocations make of it. Pure. */

// The integration as a whole, for a pipeline of one's own.

export type { ClusterApiVersion } from "../contract/cluster-api.ts";
export type { ReadObject } from "../contract/read-each.ts";
export { type Metal3Model, metal3 } from "./plan.ts";

// One configuration: pools and claims for `plan`, and the objects of what was committed.

export { infraClaims, poolsOf } from "./claims.ts";
export type { Cluster, MachineOptions, ObjectOptions, TemplateOptions } from "./cluster.ts";
export type { Host, Infra, Network, Unit } from "./infra.ts";
export { infraObjects } from "./infra-objects.ts";
export type * from "./infra-spec.ts";
export { parseInfra } from "./parse-infra.ts";
