import { type Allocation, familyOf, nodeOwner, ownerOfKey } from "../../core/index.ts";
import { hasTemplate } from "../../schema/template.ts";
import { type AddressList, addressListsOf, portOf } from "./address-list.ts";
import { internalPortsOf, isPolicyOf, type ScopedPolicy } from "./scoped-policy.ts";

/** What other policies set on the NICs of a node: clean-up leaves that to them. */
export class Neighbours {
  private readonly byNode = new Map<
    string,
    { readonly policy: ScopedPolicy; readonly lists: readonly AddressList[] }[]
  >();

  constructor(policies: readonly ScopedPolicy[]) {
    const internal = internalPortsOf(policies);
    for (const policy of policies) {
      // A policy that turns a family or a NIC off has the effect of clean-up; IPv4 of a port may be turned off, too.
      const lists = addressListsOf(policy.desiredState).filter(
        ({ overrides, family, nic }) =>
          overrides !== "enabled: false" &&
          overrides !== "state: down" &&
          !(overrides === portOf && (family === 4 || internal.has(nic))),
      );
      for (const { name } of lists.length === 0 ? [] : policy.nodes) {
        const owner = nodeOwner(name);
        const there = this.byNode.get(owner) ?? [];
        there.push({ policy, lists });
        this.byNode.set(owner, there);
      }
    }
  }

  /** Why a releasing address is theirs to take off, if it is: by turning its family off, clean-up would remove what they set. */
  whyLeft(line: Allocation): string | undefined {
    const { interface: nic } = line;
    if (nic === undefined) return undefined;
    const family = familyOf(line.address);
    const others = (this.byNode.get(ownerOfKey(line.claim)) ?? []).filter(({ policy }) => !isPolicyOf(policy, line));
    const lists = others.flatMap(({ policy: { name }, lists }) =>
      lists.filter((list) => list.family === family).map((list) => ({ name, ...list })),
    );
    const setter = lists.find((one) => one.nic === nic);
    if (setter?.overrides === portOf) return `policy ${setter.name} makes ${nic} ${portOf}`;
    if (setter !== undefined) return `policy ${setter.name} sets the IPv${family} addresses of ${nic}`;
    const unsure = lists.find((one) => hasTemplate(one.nic));
    return unsure === undefined
      ? undefined
      : `its NIC ${nic} may be the one that policy ${unsure.name} calls ${unsure.nic}`;
  }
}
