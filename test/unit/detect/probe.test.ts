import { describe, expect, it } from "vitest";
import { parseNics } from "../../../detect/nics.ts";
import { probeOf, readAttempt } from "../../../detect/probe.ts";

describe("what arping and ndisc6 say", () => {
  it.each([
    ["arping", 0, "02:00:00:00:00:02\n02:00:00:00:00:03\n", "", ["02:00:00:00:00:02", "02:00:00:00:00:03"]],
    ["arping", 1, "", "", []],
    ["ndisc6", 0, "02:00:00:00:00:AB\n", "", ["02:00:00:00:00:ab"]],
    ["ndisc6", 2, "", "", []],
  ])("%s, %i, %j: answers", (file, status, stdout, stderr, answers) => {
    expect(readAttempt({ file, args: [] }, { status, stdout, stderr })).toEqual({ answers });
  });

  it.each([
    ["arping", 1, "arping: you may need to run as root\nmore\n", "arping: you may need to run as root"],
    ["arping", 0, "", "arping: ended with 0"],
    ["arping", 2, "", "arping: ended with 2"],
    ["arping", null, "did not end within 5 s", "arping: did not end within 5 s"],
    ["ndisc6", 1, "", "ndisc6: ended with 1"],
    ["ndisc6", 2, 'Try "ndisc6 -h" for more information.\n', 'ndisc6: Try "ndisc6 -h" for more information.'],
    ["ndisc6", 1, "net1: No such device\n", "ndisc6: net1: No such device"],
  ])("%s, %j, %j: silence is not taken for an answer where it failed", (file, status, stderr, failed) => {
    expect(readAttempt({ file, args: [] }, { status, stdout: "", stderr })).toEqual({ failed });
  });
});

describe("whom a probe is from", () => {
  const address = (local: string, prefixlen: number, scope: string, more = {}) => ({
    local,
    prefixlen,
    scope,
    ...more,
  });
  const nicWith = (...addr_info: object[]) => {
    const printed = [{ ifname: "net1", address: "02:00:00:00:00:01", flags: ["UP", "LOWER_UP"], addr_info }];
    const [nic] = parseNics(JSON.stringify(printed));
    if (nic === undefined) throw new Error("no NIC");
    return nic;
  };

  it("to an IPv4 gateway: the address in its subnet", () => {
    const nic = nicWith(address("10.29.0.10", 24, "global"), address("10.30.0.10", 24, "global"));
    const at = (gateway: string) => probeOf({ kind: "gateway", address: gateway, nic: "net1" }, nic, 100);
    expect(at("10.30.0.1")).toMatchObject({ args: expect.arrayContaining(["10.30.0.10"]) });
    expect(at("10.31.0.1")).toEqual({ failed: "net1 has no address in the subnet of 10.31.0.1" });
  });

  it("in IPv6: a link-local address that is not tentative", () => {
    const check = { kind: "conflict", address: "2001:db8::1", nic: "net1" } as const;
    const global = address("2001:db8::1", 64, "global");
    const tentative = address("fe80::1", 64, "link", { tentative: true });
    const failed = "net1 has no usable link-local address to ask from";
    expect(probeOf(check, nicWith(global, tentative, address("169.254.0.1", 16, "link")), 100)).toEqual({ failed });
    const probe = probeOf(check, nicWith(global, tentative, address("fe80::2", 64, "link")), 100);
    expect(probe).toMatchObject({ args: expect.arrayContaining(["fe80::2"]) });
  });
});
