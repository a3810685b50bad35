import { type Address, type Owner, type Parsed, parseAddress, parsePrefix } from "../../core/index.ts";
import type { Findings } from "../../schema/findings.ts";
import { ownPrefix } from "../../schema/node.ts";
import { type Bag, issueIn, type LocatedObject } from "../../schema/objects.ts";
import { raw } from "../../schema/shape.ts";
import type { RenderedObject } from "../contract/integration.ts";
import { annotationsOf, labelsOf, nameOf, namespaceOf } from "../contract/object-metadata.ts";
import { attachmentGroup, isOfGroup } from "../networks/attachment-definition.ts";
import { asIpamClaim } from "./objects.ts";

/** The object of the multi-network standard that keeps addresses for a workload, whether its pods run or not. */
export const ipamClaimKind = "IPAMClaim";

/** On a claim: the addresses that a plan gave it, `<address>/<prefix length>`, with a comma between two families; or that its VM requests. */
export const plannedAnnotation = `${ownPrefix}addresses`;

/** On each claim that a plan rendered: `kubectl apply` selects by it the claims whose status it applies. */
const plannedLabel = { [`${ownPrefix}planned`]: "true" };

/** The fields of an IPAMClaim. */
export interface IpamClaim {
  readonly name: string;
  readonly namespace: string;
  /** The name of the network in its CNI configuration. */
  readonly network: string;
  /** The addresses in its status, as far as they can be read. */
  readonly shown: readonly Address[];
}

export function isIpamClaim({ apiVersion, kind }: Bag): boolean {
  return kind === ipamClaimKind && isOfGroup(apiVersion, attachmentGroup);
}

/** Returns whether a plan rendered a claim. */
export function isRendered(claim: Bag): boolean {
  return Object.keys(plannedLabel).some((label) => labelsOf(claim)[label] !== undefined);
}

export function parseIpamClaim(object: Bag): Parsed<IpamClaim> {
  const { spec, status } = asIpamClaim(object);
  const { network } = spec;
  if (typeof network !== "string" || network === "")
    return {
      issues: [{ message: "network must name a network, as its configuration of CNI does", path: ["spec", "network"] }],
    };
  const shown = addressesIn(status.ips);
  return { value: { name: nameOf(object), namespace: namespaceOf(object), network, shown } };
}

/** Returns the owner for a claim: the claim itself, so that a claim made again under its name is the same owner. */
export function ownerOfIpamClaim({ name, namespace }: Pick<IpamClaim, "name" | "namespace">): Owner {
  return { kind: ipamClaimKind, namespace, name };
}

/** Returns the annotation with the addresses that were planned for a claim. */
export function plannedFor(claim: Bag): unknown {
  return annotationsOf(claim)[plannedAnnotation];
}

/** Returns the planned addresses of a claim, in the format of its status; skips what is no address. */
export function plannedIps(annotation: unknown): string[] {
  return textsIn(annotation).filter((ip) => parsePrefix(ip).value !== undefined && addressIn(ip).value !== undefined);
}

/** Returns the same as addresses, also those without a prefix length, which a VM requests. */
export function askedAddresses(annotation: unknown): Address[] {
  return addressesIn(textsIn(annotation));
}

/** Returns whether an annotation has the request of a VM, not the result of a plan: a plan writes prefix lengths. */
export function isAddressRequest(annotation: unknown): boolean {
  return askedAddresses(annotation).length > 0 && plannedIps(annotation).length === 0;
}

function textsIn(annotation: unknown): string[] {
  return typeof annotation === "string" ? annotation.split(",").map((ip) => ip.trim()) : [];
}

/** The addresses of a claim, with the prefix lengths of their pools. */
export type ClaimedAddresses = readonly string[];

/**
 * An IPAMClaim with its addresses. They are in its status, where the standard has them, and in an annotation, too: an API server
 * drops the status of what is created.
 */
export function ipamClaim(claim: IpamClaim, pod: string, addresses: ClaimedAddresses, own: Bag = {}): RenderedObject {
  const { metadata, spec } = asIpamClaim(own);
  const { status: _, ...rest } = own;
  return {
    apiVersion: `${attachmentGroup}/v1alpha1`,
    kind: ipamClaimKind,
    ...rest,
    metadata: {
      ...raw(metadata),
      name: claim.name,
      namespace: claim.namespace,
      labels: { ...metadata.labels, ...plannedLabel },
      annotations: { ...metadata.annotations, [plannedAnnotation]: addresses.join(",") },
    },
    spec: { interface: pod, ...raw(spec), network: claim.network },
    status: { ips: addresses },
  };
}

/** Adds each address in the status of a claim as the claim's, whichever program assigned it. */
export function usesOfIpamClaim(located: LocatedObject, found: Findings): void {
  const { object } = located;
  const { value: claim } = isIpamClaim(object) ? parseIpamClaim(object) : {};
  if (claim === undefined) return;
  found.speaks = true;
  const owner = `${ipamClaimKind}/${claim.namespace}:${claim.name}`;
  asIpamClaim(object).status.ips.forEach((text, i) => {
    const path = ["status", "ips", i];
    const prefix = parsePrefix(text);
    const address = addressIn(text);
    const issues = prefix.issues ?? address.issues ?? [];
    found.unreadable.push(...issues.map((issue) => issueIn(located, { ...issue, path })));
    if (prefix.value === undefined || address.value === undefined) return;
    const { length } = prefix.value;
    found.uses.push({ address: address.value, prefixLength: length, owner, at: located.at(path, `${text}`) });
  });
}

/** Returns the addresses of a list in the format of a status; skips what cannot be read. */
export function addressesIn(ips: readonly unknown[]): Address[] {
  return ips.flatMap((ip) => addressIn(ip).value ?? []);
}

/** Returns the address before the prefix length. */
function addressIn(ip: unknown): Parsed<Address> {
  return parseAddress(`${ip}`.replace(/\/.*/s, ""));
}
