import { findAccess } from "../../../kube/access.ts";
import { realClock } from "../../../kube/clock.ts";
import type { Stored } from "../../../kube/objects.ts";
import { transport } from "../../../kube/transport.ts";
import { watch } from "../../../kube/watch.ts";

// Watches all ConfigMaps of a cluster, keeps the name or all of each, and prints how many there are and by how many
// megabytes the process has grown at most.
const [kubeconfig = "", keep] = process.argv.slice(2);
const megabytes = () => process.resourceUsage().maxRSS / 1024;
const before = megabytes();
const stop = new AbortController();
let count = 0;
await watch(
  transport(findAccess({ kubeconfig }), 30_000),
  {
    resource: { apiVersion: "v1", plural: "configmaps" },
    project: (object: Stored): unknown => (keep === "all" ? object : object.metadata.name),
  },
  {
    replace: (all) => {
      count = all.size;
    },
    set() {},
    delete() {},
    state: (state, error) => {
      if (state === "failing") throw error;
      if (state === "synced") stop.abort();
    },
  },
  { signal: stop.signal, clock: realClock, random: Math.random },
);
console.log(JSON.stringify({ count, grown: Math.round(megabytes() - before) }));
process.exit();
