import type { Path } from "../schema/yaml.ts";

/** Where each setting is in `nodeippool.yaml`; its option has the same name. Paths are relative to the file's folder. */
export const places = {
  manifests: ["manifests"],
  nodes: ["nodes"],
  out: ["out"],
  lock: ["lock"],
  set: ["set"],
  released: ["released"],
  backend: ["state", "backend"],
  context: ["state", "context"],
  namespace: ["state", "namespace"],
} as const satisfies Record<string, Path>;

export type Setting = keyof typeof places;

/** What `nodeippool.yaml`, or the command line, says; undefined for what it does not. */
export type Config = { readonly [name in Setting]?: string | undefined };

export const settingNames = Object.keys(places) as readonly Setting[];
