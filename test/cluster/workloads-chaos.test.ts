import { join } from "node:path";
import { expect, it } from "vitest";
import { isGated } from "../../integrations/networks/gated-pod.ts";
import { installIpamClaims } from "../support/cluster/kinds.ts";
import { clusterOfFile } from "../support/cluster/of-file.ts";
import { root } from "../support/console.ts";
import { prepareController } from "../support/controller/rights.ts";
import { workloadsChaos, workloadsHistory } from "../support/controller/workloads-chaos.ts";
import { tries } from "../support/long.ts";
import { singlePod } from "../support/objects/workload-objects.ts";
import { recordHistory } from "../support/state/record-history.ts";
import { until } from "../support/until.ts";

const cluster = clusterOfFile(async (started) => {
  await prepareController(started, [installIpamClaims], "workload-addresses");
  await started.kubectl(["apply", "-f", join(root, "deploy/workload-addresses/admission.yaml")]);
  const names = ["statefulset", "deployment", "replicaset", "garbage-collector"];
  await started.startControllers(...names.map((name) => `${name}-controller`));
  // The policy is in force a moment after it is there.
  const { schedulingGates: _, ...spec } = singlePod("any").spec;
  const pod = JSON.stringify({ ...singlePod("any"), spec });
  const made = () => started.kubectl(["create", "--dry-run=server", "-o", "json", "-f", "-"], pod);
  await until(async () => isGated(JSON.parse(await made())), "the API server gates pods");
});
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 32));
const pods = tries(12, 200);
const changes = tries(30, 500);

it(`S6: controllers are killed while workloads with as many pods as addresses, ${pods}, come and go, are scaled and rolled: no address is in two pods, each pod has one in the end, and nothing is left of those that are deleted`, {
  timeout: tries(300_000, 3_600_000),
}, async () => {
  console.log(`seed ${seed}`);
  const start = Date.now();
  const { kills, wrong } = await workloadsChaos(cluster(), "nodeippool", { seed, pods, changes });
  const record = await recordHistory(cluster(), "nodeippool", { mayReturn: true });
  const history = await workloadsHistory(cluster());
  const seconds = Math.round((Date.now() - start) / 1000);
  console.log(`${history.told} pods told, ${kills} kills, ${history.handed} addresses handed on, ${seconds} s`);
  expect([...wrong, ...record.wrong, ...history.wrong]).toEqual([]);
  // Or nothing would have been tried.
  expect(kills).toBeGreaterThan(0);
  expect(history.told).toBeGreaterThan(pods / 4);
  // Of thirty changes, few may hand an address on.
  expect(history.handed).toBeGreaterThan(tries(0, pods / 4));
});
