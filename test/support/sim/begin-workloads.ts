import type { Reconciler } from "../../../integrations/contract/reconciler.ts";
import { workloadsInCluster } from "../../../integrations/workload/in-cluster.ts";
import { podDelivery } from "../../../integrations/workload/pod-delivery.ts";
import { asList, type Bag } from "../../../schema/objects.ts";
import { pool } from "../objects/ipam-claims.ts";
import { macvlanNetwork } from "../objects/vm-objects.ts";
import { ipsOf, workload } from "../objects/workload-objects.ts";
import { SimApps } from "./apps.ts";
import { SimController } from "./controller.ts";
import { SimReconciler } from "./reconciler.ts";

/** The controller for workloads in memory, with those of Kubernetes: pool `lan` of so many addresses, and network `red`. */
export function beginWorkloads({
  last = 9,
  spec = {},
  pools = "lan",
  free,
}: {
  last?: number;
  spec?: Bag;
  pools?: string;
  /** Pods that never end are seen to, too. */
  free?: Reconciler;
} = {}) {
  const sim = new SimController(undefined, undefined, undefined, [workloadsInCluster]);
  const reconciler = new SimReconciler(podDelivery, sim.server);
  const freeing = free && new SimReconciler(free, sim.server);
  const apps = new SimApps(sim.server);
  apps.create(pool("lan", "10.0.0.0/24", `10.0.0.${last}`, spec));
  apps.create(pool("lan6", "fd20::/64", "fd20::9"));
  apps.create(macvlanNetwork("red", pools));
  const create = (...fields: Parameters<typeof workload>) => apps.create(workload(...fields));
  /** Time passes for all: Kubernetes' controllers, then ours. */
  const pass = async (ms = 3000) => {
    for (let left = ms; left > 0; left -= 100) {
      for (const step of apps.steps()) step();
      sim.server.collect();
      await sim.pass(100);
      await reconciler.pass(100);
      await freeing?.pass(100);
    }
  };
  /** `web-0 10.0.0.1/24`, each pod with its addresses; one that waits has none. */
  const told = () =>
    apps
      .all("Pod")
      .map((pod) => [pod.metadata.name, ...ipsOf(pod)].join(" "))
      .sort();
  const isWaiting = (name: string) => asList((apps.find("Pod", name)?.spec as Bag)?.schedulingGates).length > 0;
  return { sim, reconciler, freeing, apps, create, pass, told, isWaiting };
}
