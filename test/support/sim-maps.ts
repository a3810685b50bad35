import type { Integration } from "../../integrations/integration.ts";
import { kubernetes } from "../../state/kubernetes/backend.ts";
import type { Around } from "./kube-memory.ts";
import { MemoryCluster } from "./kube-memory.ts";
import { SimController } from "./sim-controller.ts";

/** A controller in memory whose record is in ConfigMaps, as in a cluster, with the rules that these have. */
export function simWithMaps(
  integrations: readonly Integration[],
  around?: Around,
): { readonly sim: SimController; readonly maps: MemoryCluster["maps"] } {
  const cluster = new MemoryCluster();
  const state = kubernetes(cluster.objects(around), "net");
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
  return { sim, maps: cluster.maps };
}
