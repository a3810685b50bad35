import { describe, expect, test } from "vitest";
import { address } from "../../../core/index.ts";
import { isTakenOff, listsOf } from "../../../integrations/nmstate/taken-off.ts";

const line = {
  address: address("10.0.0.1"),
  length: 32,
  pool: "p",
  claim: "Node/n/a/address",
  set: "cluster",
  interface: "eth1",
};
const listed = (...ips: string[]) => ({ enabled: true, address: ips.map((ip) => ({ ip, "prefix-length": 24 })) });

describe("an address is off its NIC once a state is applied", () => {
  test.for([
    [true, "an empty list", { name: "eth1", ipv4: listed() }],
    [true, "a list without it", { name: "eth1", ipv4: listed("10.0.0.2") }],
    [true, "IPv4 off", { name: "eth1", ipv4: { enabled: false } }],
    [false, "a list with it", { name: "eth1", ipv4: listed("10.0.0.2", "10.0.0.1") }],
    [false, "a list with what is no address", { name: "eth1", ipv4: listed("{{ capture.a.ip }}") }],
    [false, "no list", { name: "eth1", ipv4: { enabled: true } }],
    [false, "DHCP", { name: "eth1", ipv4: { ...listed(), dhcp: true } }],
    [false, "the other family", { name: "eth1", ipv6: { enabled: false } }],
    [false, "no section", { name: "eth1" }],
    [false, "another NIC", { name: "eth2", ipv4: listed() }],
    [false, "a NIC found by its MAC address", { name: "eth1", identifier: "mac-address", ipv4: listed() }],
    [false, "a profile", { name: "eth1", "profile-name": "eth7", ipv4: listed() }],
  ] as const)("%s: %s", ([is, , nic]) => {
    expect(isTakenOff(line, listsOf({ interfaces: [nic] }))).toBe(is);
  });

  test("not where it is said twice, once with it", () => {
    const interfaces = [
      { name: "eth1", ipv4: listed() },
      { name: "eth1", ipv4: listed("10.0.0.1") },
    ];
    expect(isTakenOff(line, listsOf({ interfaces }))).toBe(false);
  });
});
