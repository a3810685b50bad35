export { type Access, findAccess, podAccess } from "./access.ts";
export { type Clock, realClock } from "./clock.ts";
export { type KubeObject, type Objects, type ObjectsOptions, objectsOf, type Stored } from "./objects.ts";
export { Queue } from "./queue.ts";
export { refusalOf } from "./refusal.ts";
export type { Resource } from "./resource.ts";
export { retry } from "./retry.ts";
export { type Sent, transport } from "./transport.ts";
export { type WatchState, watch } from "./watch.ts";
