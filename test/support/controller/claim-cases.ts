import { asBag, asList } from "../../../schema/objects.ts";
import type { Trial } from "./claim-trial.ts";

/** A case of the in-cluster provider's own tests and documentation. */
export interface ClaimCase {
  readonly name: string;
  /** Plays it, and returns what there is at the end. */
  run(trial: Trial): Promise<unknown>;
  readonly outcome: unknown;
  /** Where ours is otherwise on purpose. */
  readonly ours?: { readonly outcome: unknown; readonly why: string };
}

const ten = { ranges: [[10, 19]] } as const;
const pausedBy = { "cluster.x-k8s.io/paused": "" };
const named = { clusterName: "c" };
const labelled = { labels: { "cluster.x-k8s.io/cluster-name": "c" } };
const inUse = "machine.example.org/ip-claim-protection";

export const claimCases: readonly ClaimCase[] = [
  {
    name: "a claim on a pool of another kind is left alone",
    run: async (t) => {
      await t.claim("a", { poolRef: { apiGroup: "ipam.example.org", kind: "OtherPool", name: "p" } });
      const given = await t.settled();
      const claim = await t.getClaim("a");
      return [given, claim?.status, asBag(claim?.metadata)?.finalizers];
    },
    outcome: [{}, undefined, undefined],
  },
  {
    name: "a claim gets the lowest address, with the prefix and the gateway of its pool, and refers to its IPAddress",
    run: async (t) => {
      await t.pool({ ...ten, gateway: 1 });
      await t.served("a");
      await t.until(async () => (await t.getClaim("a"))?.status !== undefined);
      const { address, prefix, gateway, claimRef } = asBag((await t.getAddress("a"))?.spec) ?? {};
      return [
        address === `${t.prefix}10`,
        prefix,
        gateway === `${t.prefix}1`,
        claimRef,
        asBag((await t.getClaim("a"))?.status)?.addressRef,
      ];
    },
    outcome: [true, 24, true, { name: "a" }, { name: "a" }],
  },
  {
    name: "an IPAddress is owned by its claim and its pool, and protected",
    run: async (t) => {
      await t.pool(ten);
      await t.served("a");
      return t.bonds("a");
    },
    outcome: [["IPAddressClaim true true", "pool false true"], 1],
  },
  {
    name: "a claim on a pool that is not there gets nothing",
    run: async (t) => {
      await t.claim("a");
      return t.settled();
    },
    outcome: {},
  },
  {
    name: "a claim on a pool that is not there is served once it is",
    run: async (t) => {
      await t.claim("a");
      await t.settled();
      await t.pool(ten);
      return t.has(1);
    },
    outcome: { a: 10 },
  },
  {
    name: "network and broadcast address are not allocated",
    run: async (t) => {
      await t.pool({
        ranges: [
          [0, 1],
          [254, 255],
        ],
      });
      for (const name of ["a", "b", "c"]) await t.claim(name);
      return Object.values(await t.has(2)).sort();
    },
    outcome: [1, 254],
  },
  {
    name: "allocateReservedIPAddresses: they are",
    run: async (t) => {
      await t.pool({
        ranges: [
          [0, 0],
          [255, 255],
        ],
        allocatesReserved: true,
      });
      for (const name of ["a", "b"]) await t.claim(name);
      return Object.values(await t.has(2)).sort();
    },
    outcome: [0, 255],
    ours: {
      outcome: [],
      why: "no host can have the network or broadcast address of its subnet; use a longer prefix for point-to-point links",
    },
  },
  {
    name: "excluded addresses are not allocated",
    run: async (t) => {
      await t.pool({ ...ten, excluded: [10, 11, 13] });
      for (const name of ["a", "b"]) await t.claim(name);
      return Object.values(await t.has(2)).sort();
    },
    outcome: [12, 14],
  },
  {
    name: "the lowest address comes first, whatever the order of the ranges",
    run: async (t) => {
      await t.pool({
        ranges: [
          [30, 31],
          [20, 21],
        ],
      });
      await t.claim("a");
      return t.has(1);
    },
    outcome: { a: 20 },
  },
  {
    name: "an address by itself may be a range",
    run: async (t) => {
      await t.pool({
        ranges: [
          [10, 10],
          [12, 12],
        ],
      });
      for (const name of ["a", "b", "c"]) await t.claim(name);
      return Object.values(await t.has(2)).sort();
    },
    outcome: [10, 12],
  },
  {
    name: "without a gateway of the pool, an IPAddress has none",
    run: async (t) => {
      await t.pool(ten);
      await t.served("a");
      return asBag((await t.getAddress("a"))?.spec)?.gateway;
    },
    outcome: undefined,
  },
  {
    name: "a gateway in the range is not allocated",
    run: async (t) => {
      await t.pool({ ...ten, gateway: 10 });
      await t.claim("a");
      return t.has(1);
    },
    outcome: { a: 11 },
  },
  {
    name: "claims of one name in two namespaces get two addresses of one pool",
    run: async (t) => {
      await t.pool(ten);
      await t.served("a");
      await t.claim("a", {}, { namespace: `${t.namespace}-b` });
      const there = () => t.given(`${t.namespace}-b`);
      await t.until(async () => (await there()).a !== undefined);
      return [await t.given(), await there()];
    },
    outcome: [{ a: 10 }, { a: 11 }],
  },
  {
    name: "a paused pool gives nothing",
    run: async (t) => {
      await t.pool({ ...ten, isPaused: true });
      await t.claim("a");
      return t.settled();
    },
    outcome: {},
  },
  {
    name: "a pool that is paused no more serves the claims that wait",
    run: async (t) => {
      await t.pool({ ...ten, isPaused: true });
      await t.claim("a");
      await t.settled();
      await t.pool(ten);
      return t.has(1);
    },
    outcome: { a: 10 },
  },
  {
    name: "a claim that is deleted while its pool is paused stays, with its address, until that goes on",
    run: async (t) => {
      await t.pool(ten);
      await t.served("a");
      await t.pool({ ...ten, isPaused: true });
      await t.settled();
      await t.removeClaim("a");
      const paused = [await t.settled(), (await t.getClaim("a")) !== undefined];
      await t.pool(ten);
      return [...paused, await t.isGone("a")];
    },
    outcome: [{ a: 10 }, true, true],
  },
  {
    name: "a claim on a full pool gets nothing",
    run: async (t) => {
      await t.pool({ ranges: [[10, 10]] });
      await t.served("a");
      await t.claim("b");
      return t.settled();
    },
    outcome: { a: 10 },
  },
  {
    name: "a claim on a full pool is served once another one is deleted",
    run: async (t) => {
      await t.pool({ ranges: [[10, 10]] });
      await t.served("a");
      await t.claim("b");
      await t.settled();
      await t.removeClaim("a");
      await t.until(async () => (await t.given()).b !== undefined);
      return t.given();
    },
    outcome: { b: 10 },
  },
  {
    name: "a claim on a full pool is served once the pool grows",
    run: async (t) => {
      await t.pool({ ranges: [[10, 10]] });
      await t.served("a");
      await t.claim("b");
      await t.settled();
      await t.pool({ ranges: [[10, 11]] });
      return t.has(2);
    },
    outcome: { a: 10, b: 11 },
  },
  {
    name: "an IPAddress that is there before its claim is adopted",
    run: async (t) => {
      await t.pool(ten);
      await t.strange("a", 15);
      await t.claim("a");
      await t.until(async () => (await t.bonds("a"))[1] === 1);
      return [await t.given(), await t.bonds("a")];
    },
    outcome: [{ a: 15 }, [["IPAddressClaim true true", "pool false true"], 1]],
  },
  {
    name: "its other owners stay",
    run: async (t) => {
      await t.pool(ten);
      const ownerReferences = [{ apiVersion: "v1", kind: "Dummy", name: "d", uid: "d" }];
      await t.strange("a", 15, { ownerReferences });
      await t.claim("a");
      await t.until(async () => (await t.bonds("a"))[1] === 1);
      return [await t.given(), await t.bonds("a")];
    },
    outcome: [{ a: 15 }, [["Dummy false false", "IPAddressClaim true true", "pool false true"], 1]],
  },
  {
    name: "an adopted IPAddress goes with its claim",
    run: async (t) => {
      await t.pool(ten);
      await t.strange("a", 15);
      await t.claim("a");
      await t.until(async () => (await t.bonds("a"))[1] === 1);
      await t.removeClaim("a");
      return [await t.isGone("a"), await t.given()];
    },
    outcome: [true, {}],
  },
  ...(
    [
      ["spec.paused", { paused: true }, {}, named, {}],
      ["an annotation", {}, pausedBy, named, {}],
      ["spec.paused, and the claim names it by label", { paused: true }, {}, {}, labelled],
    ] as const
  ).flatMap(([how, spec, annotations, claimSpec, metadata]): ClaimCase[] => [
    {
      name: `a claim of a Cluster that is paused by ${how} gets nothing`,
      run: async (t) => {
        await t.pool(ten);
        await t.cluster(spec, annotations);
        await t.settled();
        await t.claim("a", claimSpec, metadata);
        return t.settled();
      },
      outcome: {},
    },
    {
      name: `it is served once the Cluster is not paused by ${how} any more`,
      run: async (t) => {
        await t.pool(ten);
        await t.cluster(spec, annotations);
        await t.settled();
        await t.claim("a", claimSpec, metadata);
        await t.settled();
        await t.cluster({ paused: false });
        return t.has(1);
      },
      outcome: { a: 10 },
    },
  ]),
  {
    name: "a claim that is deleted while its Cluster is paused stays, with its address",
    run: async (t) => {
      await t.pool(ten);
      await t.cluster();
      await t.served("a", named);
      await t.cluster({ paused: true });
      await t.settled();
      await t.removeClaim("a");
      const seen = [await t.settled(), (await t.getClaim("a")) !== undefined];
      await t.cluster({ paused: false });
      return seen;
    },
    outcome: [{ a: 10 }, true],
  },
  ...(
    [
      [named, {}],
      [{}, labelled],
    ] as const
  ).map(
    ([spec, metadata]): ClaimCase => ({
      name: `a claim of a Cluster that is not there gets nothing: ${JSON.stringify({ spec, metadata })}`,
      run: async (t) => {
        await t.pool(ten);
        await t.claim("a", spec, metadata);
        return t.settled();
      },
      outcome: {},
    }),
  ),
  {
    name: "a claim that is deleted when its Cluster is gone goes",
    run: async (t) => {
      await t.pool(ten);
      await t.served("a");
      await t.change("a", labelled);
      await t.settled();
      await t.removeClaim("a");
      return [await t.isGone("a"), await t.given()];
    },
    outcome: [true, {}],
  },
  {
    name: "a paused claim gets nothing until it goes on",
    run: async (t) => {
      await t.pool(ten);
      await t.claim("a", {}, { annotations: pausedBy });
      const paused = await t.settled();
      await t.change("a", { annotations: { "cluster.x-k8s.io/paused": null } });
      return [paused, await t.has(1)];
    },
    outcome: [{}, { a: 10 }],
  },
  {
    name: "addressReuseGracePeriodSeconds keeps the claim and its IPAddress for so long",
    run: async (t) => {
      await t.pool({ ...ten, graceSeconds: 5 });
      await t.served("a");
      await t.removeClaim("a");
      return [await t.settled(), await t.isGone("a")];
    },
    outcome: [{ a: 10 }, true],
    ours: {
      outcome: [{}, true],
      why: "the record keeps the address; what waits for the claim to be gone, as a Machine does, need not wait",
    },
  },
  {
    name: "a pool that is deleted stays while there are IPAddresses",
    run: async (t) => {
      await t.pool(ten);
      await t.served("a");
      await t.until(t.isProtected);
      await t.removePool();
      return [await t.settled(), await t.hasPool()];
    },
    outcome: [{ a: 10 }, true],
  },
  {
    name: "a pool that is deleted with its claims is gone at once, whatever its grace period",
    run: async (t) => {
      await t.pool({ ...ten, graceSeconds: 600 });
      await t.served("a");
      await t.removePool();
      await t.removeClaim("a");
      return [await t.isGone("a"), await t.until(async () => !(await t.hasPool()))];
    },
    outcome: [true, true],
  },
  {
    name: "a pool counts its addresses without its gateway, and those that are used and free",
    run: async (t) => {
      await t.pool({ ...ten, gateway: 10 });
      for (const name of ["a", "b"]) await t.served(name);
      await t.until(async () => (await t.counts())[1] === 2);
      return t.counts();
    },
    outcome: [9, 2, 7],
  },
  {
    name: "an address that the pool excludes since stays with its claim",
    run: async (t) => {
      await t.pool(ten);
      for (const name of ["a", "b"]) await t.served(name);
      await t.pool({ ...ten, excluded: [11] });
      return t.settled();
    },
    outcome: { a: 10, b: 11 },
  },
  {
    name: "an IPAddress that is deleted while its claim is there stays",
    run: async (t) => {
      await t.pool(ten);
      await t.served("a");
      await t.removeAddress("a");
      return t.settled();
    },
    outcome: { a: 10 },
  },
  {
    name: "a claim that is deleted while another controller has a finalizer on it loses its address",
    run: async (t) => {
      await t.pool(ten);
      await t.served("a", {}, { finalizers: [inUse] });
      await t.removeClaim("a");
      const seen = await t.settled();
      await t.change("a", {
        finalizers: asList(asBag((await t.getClaim("a"))?.metadata)?.finalizers).filter((one) => one !== inUse),
      });
      return [seen, await t.isGone("a")];
    },
    outcome: [{}, true],
    ours: {
      outcome: [{ a: 10 }, true],
      why: "the finalizer says that a machine still uses it: another claim would get the address of a running machine",
    },
  },
];
