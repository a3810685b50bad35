import type { Integration } from "../../integrations/integration.ts";
import { kubernetes } from "../../state/kubernetes/backend.ts";
import type { Around } from "./kube-memory.ts";
import { MemoryCluster } from "./kube-memory.ts";
import { SimController } from "./sim-controller.ts";

/** A controller in memory whose record is in ConfigMaps, as in a cluster, with the rules that these have; others edit it, or write it as commands do. */
export function simWithMaps(integrations: readonly Integration[], around?: Around) {
  const cluster = new MemoryCluster();
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
  );
  const edit: MemoryCluster["edit"] = (name, change) => cluster.edit(name, change);
  return { sim, edit, others: kubernetes(cluster.objects(), "net") };
}
