import { nameIssue } from "../../schema/names.ts";
import { ownPrefix } from "../../schema/node.ts";
import type { Bag } from "../../schema/objects.ts";
import { mapping } from "../../schema/shape.ts";
import { anyField, poolOfCapture } from "../../schema/template.ts";
import type { RenderedObject } from "../contract/integration.ts";
import { asPolicy } from "./objects.ts";

/** One address that a policy asks for on every node it selects. */
export interface Capture {
  readonly pool: string;
  /** The NIC whose address list uses it, where that is one literal name. */
  readonly interface?: string;
}

/** A NodeNetworkConfigurationPolicy that takes addresses from pools. */
export interface Policy {
  readonly apiVersion: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Without our own. */
  readonly annotations: Readonly<Record<string, string>>;
  /** Spreads the nodes over Argo CD sync waves, at most this many in one. */
  readonly nodesPerSyncWave?: number;
  readonly nodeSelector: Readonly<Record<string, string>>;
  /** Captures of the form `ippool.POOL.allocate`, by name. */
  readonly captures: ReadonlyMap<string, Capture>;
  /** All other captures: the handler's business. */
  readonly otherCaptures: Readonly<Record<string, string>>;
  /** Plain data with a `Reference` wherever an allocation is to be filled in. */
  readonly desiredState: unknown;
  /** The object as it was read. */
  readonly source: PolicyObject;
}

/** A NodeNetworkConfigurationPolicy as it stands in a manifest. */
export interface PolicyObject extends RenderedObject {
  readonly spec: { readonly [field: string]: unknown };
}

/** What only a capture of a pool can give: nmstate's own captures have longer paths. */
export const ofAllocation = new RegExp(`\\{\\{\\s*capture\\.[\\w-]+\\.(?:${anyField})\\s*\\}\\}`);

/** Returns whether an object has a capture that asks a pool for an address, or a reference that only such a capture can resolve. */
export function usesPools(object: Bag): boolean {
  const { spec } = asPolicy(object);
  if (ofAllocation.test(JSON.stringify(spec.desiredState) ?? "")) return true;
  return Object.values(spec.capture ?? mapping(object.capture)).some(
    (value) => typeof value === "string" && poolOfCapture(value) !== undefined,
  );
}

/** Spreads the nodes of a policy over sync waves of Argo CD. */
export const waveAnnotation = `${ownPrefix}nodes-per-sync-wave`;

/** The handler refuses longer names (its admission policy), because they become label values. */
export function policyNameIssue(name: unknown): string | undefined {
  const issue = nameIssue(name);
  if (issue !== undefined) return issue;
  return `${name}`.length > 63 ? "is longer than the 63 characters of a label value" : undefined;
}
