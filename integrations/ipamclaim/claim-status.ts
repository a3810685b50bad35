import { type Allocation, familyOf, formatAddress, type Pool } from "../../core/index.ts";
import type { Bag } from "../../schema/objects.ts";
import { addressesIn } from "./ipam-claim.ts";
import { asIpamClaim } from "./objects.ts";

/** The state of a claim. */
export interface IpamClaimState {
  /** `<address>/<prefix length>` of each address that it has on record. */
  readonly recorded: readonly string[];
  /** The same of each recorded address that its network no longer gives: the record keeps it while the claim exists. */
  readonly kept: readonly string[];
  /** The same of each address that a plan gave it. */
  readonly planned: readonly string[];
  /** The same of each address in its status. */
  readonly shown: readonly string[];
  /** Why it gets no address. */
  readonly pending?: { readonly code: string; readonly message: string } | undefined;
}

/**
 * Returns the status of an IPAMClaim, with the condition and the reasons of the standard. Addresses in the status are never replaced by
 * others, because a pod may run with them. Another spelling of an address is the same address.
 *
 *  it has on record, or by a plan | the status shows    | ips       | IPsAllocated
 *  -------------------------------+---------------------+-----------+----------------------------
 *  nothing, for want of room      | anything            | as shown  | False, SubnetExhausted
 *  nothing, another owner has it  | anything            | as shown  | False, IPAddressConflict
 *  nothing, for another reason    | what it had of      | as shown  | True, SuccessfulAllocation
 *                                 |  other pools before |           |
 *  nothing, for another reason    | anything else       | as shown  | False, InternalError
 *  nothing                        | anything            | no status
 *  addresses                      | nothing, or some of | these,    | True, SuccessfulAllocation
 *                                 |  them, or of those  |  and what |
 *                                 |  that it had before |  is shown |
 *  the same, of a family of which | one that it had     | as shown  | the same
 *                                 |  before             |           |
 *  addresses                      | other ones          | as shown  | False, IPAddressConflict
 */
export function claimStatus({ recorded, kept, planned, shown, pending }: IpamClaimState) {
  const given = recorded.length > 0 ? recorded : planned;
  const isOf = (ips: readonly string[]) => {
    const addresses = new Set(addressesIn(ips));
    return (ip: string) => addressesIn([ip]).some((address) => addresses.has(address));
  };
  const isOwn = shown.every(isOf([...given, ...kept]));
  if (pending !== undefined) {
    const reason = reasons[pending.code];
    if (reason === undefined && shown.length > 0 && isOwn) return allocated(shown);
    return status(shown, "False", reason ?? "InternalError", pending.message);
  }
  if (given.length === 0) return undefined;
  if (isOwn) {
    const before = shown.filter((ip) => !isOf(given)(ip));
    const had = new Set(addressesIn(before).map(familyOf));
    const more = given.filter((ip) => !addressesIn([ip]).some((one) => had.has(familyOf(one))));
    return allocated([...more, ...before].toSorted((a, b) => Number(a.includes(":")) - Number(b.includes(":"))));
  }
  const message = `Its addresses are ${given.join(", ")}, and the status shows others`;
  return status(shown, "False", "IPAddressConflict", message);
}

function allocated(ips: readonly string[]) {
  return status(ips, "True", "SuccessfulAllocation", "Its addresses are recorded");
}

const reasons: Readonly<Record<string, string>> = {
  exhausted: "SubnetExhausted",
  "in-use": "IPAddressConflict",
  conflict: "IPAddressConflict",
};

function status(ips: readonly string[], value: string, reason: string, message: string) {
  return { fields: { ips }, conditions: [{ type: "IPsAllocated", status: value, reason, message }] };
}

/** Lines as a status has them: IPv4 first. Of a pool that gives nothing now, such as one that is being deleted, as they are `shown`. */
export function ipsOf(
  lines: readonly Allocation[],
  pools: ReadonlyMap<string, Pool>,
  shown: readonly string[],
): string[] {
  // Two networks may have one subnet, and a claim its address of both.
  const each = new Map(lines.toReversed().map((line) => [line.address, line]));
  return [...each.values()].reverse().flatMap(({ address, pool }) => {
    const { prefix } = pools.get(pool) ?? {};
    if (prefix === undefined) return shown.filter((ip) => addressesIn([ip]).includes(address));
    return `${formatAddress(address)}/${prefix.length}`;
  });
}

/** Returns the addresses that a status shows. */
export function shownIps(claim: Bag): string[] {
  return asIpamClaim(claim).status.ips.map((ip) => `${ip}`);
}
