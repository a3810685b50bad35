import {
  type Address,
  familyOf,
  type Issue,
  type Parsed,
  parseAddress,
  parsePrefix,
  type Use,
  unwrap,
} from "../../core/index.ts";
import { useOf } from "../../schema/findings.ts";
import type { LocatedObject } from "../../schema/objects.ts";
import { type Of, raw } from "../../schema/shape.ts";
import type { Path } from "../../schema/yaml.ts";
import { reportedName } from "./nic-names.ts";
import type { asListed, Nic, Section } from "./objects.ts";
import { asNumber } from "./truth.ts";

/** One item of an address list. */
export interface ListedAddress {
  readonly nic: Nic;
  readonly section: Section;
  readonly item: Of<typeof asListed>;
  readonly ip: unknown;
  readonly path: Path;
}

/** All items of the address lists of an interface, in the order of the text. */
export function entriesOf(nic: Nic, path: Path): ListedAddress[] {
  return Object.keys(raw(nic)).flatMap((name) => {
    if (name !== "ipv4" && name !== "ipv6") return [];
    const section = nic[name];
    return section.address.map((item, j) => {
      return { nic, section, item, ip: item.ip, path: [...path, name, "address", j, "ip"] };
    });
  });
}

/** Returns the use that an item of an address list is, if it is one: of its own accord a node has loopback and link-local addresses. */
export function useIn(
  { nic, item, ip, path }: ListedAddress,
  at: LocatedObject["at"],
  read: (text: unknown) => Parsed<Address>,
  issues: Issue[],
): Use | undefined {
  if (typeof ip !== "string" || isSelfMade(readAddress(ip).value)) return undefined;
  const place = at(path, ip);
  const address = ip.startsWith("ippool:")
    ? { issues: [{ message: `${ip} is a token, and no address yet` }] }
    : read(ip);
  for (const issue of address.issues ?? []) issues.push({ ...issue, at: place });
  if (address.issues) return undefined;
  const prefixLength = asNumber(item["prefix-length"]);
  const use = useOf(address.value, undefined, reportedName(nic), place);
  return prefixLength === undefined ? use : { ...use, prefixLength };
}

function isSelfMade(address: Address | undefined): boolean {
  return address !== undefined && selfMade.some(({ first, last }) => first <= address && address <= last);
}

const selfMade = ["127.0.0.0/8", "fe80::/10", "::1/128"].map((text) => unwrap(parsePrefix(text)));

/** An address as nmstate reads it: the last 32 bits of an IPv6 one may be written as IPv4. */
export function readAddress(text: unknown): Parsed<Address> {
  const [, head = "", tail] = (typeof text === "string" ? /^([\da-f:]*:)([\d.]{7,15})$/i.exec(text) : null) ?? [];
  const { value } = parseAddress(tail);
  if (value === undefined || familyOf(value) !== 4) return parseAddress(text);
  return parseAddress(`${head}${(value >> 16n).toString(16)}:${(value & 0xffffn).toString(16)}`);
}
