import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import type { Bag } from "../../schema/objects.ts";
import { installIpamClaims } from "../support/cluster/kinds.ts";
import { clusterOfFile } from "../support/cluster/of-file.ts";
import { root } from "../support/console.ts";
import { accessWithout, prepareController, rightsIn, withRefusals } from "../support/controller/rights.ts";
import { pool } from "../support/objects/ipam-claims.ts";
import { detected } from "../support/objects/pod-detects.ts";
import { definition, macvlanNetwork } from "../support/objects/vm-objects.ts";
import { gate, ipsOf, networksKey, singlePod, workload } from "../support/objects/workload-objects.ts";

describe("the role for workloads needs each of its rights", () => {
  // A streamed list asks for the right to watch alone.
  const cluster = clusterOfFile(
    async (started) => {
      await prepareController(started, [installIpamClaims], "workload-addresses");
      await started.kubectl(["apply", "-f", join(root, "deploy/workload-addresses/admission.yaml")]);
      const objects = [pool("lan", "10.0.0.0/24"), macvlanNetwork("red", "lan"), definition("plain", "default", {})];
      for (const one of objects) await started.kubectl(["create", "-f", "-"], JSON.stringify(one));
    },
    { flags: ["--feature-gates=WatchList=false"] },
  );
  const kubectl = (args: string, input?: string) => cluster().kubectl(args.split(" "), input);
  const create = (object: Bag) => kubectl("create -f -", JSON.stringify(object));
  afterEach(() => kubectl("delete statefulsets,deployments,pods,configmaps --all -n default --force"));

  /** A pod of a StatefulSet, as its controller makes it. */
  const pod = (name: string, set: string, uid: string) => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      labels: { [gate]: "gated" },
      annotations: { [networksKey]: "red, plain" },
      ownerReferences: [{ apiVersion: "apps/v1", kind: "StatefulSet", name: set, uid }],
    },
    spec: { containers: [{ name: "main", image: "main" }] },
  });

  /** The same of a Deployment. */
  const podOf = (deployment: string) => ({
    ...pod(`${deployment}-x-1`, "", ""),
    metadata: {
      name: `${deployment}-x-1`,
      labels: { [gate]: "gated", "pod-template-hash": "x" },
      annotations: { [networksKey]: "red" },
      ownerReferences: [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: `${deployment}-x`, uid: "x" }],
    },
  });

  it.each(rightsIn("workload-addresses"))("workload-addresses: %s", async (right) => {
    const access = await accessWithout(right, "workload-addresses", cluster());
    const work = async (refused: ReadonlySet<string>) => {
      const reached = async (what: string, expected: RegExp) => {
        for (let i = 0; i < 300 && !refused.has(right); i++) {
          if (expected.test(await kubectl(`get ${what}`).catch((error) => `${error}`))) return;
          await sleep(50);
        }
      };
      await create(workload("StatefulSet", "web", { replicas: 1 }, "red, plain"));
      await create(workload("Deployment", "app", { replicas: 1 }));
      await create(singlePod("bare"));
      await create(pod("web-0", "web", await kubectl("get statefulset web -o jsonpath={.metadata.uid}")));
      await reached("pod web-0 -o jsonpath={.spec.schedulingGates}", /^$/);
      await reached("pod bare -o jsonpath={.spec.schedulingGates}", /^$/);
      await kubectl("delete pod bare --force");
      await create(podOf("app"));
      await reached("pod app-x-1 -o jsonpath={.spec.schedulingGates}", /^$/);
      const told = JSON.parse(await kubectl("get pod app-x-1 --ignore-not-found -o json").then((text) => text || "{}"));
      const status = detected(4, `conflict ${ipsOf(told).join().replace("/24", "")} net1 02:00:00:00:00:02`);
      const stuck = JSON.stringify({ ...told, status });
      if (!refused.has(right)) await kubectl("replace --subresource=status -f -", stuck);
      await reached("pod app-x-1 --ignore-not-found -o name", /^$/);
      await kubectl("scale statefulset web --replicas=2");
      await reached("configmap nodeippool-web -o jsonpath={.data.web-1}", /ips/);
      await kubectl("scale deployment app --replicas=0");
      await reached("configmap nodeippool-deployment.app --ignore-not-found -o name", /^$/);
      await kubectl("scale statefulset web --replicas=1");
      for (let i = 0; i < 100 && !refused.has(right); i++) await sleep(50);
      expect([...refused]).toContain(right);
    };
    await withRefusals(access, work, { workloadAddresses: true });
  });
});
