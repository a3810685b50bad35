import { describe, expect, it } from "vitest";
import { withoutOldRoutes } from "../../../integrations/nmstate/routes.ts";
import { lineOf, poolOf } from "../../support/core/text.ts";

const route = (destination: string, more: object = {}) => ({ destination, "next-hop-interface": "eth1", ...more });
const via = (hop: string) => ({ "next-hop-address": hop });
const main = { "table-id": 254 };
const absent = { state: "absent" };
const eth1 = (...addresses: string[]) => {
  const address = addresses.map((text) => ({ ip: text.split("/")[0], "prefix-length": Number(text.split("/")[1]) }));
  return { interfaces: [{ name: "eth1", ipv4: { enabled: true, address } }] };
};
const configOf = (state: unknown) => (state as { routes: { config: unknown } }).routes.config;

describe("a state removes other routes to its destinations, over the same NIC and in the same table", () => {
  const rows: [what: string, config: object[], expected: object[]][] = [
    [
      "in the main table, where the route names none",
      [route("0.0.0.0/0", via("10.0.0.1"))],
      [route("0.0.0.0/0", { ...main, ...absent }), route("0.0.0.0/0", { ...via("10.0.0.1"), ...main })],
    ],
    [
      "in its own table, whatever the metric",
      [route("0.0.0.0/0", { ...via("10.0.0.1"), "table-id": 100, metric: 5 })],
      [
        route("0.0.0.0/0", { "table-id": 100, ...absent }),
        route("0.0.0.0/0", { ...via("10.0.0.1"), "table-id": 100, metric: 5 }),
      ],
    ],
    [
      "in its VRF",
      [route("10.9.0.0/16", { ...via("10.0.0.1"), "vrf-name": "red" })],
      [
        route("10.9.0.0/16", { "vrf-name": "red", ...absent }),
        route("10.9.0.0/16", { ...via("10.0.0.1"), "vrf-name": "red" }),
      ],
    ],
    [
      "once for several next hops",
      [route("0.0.0.0/0", { ...via("10.0.0.1"), ...main }), route("0.0.0.0/0", { ...via("10.0.0.2"), ...main })],
      [
        route("0.0.0.0/0", { ...main, ...absent }),
        route("0.0.0.0/0", { ...via("10.0.0.1"), ...main }),
        route("0.0.0.0/0", { ...via("10.0.0.2"), ...main }),
      ],
    ],
    ["but none for a route that it removes itself", [route("0.0.0.0/0", absent)], [route("0.0.0.0/0", absent)]],
    [
      "but none for a route over no NIC",
      [{ destination: "10.9.0.0/16", "route-type": "blackhole" }],
      [{ destination: "10.9.0.0/16", "route-type": "blackhole" }],
    ],
  ];
  it.each(rows)("%s", (_, config, expected) => {
    expect(configOf(withoutOldRoutes({ routes: { config } }, []))).toEqual(expected);
  });

  it.each([
    {},
    { interfaces: [] },
    { routes: "{{ capture.a.routes }}" },
    { routes: { config: "{{ capture.a.routes.config }}" } },
  ])("%j stays as it is", (state) => expect(withoutOldRoutes(state, [])).toBe(state));
});

describe("where an address replaces another one, the state removes the routes through the old subnet", () => {
  const line = lineOf("10.1.0.5 Node/n1/a/x if=eth1");
  const pool = poolOf("p", "10.1.0.0/24", { gateway: "10.1.0.254" });
  const through = (hop: string) => ({ "next-hop-interface": "eth1", "next-hop-address": hop, state: "absent" });
  const before = {
    routes: {
      config: [
        route("10.9.0.0/16", via("10.1.0.1")),
        route("fd99::/32", via("fd01::1")),
        { ...route("10.8.0.0/16", via("10.3.0.1")), "next-hop-interface": "eth2" },
      ],
    },
  };

  it("by the gateway of the old pool, and by the next hops of the old policy over that NIC", () => {
    const made = withoutOldRoutes(eth1("10.2.0.5/24"), [{ line, pool, desiredState: before }]);
    expect(configOf(made)).toEqual([through("10.1.0.254"), through("10.1.0.1")]);
  });

  it("but not through what the NIC still reaches, nor a next hop that the state uses", () => {
    const reached = eth1("10.1.0.7/16");
    expect(withoutOldRoutes(reached, [{ line, pool, desiredState: before }])).toBe(reached);
    const used = {
      ...eth1("10.2.0.5/24"),
      routes: { config: [route("10.9.0.0/16", { ...via("10.1.0.254"), ...main })] },
    };
    expect(configOf(withoutOldRoutes(used, [{ line, pool }]))).not.toContainEqual(through("10.1.0.254"));
  });

  it("and none where nothing is known of the old subnet", () => {
    const state = eth1("10.2.0.5/24");
    expect(withoutOldRoutes(state, [{ line, pool: undefined }])).toBe(state);
  });
});
