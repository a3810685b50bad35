import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, describe, expect, it } from "vitest";
import { isGated } from "../../integrations/gated-pod.ts";
import { type Access, findAccess, type Objects, objectsOf } from "../../kube/index.ts";
import {
  installAll,
  installClusterApi,
  installIpamClaims,
  installKubevirt,
  installMachines,
  installWhereabouts,
} from "../support/cluster-kinds.ts";
import { clusterOfFile } from "../support/cluster-of-file.ts";
import { root } from "../support/console.ts";
import { ownAccess, prepareController, servedAs } from "../support/controller-rights.ts";
import { EverySystem, everyFlag, type Flag, type Flags } from "../support/every-system.ts";
import { launcherOf } from "../support/virt-controller.ts";

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
      "cluster-api",
      "node-slices",
      "ipam-claims",
      "vm-claims",
      "vm-addresses",
      "workload-addresses",
    ])
      await started.kubectl(["apply", "-f", join(root, "deploy", folder, "rbac.yaml")]);
    for (const folder of ["vm-addresses", "workload-addresses"])
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
    return () => kube.close();
  });

  /** One more owner of each kind has what it asks for. */
  async function serves(flags: Flags): Promise<void> {
    await servedAs(
      user,
      async () => {
        const asked = await systems.ask(flags);
        const waiting = async () => {
          const found = await Promise.all(
            Object.entries(asked).map(async ([who, has]) => ((await has()) ? [] : [who])),
          );
          return found.flat();
        };
        await expect.poll(waiting, { timeout: 20_000, interval: 50 }).toEqual([]);
      },
      flags,
    );
  }

  it("with every flag", () => serves(everyFlag), 60_000);

  it.each(pairs)("with %s and %s", (one, other) => serves(flagsOf([one, other])), 60_000);

  it("with none", () => serves({}), 60_000);
});
