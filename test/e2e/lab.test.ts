import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { hostname } from "node:os";
import { afterAll, beforeEach, describe, expect, test, vi } from "vitest";
import { stringify } from "yaml";
import { addresses, applyState, createLab, type Lab, type LabNode, ping, runIn, show } from "../support/real/lab.ts";
import { gc, runPolicy } from "../support/real/nmstatectl.ts";
import { BUILD_TIMEOUT, orSkip } from "../support/tools/tools.ts";

let making: Promise<Lab> | undefined;
let node01: LabNode, node02: LabNode, node03: LabNode;

beforeEach(async (context) => {
  making ??= createLab(["node01", "node02", "node03"]);
  [node01, node02, node03] = (await orSkip(context, making)).nodes as [LabNode, LabNode, LabNode];
}, BUILD_TIMEOUT);
afterAll(async () => (await making?.catch(() => undefined))?.close());

/** Gives a NIC exactly 10.10.10.<host> and 2001:db8::<host>. */
function give(node: LabNode, nic: string, host: number): Promise<void> {
  const state = `
interfaces:
- name: ${nic}
  type: ethernet
  state: up
  ipv4: {enabled: true, dhcp: false, address: [{ip: 10.10.10.${host}, prefix-length: 24}]}
  ipv6: {enabled: true, dhcp: false, autoconf: false, address: [{ip: "2001:db8::${host}", prefix-length: 64}]}
`;
  return applyState(node, state);
}

