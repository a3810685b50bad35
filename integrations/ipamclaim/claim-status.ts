import { type Allocation, formatAddress, type Pool } from "../../core/index.ts";
import { asBag, asList, type Bag } from "../../schema/objects.ts";
import { addressesIn } from "./ipam-claim.ts";

/** How a claim stands. */
export interface IpamClaimState {
  /** `<address>/<prefix length>` of each address that it has on record. */
  readonly recorded: readonly string[];
  /** The same of what was planned for it, and nobody else gives. */
  readonly planned: readonly string[];
  /** The same of what its status says already. */
  readonly shown: readonly string[];
  /** Why it gets nothing. */
  readonly pending?: { readonly code: string; readonly message: string } | undefined;
}

/**
 * What the status of an IPAMClaim says, with the condition and the reasons of the standard. Addresses that are there are never
 * replaced by others: a pod may run with them. One that is written otherwise is the same.
 *
 *  it has on record, or by a plan | the status shows    | ips      | IPsAllocated
 *  -------------------------------+---------------------+----------+----------------------------
 *  nothing, for want of room      | anything            | as shown | False, SubnetExhausted
 *  nothing, another one has it    | anything            | as shown | False, IPAddressConflict
 *  nothing, for another reason    | anything            | as shown | False, InternalError
 *  nothing                        | anything            | nothing is said
 *  addresses                      | nothing, or a part  | these    | True, SuccessfulAllocation
 *                                 |  of them            |          |
 *  addresses                      | other ones          | as shown | False, IPAddressConflict
 */
export function claimStatus({ recorded, planned, shown, pending }: IpamClaimState) {
  if (pending !== undefined) return status(shown, "False", reasons[pending.code] ?? "InternalError", pending.message);
  const ips = recorded.length > 0 ? recorded : planned;
  if (ips.length === 0) return undefined;
  const addresses = new Set(addressesIn(ips));
  if (shown.every((ip) => addressesIn([ip]).some((address) => addresses.has(address))))
    return status(ips, "True", "SuccessfulAllocation", "Its addresses are recorded");
  const message = `Its addresses are ${ips.join(", ")}, and the status shows others`;
  return status(shown, "False", "IPAddressConflict", message);
}

const reasons: Readonly<Record<string, string>> = {
  exhausted: "SubnetExhausted",
  "in-use": "IPAddressConflict",
  conflict: "IPAddressConflict",
};

function status(ips: readonly string[], value: string, reason: string, message: string) {
  return { fields: { ips }, conditions: [{ type: "IPsAllocated", status: value, reason, message }] };
}

/** Lines as a status has them: IPv4 first. */
export function ipsOf(lines: readonly Allocation[], pools: ReadonlyMap<string, Pool>): string[] {
  return lines.flatMap(({ address, pool }) => {
    const { prefix } = pools.get(pool) ?? {};
    return prefix === undefined ? [] : `${formatAddress(address)}/${prefix.length}`;
  });
}

/** What a status shows. */
export function shownIps({ status }: Bag): string[] {
  return asList(asBag(status)?.ips).map((ip) => `${ip}`);
}
