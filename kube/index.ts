export { findAccess, podAccess } from "./access.ts";
export { type KubeObject, type Objects, type ObjectsOptions, objectsOf, type Stored } from "./objects.ts";
export { refusalOf } from "./refusal.ts";
export { retry } from "./retry.ts";
