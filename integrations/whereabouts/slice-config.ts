import {
  type Address,
  type Block,
  bitsOf,
  blockAt,
  covers,
  familyOf,
  formatPrefix,
  type Issue,
  lastOf,
  type MaybeBlock,
  type Parsed,
  type Prefix,
  parseAddress,
  parseBlock,
  parsePrefix,
} from "../../core/index.ts";
import type { Of } from "../../schema/shape.ts";
import { asIpam, type asIpRange, type Ipam } from "./objects.ts";

/** The slices of a network, by its IPAM configuration for whereabouts. */
export interface SliceConfig {
  readonly prefix: Prefix;
  /** The prefix length of a slice, and how it is written. */
  readonly length: number;
  readonly size: string;
  /** The addresses that slices are cut from. */
  readonly first: Address;
  readonly last: Address;
  /** The addresses that pods must not get: `exclude`, and the gateway. */
  readonly withheld: readonly Block[];
  /** `network_name`: where a network has one, its addresses are its own; those of all others are one space. */
  readonly scope: string | undefined;
}

/**
 * Parses an IPAM configuration as whereabouts does, or returns all issues; undefined if it asks for no slices.
 *
 *  key                  | what is read
 *  ---------------------+--------------------------------------------------------------------------------
 *  node_slice_size      | `/22` or `22`: the length of a slice; absent or empty: no slices
 *  range                | a prefix, host bits are dropped; `a-b/n` is the prefix of b, from a to b
 *  ipRanges             | the same, with its own start, end and exclude: one range in all
 *  range_start, _end    | slices lie between them; the first and last address of a slice, which no pod gets, need not
 *  exclude, gateway     | no slice contains one; outside of the range they have no effect
 *  network_name         | the name of the NodeSlicePool, and a space of addresses of its own
 */
export function parseSliceConfig(config: unknown): Parsed<SliceConfig | undefined> {
  const ipam = asIpam(config);
  const { type, node_slice_size: size } = ipam;
  if (type !== "whereabouts" || size === undefined || size === "") return { value: undefined };
  const reader = new ConfigReader();
  const value = reader.config(ipam, size);
  return reader.issues.length > 0 ? { issues: reader.issues } : { value };
}

class ConfigReader {
  readonly issues: Issue[] = [];

  config(ipam: Ipam, size: unknown): SliceConfig | undefined {
    const range = this.range(ipam);
    if (range === undefined) return undefined;
    const { from, text, to } = rangeTexts(range.range);
    const prefix = this.take("range", parsePrefix(text));
    const length = prefix && this.length(size, prefix);
    if (prefix === undefined || length === undefined) return undefined;
    const first = this.address("range_start", from ?? range.range_start, prefix) ?? prefix.first;
    const last = this.address("range_end", to ?? range.range_end, prefix) ?? prefix.last;
    if (first > last) this.fail("range ends before it starts");
    const gateway = isGiven(ipam.gateway) ? this.take("gateway", parseBlock(ipam.gateway)) : undefined;
    const excluded = this.excluded(range.exclude);
    const scope = isGiven(ipam.network_name) ? ipam.network_name : undefined;
    if (scope !== undefined && typeof scope !== "string") return this.fail("network_name must be text");
    return {
      prefix,
      length,
      size: `${size}`,
      ...widened(first, last, length),
      withheld: [...excluded, ...(gateway === undefined ? [] : [gateway])].filter((block) => isInside(block, prefix)),
      scope,
    };
  }

  /** The one range: whereabouts gives addresses of the same slice for each further one. */
  private range(ipam: Ipam): Of<typeof asIpRange> | undefined {
    const [range, ...more] = isGiven(ipam.range) ? [ipam, ...ipam.ipRanges] : ipam.ipRanges;
    if (range === undefined) this.fail("node_slice_size needs a range");
    if (more.length > 0)
      this.fail(
        "node_slice_size goes with one range, and there are several",
        "Give each range a NetworkAttachmentDefinition and a network_name of its own: whereabouts cuts only one of them.",
      );
    return more.length > 0 ? undefined : range;
  }

  private length(size: unknown, { first, length }: Prefix): number | undefined {
    const most = bitsOf(familyOf(first)) - 2;
    const [, digits] = /^\/?(\d{1,3})$/.exec(typeof size === "string" ? size : "") ?? [];
    const value = Number(digits);
    if (digits !== undefined && value >= length && value <= most) return value;
    return this.fail(
      `node_slice_size is ${JSON.stringify(size)}; expected text from "/${length}" (the whole range) to "/${most}"`,
    );
  }

  private address(key: string, text: unknown, prefix: Prefix): Address | undefined {
    const address = isGiven(text) ? this.take(key, parseAddress(text)) : undefined;
    if (address === undefined || isInside({ address }, prefix)) return address;
    return this.fail(`${key} ${text} is not in range ${formatPrefix(prefix)}`);
  }

  private excluded(list: unknown): Block[] {
    if (!isGiven(list)) return [];
    if (!Array.isArray(list)) this.fail("exclude must be a list");
    return (Array.isArray(list) ? list : []).flatMap((text) => this.take("exclude", parseBlock(text)) ?? []);
  }

  private take<T>(key: string, { value, issues = [] }: Parsed<T>): T | undefined {
    for (const { message } of issues) this.fail(`${key}: ${message}`);
    return value;
  }

  private fail(message: string, hint?: string): undefined {
    this.issues.push({ message: `ipam: ${message}`, ...(hint === undefined ? {} : { hint }) });
  }
}

/** Parses a prefix, with its start and end if it has them: `a-b/n`. */
function rangeTexts(range: unknown): { readonly text: unknown; readonly from?: string; readonly to?: string } {
  const [, from, text, to] = /^([^-]*)-(([^/]*).*)$/s.exec(typeof range === "string" ? range : "") ?? [];
  return from === undefined || to === undefined ? { text: range } : { text, from, to };
}

/** As far as slices reach whose first or last address alone is outside: whereabouts gives it to no pod. */
function widened(first: Address, last: Address, length: number) {
  const [begin, end] = [blockAt(first, length).address, lastOf(blockAt(last, length))];
  return { first: first === begin + 1n ? begin : first, last: last === end - 1n ? end : last };
}

function isInside(block: MaybeBlock, prefix: Prefix): boolean {
  return covers([prefix], [{ first: block.address, last: lastOf(block) }]);
}

/** Go takes an empty text for an absent one. */
function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== "";
}
