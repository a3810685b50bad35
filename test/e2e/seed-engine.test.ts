import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { formatAddress, parseAddress, unwrap } from "../../core/index.ts";
import { root } from "../support/console.ts";
import { gc, runPolicy } from "../support/real/nmstatectl.ts";
import { BUILD_TIMEOUT, orSkip, tool } from "../support/tools/tools.ts";

// What the pages say about the engine of stock handlers, and what that engine says to the proposal's own texts.

beforeEach(async (context) => void (await orSkip(context, tool("nmstatectl"))), BUILD_TIMEOUT);

const page = (path: string) => readFileSync(join(root, path), "utf8");

/** What nmstatectl reports; the empty text if it succeeds. */
async function reported(outcome: Promise<unknown>): Promise<string> {
  return outcome.then(
    () => "",
    (error) => error.stderr ?? String(error),
  );
}

const nic = (ip: string, length: string | number = 24) => ({
  interfaces: [{ name: "eth1", type: "ethernet", state: "up", ipv4: ipv4({ ip, "prefix-length": length }) }],
});
const ipv4 = (...address: object[]) => ({ enabled: true, dhcp: false, address });
const current = { interfaces: [{ name: "eth1", type: "ethernet", state: "up" }] };
const pooled = { a: "ippool.traffic-1.allocate" };

describe("a capture of a pool", () => {
  test("the proposal's policy is refused, as the pages say", async () => {
    const { spec } = parse(page("examples/static-ip/manifests/static-ip.yaml"));
    const message = await reported(runPolicy(spec.capture, spec.desiredState, current));
    const quoted = "Failed to find property ip";
    expect(message).toContain(quoted);
    for (const path of ["docs/nmstate.md", "docs/adr/0002-one-policy-per-node.md"])
      expect(page(path)).toContain(quoted);
  });

  const templates = [
    ["its address", nic("{{ capture.a.ip }}"), "Failed to find property ip, exists properties are interfaces"],
    ["its prefix length", nic("10.10.10.1", "{{ capture.a.prefix-length }}"), "Failed to find property prefix-length"],
    ["nothing: the capture itself is no error, it captures nothing", nic("10.10.10.1"), ""],
  ] as const;
  test.for(templates)("used: %s", async ([, desired, message]) => {
    expect(await reported(runPolicy(pooled, desired, current))).toContain(message);
    if (message === "") expect(await runPolicy(pooled, desired, current)).toEqual(desired);
  });

  const results = [
    [
      "as the proposal writes it",
      { ip: "10.10.10.8", "prefix-length": 24 },
      "unknown field `ip`, expected `metaInfo` or",
    ],
    ["as enactments have it", { state: { ip: "10.10.10.8" } }, "unknown field `ip`, expected one of `description`"],
  ] as const;
  test.for(results)("a result put into the enactment, %s, is refused", async ([, result, message]) => {
    const desired = nic("{{ capture.a.ip }}");
    expect(await reported(runPolicy(pooled, desired, current, { a: result }))).toContain(message);
  });
});

describe("a template that nobody resolved", () => {
  test("of an unknown capture is refused by the handler", async () => {
    const message = await reported(runPolicy({}, nic("{{ capture.a.ip }}"), current));
    expect(message).toContain("Failed to find capture a");
  });

  test.for([
    ["ip", nic("{{ capture.a.ip }}"), "invalid IP address syntax"],
    ["prefix-length", nic("10.10.10.1", "{{ capture.a.prefix-length }}"), "invalid digit found in string"],
  ] as const)("in %s is refused in a state", async ([, state, message]) => {
    expect(await reported(gc(state))).toContain(message);
  });
});

describe("the proposal's addresses", () => {
  test.for([
    ["10.10.10.11.10", "end of traffic-2: five parts"],
    ["10.10.10.12.10", "end of the /16: five parts"],
    ["010.10.10.1", "a leading zero"],
    ["10.10.10.1/24", "a prefix length inside"],
    ["10.10.10.256", "a part too large"],
    ["fe80::1%eth1", "a zone"],
  ] as const)("%s (%s) is refused by nmstate and by us", async ([ip]) => {
    expect(await reported(gc(nic(ip)))).toContain("invalid IP address syntax");
    expect(parseAddress(ip).issues).toHaveLength(1);
  });

  test.for([
    ["2001:4860:4860::000F", "2001:4860:4860::f"],
    ["2001:4860:4860::001F", "2001:4860:4860::1f"],
    ["2001:4860:4860::00FF", "2001:4860:4860::ff"],
    ["2001:DB8:0:0:1:0:0:1", "2001:db8::1:0:0:1"],
  ] as const)("%s is %s to nmstate and to us", async ([written, normal]) => {
    const ipv6 = { enabled: true, dhcp: false, autoconf: false, address: [{ ip: written, "prefix-length": 116 }] };
    const profiles = await gc({ interfaces: [{ name: "eth1", type: "ethernet", state: "up", ipv6 }] });
    expect(profiles["eth1.nmconnection"]).toContain(`address0=${normal}/116\n`);
    expect(formatAddress(unwrap(parseAddress(written)))).toBe(normal);
  });

  test("IPv6 among IPv4 is refused", async () => {
    const message = "Got IPv6 address 2001:4860:4860::f/24 in ipv4 config section";
    expect(await reported(gc(nic("2001:4860:4860::000F")))).toContain(message);
  });

  test("the alternative with `ipam` in the list of addresses is refused", async () => {
    const state = { interfaces: [{ name: "eth1", type: "ethernet", ipv4: ipv4({ ipam: { pool: "traffic-1" } }) }] };
    expect(await reported(gc(state))).toContain("unknown field `ipam`");
  });

  test("an address needs its prefix length", async () => {
    const state = { interfaces: [{ name: "eth1", type: "ethernet", ipv4: ipv4({ ip: "10.10.10.1" }) }] };
    expect(await reported(gc(state))).toContain("missing field `prefix-length`");
  });
});
