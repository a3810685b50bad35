import { type Allocation, familyOf, nodeNameOf, ownerOfKey, type Plan } from "../../core/index.ts";
import { speakersIn } from "../../integrations/nmstate/render.ts";
import { sayingsOf } from "../../integrations/nmstate/speakers.ts";
import { plural } from "../terminal.ts";
import type { Workspace } from "../workspace.ts";

/** What takes the addresses of a family off a NIC; of IPv6 the link keeps its own. */
const off = {
  IPv4: "ipv4: {enabled: false}",
  IPv6: "ipv6: {enabled: true, dhcp: false, autoconf: false, address: []}",
};

/** A NIC that has had an address, which is to be on another one. */
interface Former {
  readonly node: string;
  readonly nic: string;
  readonly family: "IPv4" | "IPv6";
}

/**
 * Says which NICs keep an address that goes to another one: nmstate takes no address off a NIC whose addresses no policy
 * sets.
 */
export function formerNicNotes({ keep }: Plan, workspace: Workspace): string[] {
  const former = keep.flatMap(({ allocation, was }) => (was === undefined ? [] : formerNicOf(was, allocation)));
  if (former.length === 0) return [];
  const names = new Set(former.map(({ nic }) => nic));
  const set = new Set(
    speakersIn(workspace).flatMap(({ desiredState, nodes }) =>
      sayingsOf(desiredState)
        .filter(({ nic, wipes }) => wipes !== undefined && names.has(nic))
        .flatMap(({ nic, family }) => nodes.map((node) => keyOf({ node: node.name, nic, family: `IPv${family}` }))),
    ),
  );
  const left = Map.groupBy(
    former.filter((one) => !set.has(keyOf(one))),
    ({ nic, family }) => `${nic} ${family}`,
  );
  return [...left.values()].flatMap(([first, ...others]) => {
    if (first === undefined) return [];
    const { nic, node, family } = first;
    const whose = others.length === 0 ? node : `${node} and ${plural(others.length, "other")}`;
    return `Note: ${nic} of ${whose} keeps the ${family} address as well, until it is taken off (unless it is the same NIC by another name): say "${off[family]}" of ${nic} in the policy`;
  });
}

function formerNicOf({ interface: nic }: Allocation, now: Allocation): Former[] {
  const node = nodeNameOf(ownerOfKey(now.claim));
  if (nic === undefined || now.interface === undefined || nic === now.interface || node === undefined) return [];
  return [{ node, nic, family: `IPv${familyOf(now.address)}` }];
}

function keyOf({ node, nic, family }: Former): string {
  return `${node} ${nic} ${family}`;
}
