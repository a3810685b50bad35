import { join } from "node:path";
import { expect, it } from "vitest";
import { installIpamClaims, installKubevirt } from "../support/cluster/kinds.ts";
import { clusterOfFile } from "../support/cluster/of-file.ts";
import { root } from "../support/console.ts";
import { prepareController } from "../support/controller/rights.ts";
import { vmsChaos, vmsHistory } from "../support/controller/vms-chaos.ts";
import { tries } from "../support/long.ts";
import { recordHistory } from "../support/state/record-history.ts";

const cluster = clusterOfFile(async (started) => {
  await prepareController(started, [installIpamClaims, installKubevirt], "ipam-claims");
  await started.kubectl(["apply", "-f", join(root, "deploy/vm-addresses/admission.yaml")]);
  await started.startControllers("garbage-collector-controller");
});
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 32));
const vms = tries(8, 1_000);
const changes = tries(2, 4);

it(`controllers are killed while ${vms} VMs on three networks come and go, start, stop and migrate: none has an address of another one, each has its own, and nothing is left of those that are deleted`, {
  timeout: tries(300_000, 3_600_000),
}, async () => {
  console.log(`seed ${seed}`);
  const start = Date.now();
  const { kills, starts, wrong } = await vmsChaos(cluster(), "nodeippool", { seed, vms, changes });
  const record = await recordHistory(cluster(), "nodeippool", { mayReturn: true });
  const history = await vmsHistory(cluster());
  const seconds = Math.round((Date.now() - start) / 1000);
  console.log(`${starts} starts, ${kills} kills, ${history.handed} addresses handed on, ${seconds} s`);
  expect([...wrong, ...record.wrong, ...history.wrong]).toEqual([]);
  // Or nothing would have been tried.
  for (const count of [kills, starts]) expect(count).toBeGreaterThan(0);
  // On a slow machine nothing may become free while so few live.
  expect(history.handed).toBeGreaterThanOrEqual(tries(0, vms / 4));
});
