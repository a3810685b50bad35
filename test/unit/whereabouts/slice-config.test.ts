import { describe, expect, it } from "vitest";
import { formatAddress } from "../../../core/address.ts";
import { formatBlock } from "../../../core/block.ts";
import { parseSliceConfig } from "../../../integrations/whereabouts/slice-config.ts";
import type { Bag } from "../../../schema/objects.ts";

const read = (ipam: Bag) => parseSliceConfig({ type: "whereabouts", ...ipam });
const issuesOf = (ipam: Bag) => read(ipam).issues?.map(({ message }) => message);

/** `10.0.0.0-10.255.255.255 in /22 less 10.0.0.1` */
function told(ipam: Bag): string {
  const { value, issues = [] } = read(ipam);
  if (value === undefined) return issues.map(({ message }) => message).join("\n");
  const less = value.withheld.map(formatBlock).join(" ");
  const text = `${formatAddress(value.first)}-${formatAddress(value.last)} in /${value.length}`;
  return less === "" ? text : `${text} less ${less}`;
}

describe("an IPAM configuration is read as whereabouts reads it", () => {
  it.each<[string, Bag, string]>([
    ["host bits are dropped", { range: "192.168.2.225/8" }, "192.0.0.0-192.255.255.255 in /22"],
    ["without a slash", { range: "10.0.0.0/8", node_slice_size: "22" }, "10.0.0.0-10.255.255.255 in /22"],
    ["the whole range", { range: "10.0.0.0/22" }, "10.0.0.0-10.0.3.255 in /22"],
    ["a range with its first and last address", { range: "10.0.4.0-10.0.200.7/16" }, "10.0.4.0-10.0.200.7 in /22"],
    [
      "start and end",
      { range: "10.0.0.0/16", range_start: "10.0.4.9", range_end: "10.0.99.1" },
      "10.0.4.9-10.0.99.1 in /22",
    ],
    [
      "the first and the last one that a pod can have",
      { range: "10.0.0.0/16", range_start: "10.0.4.1", range_end: "10.0.99.254" },
      "10.0.4.0-10.0.99.255 in /22",
    ],
    [
      "an end as absent as whereabouts takes it",
      { range: "10.0.0.0/16", range_end: "" },
      "10.0.0.0-10.0.255.255 in /22",
    ],
    [
      "one of ipRanges",
      { ipRanges: [{ range: "10.0.0.0/16", exclude: ["10.0.0.0/28"] }] },
      "10.0.0.0-10.0.255.255 in /22 less 10.0.0.0/28",
    ],
    [
      "what is excluded, by prefix or address",
      { range: "10.0.0.0/16", exclude: ["10.0.9.229/30", "10.0.0.7"] },
      "10.0.0.0-10.0.255.255 in /22 less 10.0.9.228/30 10.0.0.7",
    ],
    [
      "what is excluded elsewhere says nothing",
      { range: "10.0.0.0/16", exclude: ["10.1.0.0/24"], gateway: "10.1.0.1" },
      "10.0.0.0-10.0.255.255 in /22",
    ],
    ["the gateway", { range: "10.0.0.0/16", gateway: "10.0.0.1" }, "10.0.0.0-10.0.255.255 in /22 less 10.0.0.1"],
    [
      "IPv6",
      { range: "fd00:1::/48", node_slice_size: "/64", gateway: "fd00:1::1" },
      "fd00:1::-fd00:1:0:ffff:ffff:ffff:ffff:ffff in /64 less fd00:1::1",
    ],
    [
      "small slices of a /64",
      { range: "fd00::1:0:0:0:7/64", node_slice_size: "120" },
      "fd00:0:0:1::-fd00::1:ffff:ffff:ffff:ffff in /120",
    ],
  ])("%s", (_, ipam, expected) => {
    expect(told({ node_slice_size: "/22", ...ipam })).toBe(expected);
  });

  it.each<[Bag]>([
    [{}],
    [{ node_slice_size: "" }],
    [{ fast_ipam: true }],
    [{ type: "host-local", node_slice_size: "/24" }],
  ])("no slices: %j", (ipam) => {
    expect(read({ range: "10.0.0.0/16", ...ipam })).toEqual({ value: undefined });
  });

  it.each<[Bag, string]>([
    [{ node_slice_size: "x" }, 'ipam: node_slice_size is "x"; expected text from "/16" (the whole range) to "/30"'],
    [{ node_slice_size: 24 }, 'ipam: node_slice_size is 24; expected text from "/16" (the whole range) to "/30"'],
    [{ node_slice_size: "/15" }, 'ipam: node_slice_size is "/15"; expected text from "/16" (the whole range) to "/30"'],
    [{ node_slice_size: "/31" }, 'ipam: node_slice_size is "/31"; expected text from "/16" (the whole range) to "/30"'],
    [
      { range: "fd00::/64", node_slice_size: "/127" },
      'ipam: node_slice_size is "/127"; expected text from "/64" (the whole range) to "/126"',
    ],
    [{ range: "10.0.0.0" }, 'ipam: range: "10.0.0.0" has no prefix length; write for example 10.0.0.0/24'],
    [{ range: undefined }, "ipam: node_slice_size needs a range"],
    [{ ipRanges: [{ range: "fd00::/64" }] }, "ipam: node_slice_size goes with one range, and there are several"],
    [{ range_start: "10.1.0.1" }, "ipam: range_start 10.1.0.1 is not in range 10.0.0.0/16"],
    [{ range: "10.1.0.1-10.0.9.9/16" }, "ipam: range_start 10.1.0.1 is not in range 10.0.0.0/16"],
    [{ range_start: "10.0.9.0", range_end: "10.0.8.0" }, "ipam: range ends before it starts"],
    [{ exclude: "10.0.0.1" }, "ipam: exclude must be a list"],
    [{ exclude: ["10.0.0"] }, 'ipam: exclude: "10.0.0" has 3 octets; an IPv4 address has 4'],
    [{ gateway: "router" }, 'ipam: gateway: "router" is not an IP address'],
    [{ network_name: 7 }, "ipam: network_name must be text"],
  ])("A2.9, A2.13, A2.14: what it cannot be: %j", (ipam, message) => {
    expect(issuesOf({ range: "10.0.0.0/16", node_slice_size: "/24", ...ipam })).toEqual([message]);
  });
});
