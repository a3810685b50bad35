import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, describe, expect, it } from "vitest";
import { isGated } from "../../integrations/networks/gated-pod.ts";
import { type Access, findAccess, type Objects, objectsOf } from "../../kube/index.ts";
import { wordsOn } from "../support/cli/words.ts";
import {
  installAll,
  installClusterApi,
  installIpamClaims,
  installKubevirt,
  installMachines,
  installWhereabouts,
} from "../support/cluster/kinds.ts";
import { clusterOfFile } from "../support/cluster/of-file.ts";
import { root } from "../support/console.ts";
import { ownAccess, prepareController, servedAs } from "../support/controller/rights.ts";
import { tries } from "../support/long.ts";
import { type BadObject, fullPool } from "../support/objects/bad-object.ts";
import { badObjects } from "../support/objects/bad-objects.ts";
import { launcherOf } from "../support/real/virt-controller.ts";
import { EverySystem, everyFlag, type Flag, type Flags } from "../support/sim/every-system.ts";

const names = Object.keys(everyFlag) as Flag[];
const flagsOf = (chosen: readonly Flag[]): Flags => Object.fromEntries(chosen.map((name) => [name, everyFlag[name]]));
const pairs = names.flatMap((one, i) => names.slice(i + 1).map((other): [Flag, Flag] => [one, other]));

const metadata = { name: "probe", namespace: "default", uid: "0" };
const networks = [{ name: "red", multus: { networkName: "red" } }];
const launcher = launcherOf({ metadata, spec: { networks } }, "probe");

/** With the rights that deploy/ gives for all of them: whatever is refused fails the test. */
describe("systems served together, on a real API server", () => {
  const cluster = clusterOfFile(async (started) => {
    const kinds = [
      installAll,
      installClusterApi,
      installMachines,
      installWhereabouts,
      installIpamClaims,
      installKubevirt,
    ];
    await started.kubectl(["create", "namespace", "metal3"]);
    await prepareController(started, kinds, "metal3");
    for (const folder of [
      "fleet",
      "cluster-api",
      "node-slices",
      "ipam-claims",
      "vm-claims",
      "vm-addresses",
      "workload-addresses",
    ])
      await started.kubectl(["apply", "-f", join(root, "deploy", folder, "rbac.yaml")]);
    for (const folder of ["fleet", "vm-addresses", "workload-addresses"])
      await started.kubectl(["apply", "-f", join(root, "deploy", folder, "admission.yaml")]);
  });
  let kube: Objects;
  let user: Access;
  let systems: EverySystem;
  beforeAll(async () => {
    kube = objectsOf(findAccess({ kubeconfig: cluster().kubeconfig }));
    user = await ownAccess(cluster());
    // The admission policy is in force a moment after it is there.
    const isInForce = async () => {
      const made = await cluster().kubectl(
        ["create", "--dry-run=server", "-o", "json", "-f", "-"],
        JSON.stringify(launcher),
      );
      return isGated(JSON.parse(made));
    };
    for (let tries = 0; tries < 100 && !(await isInForce()); tries++) await sleep(100);
    systems = new EverySystem(kube);
    await systems.begin();
    await systems.throwIn({ objects: fullPool });
    return () => kube.close();
  });

  /** One more owner of each kind has what it asks for. Returns after how many milliseconds, by kind. */
  async function serves(flags: Flags): Promise<ReadonlyMap<string, number>> {
    const asked = new Map(Object.entries(await systems.ask(flags)));
    const start = performance.now();
    const took = new Map<string, number>();
    const waiting = async () => {
      for (const [who, has] of asked) {
        if (!(await has())) continue;
        took.set(who.replace(/\d+/, ""), performance.now() - start);
        asked.delete(who);
      }
      return [...asked.keys()];
    };
    await expect.poll(waiting, { timeout: 20_000, interval: 50 }).toEqual([]);
    return took;
  }

  /** The same, by a controller with these flags. */
  async function servesWith(flags: Flags): Promise<void> {
    await servedAs(user, async () => void (await serves(flags)), flags);
  }

  it("with every flag", () => servesWith(everyFlag), 60_000);

  it.each(pairs)("with %s and %s", (one, other) => servesWith(flagsOf([one, other])), 60_000);

  it("with none", () => servesWith({}), 60_000);

  /** Waits until each bad object says why it waits. */
  async function areTold(bad: readonly BadObject[]): Promise<void> {
    const silent = async () => {
      const wordsAbout = await wordsOn(kube);
      return bad.flatMap(({ what, about = "", word = /^/ }) => {
        const words = wordsAbout(about).join("\n");
        return word.test(words) ? [] : [`${what}: ${words || "nothing is said"}`];
      });
    };
    await expect.poll(silent, { timeout: 20_000, interval: 500 }).toEqual([]);
  }

  const real = badObjects.filter(({ isOnlySimulated = false, stops }) => !isOnlySimulated && stops === undefined);
  it.each<[string, readonly BadObject[]]>([
    ["of every kind at once", real],
    ...tries<[string, readonly BadObject[]][]>(
      [],
      real.map((one) => [one.what, [one]]),
    ),
  ])(
    "bad objects %s: each says why it waits, and all others are served in twice the time at most",
    async (_, bad) => {
      await servedAs(
        user,
        async () => {
          await expect
            .poll(async () => (await wordsOn(kube))("Pod/default:first"), { timeout: 20_000 })
            .not.toEqual([]);
          const without = await serves(everyFlag);
          for (const one of bad) await systems.throwIn(one);
          const beside = await serves(everyFlag);
          await areTold(bad);
          const later = await serves(everyFlag);
          // On a busy machine requests and polls take seconds, whoever waits; who is held up waits for minutes.
          const slower = [...without].filter(([who, ms]) =>
            [beside, later].some((took) => (took.get(who) ?? Number.POSITIVE_INFINITY) > 2 * ms + 15_000),
          );
          expect(slower).toEqual([]);
          for (const one of bad) await systems.takeAway(one);
        },
        everyFlag,
      );
    },
    120_000,
  );
});
