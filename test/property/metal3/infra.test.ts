import fc from "fast-check";
import { expect, it } from "vitest";
import { formatAddress } from "../../../core/address.ts";
import { emptySnapshot } from "../../../core/allocation.ts";
import { unwrap } from "../../../core/errors.ts";
import { plan } from "../../../core/plan/plan.ts";
import { infraClaims, poolsOf } from "../../../integrations/metal3/claims.ts";
import type { Infra } from "../../../integrations/metal3/infra.ts";
import { osNetConfig } from "../../../integrations/metal3/os-net-config.ts";
import { parseInfra } from "../../../integrations/metal3/parse-infra.ts";
import { addressesOf } from "../../support/cli/metal3-infra.ts";
import { apply } from "../../support/core/apply.ts";
import { shuffled } from "../../support/core/arbitrary.ts";
import { tries } from "../../support/long.ts";

/** Up to 6 networks, of which every unit is on some; up to 4 units of up to 6 hosts. */
interface Shape {
  readonly networks: readonly string[];
  readonly units: readonly (readonly [name: string, unit: { networks: readonly string[]; hosts: readonly string[] }])[];
}

const unitNames = ["controllers", "a", "b", "c"];
const networkNames = ["n0", "n1", "n2", "n3", "n4", "n5"];
const hostNames = ["h0", "h1", "h2", "h3", "h4", "h5"];

const shapeArb: fc.Arbitrary<Shape> = fc.subarray(networkNames, { minLength: 1 }).chain((networks) =>
  fc.record({
    networks: fc.constant(networks),
    units: fc.subarray(unitNames, { minLength: 1 }).chain((names) =>
      fc.tuple(
        ...names.map((name) =>
          fc.tuple(
            fc.constant(name),
            fc.record({
              networks: fc.shuffledSubarray(networks),
              hosts: fc.shuffledSubarray(hostNames, { minLength: 1 }),
            }),
          ),
        ),
      ),
    ),
  }),
);

function dataOf({ networks, units }: Shape) {
  const unitOf = (name: string, { networks: own, hosts }: Shape["units"][number][1]) => ({
    replicas: hosts.length,
    hostSelector: { unit: name },
    networkConfig: [
      {
        type: "interface",
        name: "em0",
        addresses: own.map((network) => ({ ip_netmask: `{{ ip['${network}'] }}` })),
      },
    ],
    macMapping: Object.fromEntries(
      hosts.map((host) => [host, { em0: `02:00:00:00:0${unitNames.indexOf(name)}:0${host.slice(1)}` }]),
    ),
  });
  const all = units.map(([name, unit]) => [name, unitOf(name, unit)] as const);
  return {
    infra: {
      networks: Object.fromEntries(
        networks.map((name) => {
          const subnet = `10.0.${name.slice(1)}`;
          return [name, { netmask: 24, addressRange: { start: `${subnet}.1`, end: `${subnet}.250` } }];
        }),
      ),
    },
    nodepools: Object.fromEntries(all.filter(([name]) => name !== "controllers")),
    ...Object.fromEntries(all.filter(([name]) => name === "controllers")),
  };
}

const infraOfShape = (shape: Shape) => unwrap(parseInfra(dataOf(shape)));

function shuffledKeys(value: unknown, seed: number): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => shuffledKeys(item, seed));
  const entries = Object.entries(value).map(([key, item]) => [key, shuffledKeys(item, seed)] as const);
  return Object.fromEntries(shuffled(entries, seed));
}

const planned = (infra: Infra, snapshot = emptySnapshot) =>
  plan({ pools: poolsOf(infra), claims: infraClaims(infra), snapshot });

it("a host, network or unit that comes or goes moves nobody, and two have never one address", () => {
  fc.assert(
    fc.property(fc.array(shapeArb, { minLength: 2, maxLength: 5 }), (shapes) => {
      let snapshot = emptySnapshot;
      for (const shape of shapes) {
        const before = new Map(snapshot.allocations.map(({ claim, pool, address }) => [`${pool} ${claim}`, address]));
        const infra = infraOfShape(shape);
        snapshot = apply(planned(infra, snapshot), snapshot);
        const lines = [...snapshot.allocations, ...snapshot.releasing];
        expect(new Set(lines.map(({ address }) => address)).size).toBe(lines.length);
        const live = new Map(snapshot.allocations.map(({ claim, pool, address }) => [`${pool} ${claim}`, address]));
        for (const claim of infraClaims(infra).map(
          ({ owner, name }) => `${name} ${owner.kind}/${owner.name}/${name}`,
        )) {
          expect(live.has(claim)).toBe(true);
          if (before.has(claim)) expect(live.get(claim)).toBe(before.get(claim));
        }
      }
    }),
    { numRuns: tries(100, 2_000) },
  );
});

it("the order of keys, and of hosts, makes no difference to who gets what, nor to what is written", () => {
  const written = (infra: Infra) => {
    const all = new Map(planned(infra).assign.map(({ claim, address }) => [claim, address]));
    return infra.units.flatMap((unit) =>
      unit.hosts.map(({ name }) => [name, osNetConfig(infra, unit, addressesOf(infra, unit, name, all))]),
    );
  };
  fc.assert(
    fc.property(shapeArb, fc.nat(), (shape, seed) => {
      const data = dataOf(shape);
      const [a, b] = [data, shuffledKeys(data, seed)].map((one) => unwrap(parseInfra(one))) as [Infra, Infra];
      expect(infraClaims(b)).toEqual(infraClaims(a));
      expect(written(b)).toEqual(written(a));
      expect(planned(b).assign.map(({ address }) => formatAddress(address))).toEqual(
        planned(a).assign.map(({ address }) => formatAddress(address)),
      );
    }),
    { numRuns: tries(100, 2_000) },
  );
});
