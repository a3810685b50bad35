import { Address4, Address6 } from "ip-address";
import { type Address, address, formatAddress, parseAddress } from "../core/index.ts";
import { random } from "./data.ts";
import { type Effort, effort, figures, inTurn, perOperation, type Result, ratio } from "./measure.ts";

const library = "ip-address";
const v6 = address("::");

/** One address from text and to text, 1,000 different ones in turn. */
export function run(short: boolean): Result[] {
  const spent = effort(short, 15);
  const pick = random(2);
  const ipv4 = texts(() => Array.from({ length: 4 }, () => pick(256)).join("."));
  const ipv6 = texts((i) => {
    const host = Array.from({ length: i % 2 === 0 ? 4 : 1 }, () => (pick(65535) + 1).toString(16));
    return `2001:db8:${pick(65536).toString(16)}:1:${host.length === 1 ? ":" : ""}${host.join(":")}`;
  });
  return [
    ...compare("IPv4", spent, ipv4, {
      parse: (text) => new Address4(text).bigInt(),
      format: (value) => Address4.fromBigInt(value).correctForm(),
    }),
    ...compare("IPv6", spent, ipv6, {
      parse: (text) => new Address6(text).bigInt(),
      format: (value) => Address6.fromBigInt(value - v6).correctForm(),
    }),
  ];
}

interface Rival {
  readonly parse: (text: string) => bigint;
  readonly format: (value: Address) => string;
}

function compare(family: string, spent: Effort, written: readonly string[], rival: Rival): Result[] {
  const values = written.map(address);
  written.forEach((text, i) => {
    const value = values[i] as Address;
    if (formatAddress(value) !== text || rival.format(value) !== text) throw new Error(`${text} is not canonical`);
  });
  const taken = inTurn(spent, {
    parse: over(written, parseAddress),
    "parse theirs": over(written, rival.parse),
    format: over(values, formatAddress),
    "format theirs": over(values, rival.format),
  });
  return (["parse", "format"] as const).map((name) => ({
    name: `${family}: ${name} one address`,
    ...figures(taken[name]),
    unit: "ns",
    ratios: [ratio(library, taken[name], taken[`${name} theirs`])],
  }));
}

function over<T>(items: readonly T[], work: (item: T) => unknown) {
  return perOperation((count) => {
    let last: unknown;
    for (let i = 0; i < count; i++) last = work(items[i % items.length] as T);
    return last;
  });
}

function texts(make: (i: number) => string): string[] {
  return Array.from({ length: 1000 }, (_, i) => formatAddress(address(make(i))));
}
