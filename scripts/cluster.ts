// A cluster for trials by hand: `npm run cluster` keeps one until Ctrl-C; `npm run cluster -- COMMAND...` runs a command in one.
import { once } from "node:events";
import { startCluster } from "../test/support/cluster.ts";
import { clusterEnvironment, runCommand } from "../test/support/cluster-command.ts";
import { installAll, installIpamClaims } from "../test/support/cluster-kinds.ts";

const command = process.argv.slice(2);
const cluster = await startCluster();
await installAll(cluster);
await installIpamClaims(cluster);
const controllers = ["garbage-collector", "namespace", "statefulset", "deployment", "replicaset", "job"];
await cluster.startControllers(...controllers.map((name) => `${name}-controller`));
// Without it, a pod says for ever that it waits for its addresses.
await cluster.startScheduler();

if (command.length === 0) {
  const { KUBECONFIG, PATH } = await clusterEnvironment(cluster);
  // Before the text below: whoever reads that may stop it at once.
  const stopped = Promise.race(["SIGINT", "SIGTERM", "SIGHUP"].map((signal) => once(process, signal)));
  console.log(`A Kubernetes API server with the kinds NodeIPPool, NodeNetworkConfigurationPolicy and NetworkAttachmentDefinition runs at ${cluster.server}.
StatefulSets, Deployments and Jobs make their pods. There are no nodes: no pod runs, and no policy gets addresses. npm run lab has nodes.
In another terminal:

  export KUBECONFIG=${KUBECONFIG} PATH=${PATH.split(":")[0]}:$PATH
  kubectl apply -f examples/static-ip/manifests/
  kubectl get nodeippools

To run a controller in it, with flags such as --workload-addresses:

  kubectl create namespace nodeippool
  npm run -s nodeippool -- controller --namespace nodeippool --listen off

Logs are in ${cluster.folder}. Ctrl-C here stops it and removes everything.`);
  await stopped;
} else process.exitCode = await runCommand(cluster, command);
await cluster.stop();
