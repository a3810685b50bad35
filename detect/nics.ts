import { type Address, familyOf, formatAddress, type Prefix, parseAddress, prefixAt } from "../core/index.ts";

/** A NIC of this network namespace. */
export interface Nic {
  readonly name: string;
  readonly mac: string;
  /** Whether the NIC is up, and has a carrier. */
  readonly isUp: boolean;
  readonly addresses: readonly NicAddress[];
}

export interface NicAddress {
  readonly address: Address;
  readonly prefix: Prefix;
  readonly isLinkLocal: boolean;
  /** Whether duplicate address detection is not done, or has failed: nothing can be sent from the address. */
  readonly isTentative: boolean;
  /** Whether duplicate address detection has failed: another host has it. */
  readonly dadFailed: boolean;
}

/** What `ip -json address` prints, as far as it matters here. */
interface PrintedNic {
  readonly ifname: string;
  readonly address?: string;
  readonly flags: readonly string[];
  readonly addr_info: readonly {
    readonly local: string;
    readonly prefixlen: number;
    readonly scope: string;
    readonly tentative?: boolean;
    readonly dadfailed?: boolean;
  }[];
}

/** Reads what `ip -json address` prints. */
export function parseNics(text: string): Nic[] {
  return (JSON.parse(text) as PrintedNic[]).map(({ ifname, address = "", flags, addr_info }) => ({
    name: ifname,
    mac: address,
    isUp: flags.includes("LOWER_UP"),
    addresses: addr_info.flatMap(({ local, prefixlen, scope, tentative = false, dadfailed = false }) => {
      const { value } = parseAddress(local);
      if (value === undefined || scope === "host") return [];
      const prefix = prefixAt(value, prefixlen);
      return { address: value, prefix, isLinkLocal: scope === "link", isTentative: tentative, dadFailed: dadfailed };
    }),
  }));
}

/** Its addresses that another host could have as well, but for link-local ones, which the kernel makes and checks. */
export function ownAddresses({ addresses }: Nic): NicAddress[] {
  return addresses.filter(({ isLinkLocal }) => !isLinkLocal);
}

/** Its address in the subnet of another one. */
export function addressBeside({ addresses }: Nic, other: Address): string | undefined {
  const found = addresses.find(({ prefix }) => prefix.first <= other && other <= prefix.last);
  return found && formatAddress(found.address);
}

/** The link-local IPv6 address that it can send from. */
export function linkLocalSender({ addresses }: Nic): string | undefined {
  const found = addresses.find((one) => one.isLinkLocal && !one.isTentative && familyOf(one.address) === 6);
  return found && formatAddress(found.address);
}
