export { findAccess, podAccess } from "./access.ts";
export { type KubeObject, type Objects, type ObjectsOptions, objectsOf, refusalOf, type Stored } from "./objects.ts";
export { retry } from "./retry.ts";
