import { type Address, familyOf, formatAddress } from "../../core/index.ts";
import type { SourceObject } from "../../schema/manifest-document.ts";
import { issueIn } from "../../schema/objects.ts";
import type { ReadObject } from "../contract/read-each.ts";
import type { UnreadObject } from "../contract/unserved.ts";
import { claimNameOf, podInterfaceOf } from "./claim-name.ts";
import type { IpamClaim } from "./ipam-claim.ts";
import type { PersistentNetwork } from "./network.ts";
import type { Networks } from "./networks.ts";
import type { VirtualMachine } from "./virtual-machine.ts";

/** A request for addresses of a network: the claim, and the object that asks for it. */
export interface AddressRequest {
  readonly claim: IpamClaim;
  readonly network: PersistentNetwork;
  /** The name of its interface in the pod. */
  readonly podInterface: string;
  readonly wanted: readonly Address[];
  /** The prefix lengths of those that are asked for with one. */
  readonly lengths: ReadonlyMap<Address, number>;
  /** The VM that asks for it, or the claim itself. */
  readonly source: SourceObject;
  /** Where in it. */
  readonly path: readonly (string | number)[];
  /** The claim, if it exists as an object. */
  readonly written?: SourceObject;
}

/**
 * Returns the requests for addresses. One that cannot be served does not stop the others.
 *
 *  a VM's network, or a claim                   | asks
 *  ---------------------------------------------+-----------------------------------------------------------
 *  of a definition that keeps no addresses      | no
 *  of one of OVN-Kubernetes in another          | an error: it would look for the claim there
 *   namespace than the VM                       |
 *  of any other definition                      | for the claim of its name
 *  a claim that a VM asks for                   | with it; it must name the same network
 *  any other claim on a network that keeps them | for itself
 *
 * A VM and its instance ask for the same claim. A claim has the addresses that it shows, and its VM must not ask for others.
 */
export function requestsOf(
  networks: Networks,
  vms: readonly ReadObject<VirtualMachine>[],
  claims: readonly ReadObject<IpamClaim>[],
): { readonly requests: readonly AddressRequest[]; readonly unread: readonly UnreadObject[] } {
  const unread: UnreadObject[] = [];
  const written = new Map(claims.map((one) => [titleOfClaim(one.value), one]));
  const requests = new Map<string, AddressRequest>();
  for (const vm of vms)
    for (const request of requestsOfVm(vm, networks, written, unread)) {
      const title = titleOfClaim(request.claim);
      const first = requests.get(title);
      const wanted = first === undefined || first.wanted.length === 0 ? request.wanted : first.wanted;
      const isOtherwise = request.wanted.some((address) => !wanted.includes(address));
      if (isOtherwise || request.network.network !== (first ?? request).network.network) {
        const message = `${title} is asked for twice, and otherwise`;
        const issues = [issueIn(vm.source, { path: request.path, message })];
        unread.push({ source: vm.source, issues }, { source: (first ?? request).source, issues: [] });
      }
      requests.set(title, { ...(first ?? request), wanted });
    }
  for (const { value: claim, source } of claims) {
    const network = networks.byName.get(claim.network)?.value;
    const title = titleOfClaim(claim);
    const own = {
      podInterface: "",
      wanted: claim.shown,
      lengths: new Map(),
      path: ["spec", "network"],
      source,
      written: source,
    };
    if (network !== undefined && !requests.has(title)) requests.set(title, { claim, network, ...own });
  }
  return { requests: withoutUnread([...requests.values()], unread), unread };
}

/** Leaves out the requests of unread objects: a VM that asks for several addresses gets all of them, or none. */
export function withoutUnread(requests: readonly AddressRequest[], unread: readonly UnreadObject[]): AddressRequest[] {
  const sources = new Set(unread.map(({ source }) => source));
  return requests.filter(({ source, written }) => !sources.has(source) && !(written && sources.has(written)));
}

function requestsOfVm(
  { value: vm, source }: ReadObject<VirtualMachine>,
  networks: Networks,
  written: ReadonlyMap<string, ReadObject<IpamClaim>>,
  unread: UnreadObject[],
): AddressRequest[] {
  return vm.attachments.flatMap(({ network: called, definition, wanted, lengths, path }): AddressRequest[] => {
    const network = networks.byTitle.get(definition)?.value;
    if (network === undefined) return [];
    if (vm.name === "") {
      unread.push({ source, issues: [issueIn(source, nameless)] });
      return [];
    }
    const identity = { name: claimNameOf(vm.name, called), namespace: vm.namespace };
    const claim = { ...identity, network: network.network, shown: [] };
    const own = written.get(titleOfClaim(claim));
    const shown = own?.value.shown ?? [];
    const wrong = whyNot(vm, network, own) ?? whyNoOther(vm, wanted, shown);
    if (wrong !== undefined) {
      const issues = [issueIn(own && wrong.isOfClaim ? own.source : source, { path, ...wrong })];
      unread.push({ source, issues }, ...(own === undefined ? [] : [{ source: own.source, issues: [] }]));
    }
    return [
      {
        ...{ claim, network, podInterface: podInterfaceOf(called), lengths, source, path },
        wanted: [...new Set([...wanted, ...shown])],
        ...(own === undefined ? {} : { written: own.source }),
      },
    ];
  });
}

const nameless = {
  message: "a VM that has addresses of its own needs a name: its claim is called by it",
  hint: "Write metadata.name in place of generateName.",
  path: ["metadata"],
};

function whyNot(vm: VirtualMachine, network: PersistentNetwork, own: ReadObject<IpamClaim> | undefined) {
  if (own !== undefined && own.value.network !== network.network) {
    const message = `the network of VM ${vm.name} is ${network.network}, and its claim names ${own.value.network}`;
    return { message, path: ["spec", "network"], isOfClaim: true };
  }
  if (!network.isOvn || network.namespace === vm.namespace) return undefined;
  return {
    message: `OVN-Kubernetes looks for the claim of VM ${vm.name} in namespace ${network.namespace}, where ${network.title} is; it is in ${vm.namespace}`,
    hint: `Define the network in namespace ${vm.namespace}, too, with the same configuration.`,
    isOfClaim: false,
  };
}

/** A pod may run with what a claim shows. */
function whyNoOther(vm: VirtualMachine, wanted: readonly Address[], shown: readonly Address[]) {
  const has = shown.find((one) => !wanted.includes(one) && wanted.some((other) => familyOf(other) === familyOf(one)));
  if (has === undefined) return undefined;
  return {
    message: `VM ${vm.name} wants ${wanted.map(formatAddress).join(", ")}, and its claim has ${formatAddress(has)}`,
    hint: "Let both say the same, or take the status out of the claim.",
    isOfClaim: false,
  };
}

function titleOfClaim({ namespace, name }: IpamClaim): string {
  return `${namespace}/${name}`;
}
