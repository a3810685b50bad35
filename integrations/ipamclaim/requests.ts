import type { Address, Issue, Parsed } from "../../core/index.ts";
import type { SourceObject } from "../../schema/manifest-document.ts";
import { issueIn } from "../../schema/objects.ts";
import type { ReadObject } from "../read-each.ts";
import { claimNameOf, podInterfaceOf } from "./claim-name.ts";
import type { IpamClaim } from "./ipam-claim.ts";
import type { PersistentNetwork } from "./network.ts";
import type { Networks } from "./networks.ts";
import type { VirtualMachine } from "./virtual-machine.ts";

/** Somebody who is to have addresses of a network: a claim, and what asks for it. */
export interface AddressRequest {
  readonly claim: IpamClaim;
  readonly network: PersistentNetwork;
  /** What its interface is called in the pod. */
  readonly podInterface: string;
  readonly wanted: readonly Address[];
  /** The VM that asks for it, or the claim itself. */
  readonly source: SourceObject;
  /** Where in it. */
  readonly path: readonly (string | number)[];
  /** The claim, where somebody has written it. */
  readonly written?: SourceObject;
}

/**
 * Who asks for addresses. All issues, each with its place.
 *
 *  a VM's network, or a claim                   | asks
 *  ---------------------------------------------+-----------------------------------------------------------
 *  of a definition that keeps no addresses      | no
 *  of one of OVN-Kubernetes in another          | an error: it would look for the claim there
 *   namespace than the VM                       |
 *  of any other definition                      | for the claim of its name
 *  a claim that a VM asks for                   | with it; it must name the same network
 *  any other claim on a network that keeps them | for itself
 */
export function requestsOf(
  networks: Networks,
  vms: readonly ReadObject<VirtualMachine>[],
  claims: readonly ReadObject<IpamClaim>[],
): Parsed<readonly AddressRequest[]> {
  const issues: Issue[] = [];
  const written = new Map(claims.map((one) => [titleOfClaim(one.value), one]));
  const requests = new Map<string, AddressRequest>();
  for (const { value: vm, source } of vms)
    for (const { network: called, definition, wanted, path } of vm.attachments) {
      const network = networks.byTitle.get(definition)?.value;
      if (network === undefined) continue;
      const claim = {
        name: claimNameOf(vm.name, called),
        namespace: vm.namespace,
        network: network.network,
        shown: [],
      };
      const title = titleOfClaim(claim);
      const own = written.get(title);
      const wrong = whyNot(vm, network, own);
      if (wrong !== undefined) issues.push(issueIn(own && wrong.isOfClaim ? own.source : source, { path, ...wrong }));
      if (requests.has(title)) continue;
      const podInterface = podInterfaceOf(called);
      requests.set(title, {
        ...{ claim, network, podInterface, source, path },
        wanted: wanted.length > 0 ? wanted : (own?.value.shown ?? []),
        ...(own === undefined ? {} : { written: own.source }),
      });
    }
  for (const { value: claim, source } of claims) {
    const network = networks.byName.get(claim.network)?.value;
    const title = titleOfClaim(claim);
    if (network !== undefined && !requests.has(title))
      requests.set(title, {
        ...{
          claim,
          network,
          podInterface: "",
          wanted: claim.shown,
          source,
          path: ["spec", "network"],
          written: source,
        },
      });
  }
  return issues.length > 0 ? { issues } : { value: [...requests.values()] };
}

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

function titleOfClaim({ namespace, name }: IpamClaim): string {
  return `${namespace}/${name}`;
}