describe("the network lab", () => {
  test("nodes get addresses of both families from nmstatectl and reach each other", async () => {
    await give(node01, "eth1", 1);
    await give(node02, "eth1", 2);
    await give(node03, "eth1", 3);
    expect(await addresses(node02, "eth1")).toEqual(["10.10.10.2/24", "2001:db8::2/64"]);
    for (const address of ["10.10.10.2", "2001:db8::2", "10.10.10.3", "2001:db8::3"]) {
      expect(await ping(node01, address), address).toBe(true);
    }
    expect(await ping(node03, "2001:db8::2")).toBe(true);
    expect(await ping(node01, "10.10.10.4")).toBe(false);
  });

  test("eth1 and eth2 are two networks", async () => {
    await give(node01, "eth1", 1);
    await give(node02, "eth2", 22);
    expect(await ping(node01, "2001:db8::22")).toBe(false);
  });

  test("a state that cannot be reached is an error in nmstatectl's words", async () => {
    const wrong =
      "interfaces: [{name: eth1, ipv4: {enabled: true, address: [{ip: '2001:db8::1', prefix-length: 64}]}}]";
    await expect(applyState(node01, wrong)).rejects.toThrow("Got IPv6 address 2001:db8::1/64 in ipv4 config section");
  });

  test("what a node is told stays in the node", async () => {
    const before = [hostname(), readFileSync("/etc/resolv.conf", "utf8")];
    await applyState(node03, "{hostname: {running: renamed}, dns-resolver: {config: {server: [10.10.10.53]}}}");
    expect((await show(node03)).hostname?.running).toBe("renamed");
    expect(await runIn(node03, "cat", ["/etc/resolv.conf"])).toBe("nameserver 10.10.10.53\n");
    expect([hostname(), readFileSync("/etc/resolv.conf", "utf8")]).toEqual(before);
  });

  test("it is gone when its process is killed", async () => {
    const program = `
      import { createLab } from ${JSON.stringify(new URL("../support/real/lab.ts", import.meta.url))};
      const { nodes } = await createLab(["short-lived"]);
      console.log(nodes[0].pid);
      setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [pid] = await once(child.stdout, "data");
    const namespace = `/proc/${Number(pid)}/ns/net`;
    expect(existsSync(namespace)).toBe(true);
    child.kill("SIGKILL");
    await vi.waitFor(() => expect(existsSync(namespace)).toBe(false));
  });
});

const ipv4 = (...hosts: string[]) => ({
  ipv4: { enabled: true, dhcp: false, address: hosts.map((ip) => ({ ip, "prefix-length": 24 })) },
});
const ipv6 = (...hosts: string[]) => ({
  ipv6: { enabled: true, dhcp: false, autoconf: false, address: hosts.map((ip) => ({ ip, "prefix-length": 64 })) },
});
const FOUR = "10.10.10.6/24";
const SIX = "2001:db8::6/64";

describe("taking an address off a NIC", () => {
  const changes = [
    ["an empty IPv4 list takes the address", ipv4(), [SIX], true],
    ["IPv4 off takes the address", { ipv4: { enabled: false } }, [SIX], true],
    ["an IPv4 list replaces the address", ipv4("10.10.10.9"), ["10.10.10.9/24", SIX], true],
    ["an empty IPv6 list takes the address and keeps the link-local one", ipv6(), [FOUR], true],
    ["IPv6 off takes the link-local one too", { ipv6: { enabled: false } }, [FOUR], false],
    ["an IPv6 list replaces the address", ipv6("2001:db8::9"), [FOUR, "2001:db8::9/64"], true],
    ["two empty lists take both", { ...ipv4(), ...ipv6() }, [], true],
    ["without a list the addresses stay", { mtu: 1500 }, [FOUR, SIX], true],
  ] as const;

  describe.for([{ type: "ethernet", state: "up" }, { type: "ethernet" }, { state: "up" }, {}])("%o", (entry) => {
    test.for(changes)("%s", async ([, change, left, linkLocal]) => {
      await give(node01, "eth1", 6);
      await applyState(node01, stringify({ interfaces: [{ name: "eth1", ...entry, ...change }] }));
      expect(await addresses(node01, "eth1")).toEqual(left);
      const link = await runIn(node01, "ip", ["-brief", "address", "show", "eth1"]);
      expect(link).toMatch(/ UP /);
      expect(link.includes(" fe80:")).toBe(linkLocal);
    });
  });
});

const gateway = { destination: "0.0.0.0/0", "next-hop-interface": "eth1", "next-hop-address": "10.10.10.254" };

test("a route goes with the address if the state says so, and is refused if it stays", async () => {
  const withRoute = (address: object, route: object) =>
    applyState(node02, stringify({ interfaces: [{ name: "eth1", ...address }], routes: { config: [route] } }));
  await withRoute(ipv4("10.10.10.6"), gateway);
  expect(await runIn(node02, "ip", ["route"])).toContain("default via 10.10.10.254 dev eth1");
  await withRoute(ipv4(), { ...gateway, state: "absent" });
  expect(await runIn(node02, "ip", ["route"])).not.toContain("eth1");
  await expect(withRoute(ipv4(), gateway)).rejects.toThrow("Network is unreachable");
  await expect(withRoute({ ipv4: { enabled: false } }, gateway)).rejects.toThrow("marked as IPv4 disabled");
});

test("a route over another gateway is refused beside the old one, and takes its place where that is absent", async () => {
  const route = (over: string) => ({ ...gateway, "next-hop-address": over });
  const apply = (address: string, ...config: object[]) =>
    applyState(node03, stringify({ interfaces: [{ name: "eth1", ...ipv4(address) }], routes: { config } }));
  let old = "10.10.10.254";
  await apply("10.10.10.6", route(old));
  for (const [address, over] of [
    ["10.10.10.6", "10.10.10.253"],
    ["10.10.11.6", "10.10.11.254"],
  ] as const) {
    await expect(apply(address, route(over))).rejects.toThrow("please use `state: absent` to remove others");
    const both = [{ ...route(old), state: "absent" }, route(over)];
    // In the kernel alone, without NetworkManager, it may remove what it has just put in place of the old one.
    await apply(address, ...both).catch(() => apply(address, ...both));
    await apply(address, ...both);
    const routes = await runIn(node03, "ip", ["route", "show", "default"]);
    expect(routes).toMatch(new RegExp(`^default via ${over} dev eth1 [^\\n]*\\n$`));
    old = over;
  }
  await apply("10.10.10.6", { ...route(old), state: "absent" });
});

/** The lines `method=...` of the profile that NetworkManager would get for eth1 with these settings: IPv4, IPv6. */
async function methods(entry: object, ...routes: object[]): Promise<(string | undefined)[]> {
  const profiles = await gc({ interfaces: [{ name: "eth1", ...entry }], routes: { config: routes } });
  return [...(profiles["eth1.nmconnection"] ?? "").matchAll(/^method=(.*)$/gm)].map(([, method]) => method);
}

describe("nmstatectl gc", () => {
  test.for([{ type: "ethernet" }, {}])("%o: an empty list disables IPv4, leaves IPv6 link-local", async (entry) => {
    expect(await methods({ ...entry, ...ipv4("10.10.10.6"), ...ipv6("2001:db8::6") })).toEqual(["manual", "manual"]);
    expect(await methods({ ...entry, ...ipv4(), ...ipv6() })).toEqual(["disabled", "link-local"]);
    const off = { ipv4: { enabled: false }, ipv6: { enabled: false } };
    expect(await methods({ ...entry, ...off })).toEqual(["disabled", "disabled"]);
  });

  test("passes over an address without enabled: true, and one of a NIC that it is to ignore", async () => {
    const { enabled: _, ...silent } = ipv4("10.10.10.6").ipv4;
    expect(await methods({ ipv4: silent })).toEqual(["disabled", "disabled"]);
    expect(await methods({ ...ipv4("10.10.10.6"), state: "ignore" })).toEqual([]);
  });

  test.for([
    { name: "bond0", type: "bond", "link-aggregation": { mode: "active-backup", port: ["eth1"] } },
    { name: "bond0", type: "bond", "link-aggregation": { mode: "active-backup", ports: ["eth1"] } },
  ])("refuses an address of what it makes a port: %o", async (bond) => {
    const nic = { name: "eth1", type: "ethernet", state: "up", ...ipv4("10.10.10.6") };
    await expect(gc({ interfaces: [{ ...bond, state: "up" }, nic] })).rejects.toThrow(/eth1 cannot have IP enabled/);
  });

  test("a route that stays keeps IPv4 on, one that is absent does not", async () => {
    expect(await methods(ipv4(), gateway)).toEqual(["manual", "disabled"]);
    expect(await methods(ipv4(), { ...gateway, state: "absent" })).toEqual(["disabled", "disabled"]);
  });
});

describe("nmstatectl policy", () => {
  const desired = { interfaces: [{ name: "{{ capture.nic.interfaces.0.name }}", ...ipv4("10.10.10.6") }] };

  test("captures look at what the node shows, and the result can be applied", async () => {
    await give(node01, "eth1", 7);
    const state = await runPolicy({ nic: 'interfaces.name == "eth1"' }, desired, await show(node01));
    expect(state).toEqual({ interfaces: [{ name: "eth1", type: "unknown", state: "up", ...ipv4("10.10.10.6") }] });
    await applyState(node01, stringify(state));
    expect(await addresses(node01, "eth1")).toEqual([FOUR, "2001:db8::7/64"]);
  });

  test("captures need no more of the current state than they name", async () => {
    const current = { interfaces: [{ name: "eth1" }] };
    expect(await runPolicy({ nic: 'interfaces.name == "eth1"' }, desired, current)).toMatchObject({
      interfaces: [{ name: "eth1" }],
    });
  });

  test("a capture of an address pool is refused: only its literal result reaches a node", async () => {
    const pooled = { interfaces: [{ name: "eth1", ...ipv4("{{ capture.from-pool.ip }}") }] };
    const refused = runPolicy({ "from-pool": "ippool.traffic-1.allocate" }, pooled, {});
    await expect(refused).rejects.toThrow("Failed to find property ip");
  });

  test("addresses are first looked at when the state is applied", async () => {
    const state = await runPolicy({}, { interfaces: [{ name: "eth1", ...ipv4("10.10.11.10.10") }] }, {});
    expect(state).toMatchObject({ interfaces: [ipv4("10.10.11.10.10")] });
    await expect(applyState(node01, stringify(state))).rejects.toThrow("invalid IP address syntax");
  });
});
