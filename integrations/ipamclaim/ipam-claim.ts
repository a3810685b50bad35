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

/** The addresses that were planned for a claim, `<address>/<prefix length>`, with a comma between two families; or that its VM asks for. */
export const plannedAnnotation = `${ownPrefix}addresses`;

/** On each claim that was rendered: by it `kubectl apply` finds those whose status is to be applied. */
const plannedLabel = { [`${ownPrefix}planned`]: "true" };

/** What an IPAMClaim says. */
export interface IpamClaim {
  readonly name: string;
  readonly namespace: string;
  /** The network, as its configuration of CNI calls it. */
  readonly network: string;
  /** The addresses in its status, as far as they can be read. */
  readonly shown: readonly Address[];
}

export function isIpamClaim({ apiVersion, kind }: Bag): boolean {
  return kind === ipamClaimKind && isOfGroup(apiVersion, attachmentGroup);
}

/** Was it rendered by a plan? */
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

/** A claim is its own owner: whoever comes back under its name is the same one. */
export function ownerOfIpamClaim({ name, namespace }: Pick<IpamClaim, "name" | "namespace">): Owner {
  return { kind: ipamClaimKind, namespace, name };
}

/** What its annotation says that was planned for a claim. */
export function plannedFor(claim: Bag): unknown {
  return annotationsOf(claim)[plannedAnnotation];
}

/** What was planned for a claim, as its status says it; what is no address is left out. */
export function plannedIps(annotation: unknown): string[] {
  return textsIn(annotation).filter((ip) => parsePrefix(ip).value !== undefined && addressIn(ip).value !== undefined);
}

/** The same as addresses, also where one stands without a prefix length: a VM asks for it. */
export function askedAddresses(annotation: unknown): Address[] {
  return addressesIn(textsIn(annotation));
}

/** Does its VM ask for addresses of a claim, and no plan has given them? A plan says how long their prefixes are. */
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

/** Each address in a status is its claim's, whoever gave it. */
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

/** The addresses of a list like a status has it, as far as they can be read. */
export function addressesIn(ips: readonly unknown[]): Address[] {
  return ips.flatMap((ip) => addressIn(ip).value ?? []);
}

/** The address before the prefix length. */
function addressIn(ip: unknown): Parsed<Address> {
  return parseAddress(`${ip}`.replace(/\/.*/s, ""));
}
