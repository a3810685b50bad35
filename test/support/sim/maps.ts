import type { ClusterIntegration } from "../../../integrations/contract/cluster-integration.ts";
import { kubernetes } from "../../../state/kubernetes/backend.ts";
import type { Around } from "../cluster/kube-memory.ts";
import { MemoryCluster } from "../cluster/kube-memory.ts";
import { SimController } from "./controller.ts";
import type { SimServer } from "./server.ts";

/** A controller in memory whose record is in ConfigMaps, as in a cluster, with the rules that these have; others edit it, or write it as commands do. */
export function simWithMaps(
  integrations: readonly ClusterIntegration[],
  around?: Around,
  cluster = new MemoryCluster(),
  server?: SimServer,
) {
  const state = kubernetes(cluster.objects(around), "net", { goesOn: true });
  const sim: SimController = new SimController(
    undefined,
    () => ({
      name: state.name,
      read: async () => {
        sim.record = await state.read();
        return sim.record;
      },
      commit: async (plan) => {
        sim.record = await state.commit(plan);
        return sim.record;
      },
    }),
    undefined,
    integrations,
    server,
  );
  /** Another controller, which starts now. */
  const beside = () => simWithMaps(integrations, around, cluster, sim.server).sim;
  const edit: MemoryCluster["edit"] = (name, change) => cluster.edit(name, change);
  return { sim, cluster, edit, beside, others: kubernetes(cluster.objects(), "net") };
}
