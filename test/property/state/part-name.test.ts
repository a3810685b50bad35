import fc from "fast-check";
import { expect, it } from "vitest";
import { bitsOf, familyOf, formatPrefix, prefixAt } from "../../../core/address.ts";
import { partName } from "../../../state/kubernetes/subnet-records.ts";
import { addressArb } from "../../support/core/arbitrary.ts";
import { tries } from "../../support/long.ts";

const numRuns = tries(3_000, 1_000_000);

const prefixArb = fc
  .tuple(addressArb, fc.nat({ max: 128 }))
  .map(([address, length]) => prefixAt(address, length % (bitsOf(familyOf(address)) + 1)));
const label = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,12}[a-z0-9])?$/);
const networkArb = fc.oneof(
  label,
  fc.constantFrom("default", "x", "0-24", "index", "10", "2001-db8-x-64", `hash-${"0".repeat(40)}`, "a".repeat(63)),
  fc.constantFrom("A", "a.b", "default.10", "a/b", "a b", "é", "-", "x".repeat(300), ""),
);

/** What a name says, by reading it. */
function read(name: string): { network: string; cidr: string } {
  const [, network = "", rest = ""] = /^ippool\.([^.]+)\.(.+)$/.exec(name) ?? [];
  const dash = rest.lastIndexOf("-");
  const groups = rest.slice(0, dash).replaceAll("-", ":");
  const address = rest.includes(".") ? rest.slice(0, dash) : groups.replace(/(^|:)x(:|$)/, "::");
  return { network, cidr: `${address}/${rest.slice(dash + 1)}` };
}

it("a part's name is one that Kubernetes takes, and says network and cidr: no two subnets share one", () => {
  const hashes = new Map<string, string>();
  fc.assert(
    fc.property(networkArb, prefixArb, (network, prefix) => {
      const name = partName({ network, prefix });
      expect(name).toMatch(/^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/);
      expect(name.length).toBeLessThanOrEqual(253);
      expect(name).not.toBe("ippool.index");
      const said = read(name);
      expect(said.cidr).toBe(formatPrefix(prefix));
      if (said.network === network) return;
      expect(said.network).toMatch(/^hash-[0-9a-f]{40}$/);
      expect(hashes.get(said.network) ?? network).toBe(network);
      hashes.set(said.network, network);
    }),
    { numRuns },
  );
  expect(hashes.size).toBeGreaterThan(5);
});

it.each([
  ["default", "10.0.0.0/24", "ippool.default.10.0.0.0-24"],
  ["blue", "2001:db8::/64", "ippool.blue.2001-db8-x-64"],
  ["blue", "::/0", "ippool.blue.x-0"],
  ["blue", "2001:db8:1:2:3:4:5:0/112", "ippool.blue.2001-db8-1-2-3-4-5-0-112"],
])("network %s, %s: %s", (network, cidr, name) => {
  expect(read(name)).toEqual({ network, cidr });
});
