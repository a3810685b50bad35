import { createHash } from "node:crypto";

/**
 * The name of the IPAMClaim of a VM's network. No two VMs or networks of a namespace have one name: the network's part holds no
 * dot, and a name that ends like a digest is never taken as it is.
 *
 *  network                                   | the claim is called
 *  ------------------------------------------+--------------------------------------
 *  letters, digits and dashes in lower case  | `<vm>.<network>`
 *  any other, or the name would be too long  | `<vm>.<network, made so>-<digest>`
 */
export function claimNameOf(vm: string, network: string): string {
  const plain = `${vm}.${network}`;
  const isPlain = plainName.test(network) && !/-[0-9a-f]{8}$/.test(network);
  if (isPlain && plain.length <= maxNameLength) return plain;
  return `${trimmed(vm, 180)}.${madePlain(network, 60)}-${digest(`${vm}/${network}`).slice(0, 8)}`;
}

/**
 * Returns what KubeVirt's ipam-extensions calls the claim: the name in lower case, with a dot in place of every sign that an object's
 * name cannot have. Two networks of a VM may have one such name, and so may networks of two VMs.
 */
export function extensionsNameOf(vm: string, network: string): string {
  const parts = `${vm}.${network}`
    .toLowerCase()
    .match(/[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*/g);
  return (parts ?? []).join(".").slice(0, maxNameLength);
}

const maxNameLength = 253;
const plainName = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/;

/** Returns the name of a network's pool: the network's, if that is a plain name, else a plain form of it with a digest behind. */
export function poolNameOf(network: string): string {
  if (plainName.test(network) && network.length <= 58) return network;
  return `${madePlain(network, 45)}-${digest(network).slice(0, 8)}`;
}

/** Returns the VM in the name of a claim; undefined if the name has no such part. */
export function vmOfClaimName(name: string): string | undefined {
  return /^(.+)\.[^.]+$/.exec(name)?.[1];
}

/** Returns KubeVirt's name for the interface of a secondary network in the pod of a VM. */
export function podInterfaceOf(network: string): string {
  return `pod${digest(network).slice(0, 11)}`;
}

function madePlain(network: string, length: number): string {
  return trimmed(network.toLowerCase().replace(/[^a-z0-9]+/g, "-"), length) || "network";
}

function trimmed(text: string, length: number): string {
  return text.slice(0, length).replace(/^[.-]+|[.-]+$/g, "");
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
