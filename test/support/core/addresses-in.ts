import { objectKey } from "../../../integrations/contract/object-key.ts";
import { asBag, asList, type Bag } from "../../../schema/objects.ts";
import { networksKey } from "../objects/workload-objects.ts";

/** An address, or a slice, that an object shows, and the owner for which it shows it. */
export interface AddressOfOwner {
  readonly address: string;
  readonly owner: string;
}

/**
 * Returns the addresses that an object tells its reader. Some owners have them in two objects: a VM in its pods and its
 * IPAMClaims, a pod by itself in its annotation and its ConfigMap.
 */
export function addressesIn(object: Bag): AddressOfOwner[] {
  const found = readers[`${object.kind}`]?.(object, asBag(object.metadata) ?? {}) ?? [];
  return found.flatMap(([ip, owner = objectKey(object as never)]) => {
    const address = /^[\d.]+\.\d+(?=\/|$)/.exec(`${ip}`)?.[0];
    return address === undefined ? [] : { address, owner };
  });
}

/** An address, and its owner unless that is the object. */
type Found = readonly [ip: unknown, owner?: string | undefined];

const readers: Readonly<Record<string, (object: Bag, metadata: Bag) => Found[]>> = {
  NodeNetworkConfigurationPolicy: ({ spec }) =>
    bags(asBag(asBag(spec)?.desiredState)?.interfaces)
      .flatMap(({ ipv4 }) => bags(asBag(ipv4)?.address))
      .map(({ ip }) => [ip]),
  NodeNetworkConfigurationEnactment: ({ status }, { labels }) => {
    const captured = Object.values(asBag(asBag(status)?.capturedStates) ?? {});
    const { "nmstate.io/node": node, "nodeippool.nmstate.io/policy": policy } = asBag(labels) ?? {};
    return bags(captured.flatMap((one) => asList(asBag(asBag(one)?.state)?.interfaces)))
      .flatMap(({ ipv4 }) => bags(asBag(ipv4)?.address))
      .map(({ ip }) => [ip, `${policy} on ${node}`]);
  },
  IPAddress: ({ spec }) => [[asBag(spec)?.address]],
  IPAMClaim: ({ status }, { namespace, ownerReferences }) => {
    const vm = bags(ownerReferences).find(({ kind }) => kind === "VirtualMachine")?.name;
    return asList(asBag(status)?.ips).map((ip) => [ip, vm === undefined ? undefined : `VM ${namespace}:${vm}`]);
  },
  NodeSlicePool: ({ status }, { name }) =>
    bags(asBag(status)?.allocations).map(({ nodeName, sliceRange }) => [
      sliceRange,
      `NodeSlicePool ${name} ${nodeName}`,
    ]),
  Pod: (_, { namespace, name, labels, annotations }) => {
    const vm = asBag(labels)?.["vm.kubevirt.io/name"];
    return ofElements(asBag(annotations)?.[networksKey], `${vm ? "VM" : "Pod"} ${namespace}:${vm ?? name}`);
  },
  ConfigMap: ({ data }, { namespace, name }) => {
    const [, pod] = /^nodeippool-pod\.(.*)$/.exec(`${name}`) ?? [];
    return Object.entries(asBag(data) ?? {}).flatMap(([key, text]) =>
      ofElements(text, `Pod ${namespace}:${pod ?? `${name} ${key}`}`),
    );
  },
  Secret: ({ data }) => {
    const text = Buffer.from(`${asBag(data)?.networkData}`, "base64").toString();
    return [...text.matchAll(/ip_address"?: *"?([\d.]+)/g)].map(([, ip]) => [ip]);
  },
};

function ofElements(text: unknown, owner: string): Found[] {
  return parsed(text).flatMap(({ ips }) => asList(ips).map((ip): Found => [ip, owner]));
}

/** Bad objects have texts that are no JSON. */
function parsed(text: unknown): Bag[] {
  try {
    return bags(JSON.parse(`${text}`));
  } catch {
    return [];
  }
}

function bags(value: unknown): Bag[] {
  return asList(value)
    .map(asBag)
    .filter((one) => one !== undefined);
}
