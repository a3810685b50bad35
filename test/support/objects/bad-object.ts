import { kindInGroup } from "../../../integrations/contract/object-key.ts";
import { asBag, type Bag } from "../../../schema/objects.ts";
import { type Edit, type Flag, resources } from "../sim/every-system.ts";
import { pool } from "./controller-objects.ts";
import { macvlanNetwork } from "./vm-objects.ts";
import { singlePod } from "./workload-objects.ts";

type Kind = keyof typeof resources;
export type Made = Bag & { readonly kind: string };

/** An object that cannot be served, and what must say so. */
export interface BadObject {
  readonly what: string;
  /** Without one of these flags nobody looks at it. */
  readonly flags?: readonly Flag[];
  readonly objects: readonly Made[];
  /** The VM among them that runs. */
  readonly starts?: string;
  /** What somebody writes into an object that is there, until the next one asks. */
  readonly edit?: Edit;
  /** What becomes of a ConfigMap of the record, by its name. */
  readonly damage?: { readonly part: string; readonly change: (text: string) => string };
  /** The owners that cannot be served beside it, by their names. */
  readonly stops?: RegExp;
  /** A real API server refuses it, or the integration that fails on it is a test's own. */
  readonly isOnlySimulated?: boolean;
  /** What the key of the object begins with whose owner is told. */
  readonly about?: string;
  /** Absent if nothing has to be said about it. */
  readonly word?: RegExp;
}

export function key(kind: Kind, name: string, namespace?: string): string {
  const [group = ""] = resources[kind].apiVersion.split("/").slice(0, -1);
  return `${kindInGroup(kind, group)}/${namespace === undefined ? "" : `${namespace}:`}${name}`;
}

export const policyKind = "NodeNetworkConfigurationPolicy";
export const definitionKind = "NetworkAttachmentDefinition";

export function withMetadata(object: Bag, metadata: Bag): Made {
  return { ...object, metadata: { ...asBag(object.metadata), ...metadata } } as unknown as Made;
}

export function withSpec(object: Bag, spec: Bag): Made {
  return { ...object, spec: { ...asBag(object.spec), ...spec } } as unknown as Made;
}

export function nodeIPPool(name: string, range: Bag, spec: Bag = {}): Made {
  return { apiVersion: "nmstate.io/v1", kind: "NodeIPPool", metadata: { name }, spec: { range, ...spec } };
}

export function addressClaim(name: string, from: string): Made {
  return {
    apiVersion: resources.IPAddressClaim.apiVersion,
    kind: "IPAddressClaim",
    metadata: { name, namespace: "default" },
    spec: { poolRef: { apiGroup: "nmstate.io", kind: "NodeIPPool", name: from } },
  };
}

/** A pool of one address, and the pod that has it: they are there before anything else is. */
export const fullPool = [pool("full", 61, 1), macvlanNetwork("narrow", "full"), singlePod("first", "narrow")] as Made[];
export const fullFlags = ["workloadAddresses"] as const;
