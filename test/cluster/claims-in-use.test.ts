import { beforeAll, describe, expect, it } from "vitest";
import { findAccess, type KubeObject, type Objects, objectsOf } from "../../kube/index.ts";
import { asBag, asList, type Bag } from "../../schema/objects.ts";
import { nextRevision, replay } from "../support/cluster/history.ts";
import { installClusterApi, installNodeIPPool } from "../support/cluster/kinds.ts";
import { clusterOfFile } from "../support/cluster/of-file.ts";
import { withController } from "../support/controller/run.ts";
import { hurried } from "../support/controller/timing.ts";
import { tries } from "../support/long.ts";
import { until } from "../support/until.ts";

const group = "ipam.cluster.x-k8s.io";
const pools = { apiVersion: "nmstate.io/v1", plural: "nodeippools" };
const claims = { apiVersion: `${group}/v1beta2`, plural: "ipaddressclaims" };
const namespace = "default";
const inUse = "machine.example.org/ip-claim-protection";
const poolRef = { apiGroup: "nmstate.io", kind: "NodeIPPool", name: "p" };

type Any = KubeObject & Bag;

const cluster = clusterOfFile(async (started) => {
  await installNodeIPPool(started);
  await installClusterApi(started);
  await started.kubectl(["create", "namespace", "nodeippool"]);
  await started.startControllers("garbage-collector-controller");
});

/** Providers of machines put finalizers on claims that are in use (CAPV, CAPMOX, OpenShift's Machine API). */
describe("a claim that is deleted while another controller has a finalizer on it, with the real garbage collector", () => {
  let kube: Objects;
  beforeAll(() => {
    kube = objectsOf(findAccess({ kubeconfig: cluster().kubeconfig }));
    return () => kube.close();
  });
  const get = (resource: typeof claims, name: string) => kube.get<Any>(resource, name, namespace);
  const claim = (name: string, finalizers: readonly string[] = []) =>
    kube.create(claims, {
      apiVersion: claims.apiVersion,
      kind: "IPAddressClaim",
      metadata: { name, namespace, finalizers },
      spec: { poolRef },
    } as KubeObject);
  const remove = (name: string, cascade: string) =>
    cluster().kubectl(["delete", claims.plural, name, "--wait=false", `--cascade=${cascade}`]);
  const isServed = async (name: string) => asBag((await get(claims, name))?.status)?.addressRef !== undefined;
  async function end(name: string): Promise<void> {
    const finalizers = asList(asBag((await get(claims, name))?.metadata)?.finalizers).filter((one) => one !== inUse);
    await kube.patch(claims, name, namespace, { metadata: { finalizers } }, { type: "merge" });
  }

  const cascades = tries(["background", "foreground"], ["background", "foreground", "orphan"]);
  const rounds = tries(1, 33);

  it(
    "keeps its IPAddress until that is gone, however it is deleted; then the next claim gets the address",
    async () => {
      const spec = {
        range: { cidr: "198.51.100.0/24", start: "198.51.100.10", end: "198.51.100.10" },
        authority: "Cluster",
      };
      await kube.create(pools, {
        apiVersion: pools.apiVersion,
        kind: "NodeIPPool",
        metadata: { name: "p" },
        spec,
      } as KubeObject);
      const since = await nextRevision(cluster());
      const access = findAccess({ kubeconfig: cluster().kubeconfig });
      const names = Array.from({ length: rounds }, () => cascades).flat();
      await withController(
        access,
        async () => {
          await claim("m0", [inUse]);
          for (const [i, cascade] of names.entries()) {
            await until(() => isServed(`m${i}`), `m${i} is served`, 60_000);
            await claim(`m${i + 1}`, [inUse]);
            await remove(`m${i}`, cascade);
            // Longer than an address that is off its owner is held back.
            await new Promise((resolve) => setTimeout(resolve, hurried.hold + 2_000));
            expect(await isServed(`m${i + 1}`)).toBe(false);
            await end(`m${i}`);
          }
          await until(() => isServed(`m${names.length}`), "the last one is served", 60_000);
          await until(async () => (await get(claims, "m0")) === undefined, "m0 is gone");
        },
        { timing: hurried, clusterApi: "v1beta2" },
      );
      const owned = await replayOwners(since);
      expect(owned).toEqual(["m0", ...names.map((_, i) => `m${i + 1}`)]);
    },
    120_000 * rounds,
  );

  /** The owners of the one address, in order. Throws where two have it, or where a claim in use has it no more. */
  async function replayOwners(since: number): Promise<string[]> {
    type Change = { readonly number: number; readonly run: () => void };
    const changes: Change[] = [];
    const held = new Map<string, Bag>();
    const protectedClaims = new Set<string>();
    const owners: string[] = [];
    const visit =
      (about: (name: string, object: Bag | undefined) => void) =>
      (one: { number: number; key: string; object: unknown }) => {
        const name = one.key.slice(one.key.lastIndexOf("/") + 1);
        changes.push({ number: one.number, run: () => about(name, asBag(one.object)) });
      };
    await replay(
      cluster(),
      `${group}/ipaddressclaims`,
      visit((name, object) => {
        const { deletionTimestamp, finalizers } = asBag(object?.metadata) ?? {};
        if (deletionTimestamp !== undefined && asList(finalizers).includes(inUse)) protectedClaims.add(name);
        else protectedClaims.delete(name);
      }),
      since,
    );
    await replay(
      cluster(),
      `${group}/ipaddresses`,
      visit((name, object) => {
        if (object === undefined) held.delete(name);
        else held.set(name, object);
        if (object !== undefined && owners.at(-1) !== name) owners.push(name);
      }),
      since,
    );
    for (const { number, run } of changes.sort((a, b) => a.number - b.number)) {
      run();
      if (held.size > 1) throw new Error(`at revision ${number} ${[...held.keys()].join(" and ")} have the address`);
      for (const name of protectedClaims)
        if (!held.has(name)) throw new Error(`at revision ${number} ${name} has lost its address`);
    }
    return owners;
  }
});
