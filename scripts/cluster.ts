// A cluster for trials by hand.
import { once } from "node:events";
import { didYouMean } from "../schema/nearest.ts";
import { startCluster } from "../test/support/cluster/cluster.ts";
import { clusterEnvironment, runCommand } from "../test/support/cluster/command.ts";
import { installAll, installIpamClaims } from "../test/support/cluster/kinds.ts";
import { startClusterApiManager } from "../test/support/real/cluster-api-manager.ts";
import { startVirtController } from "../test/support/real/kubevirt.ts";
import { checkUsage } from "./usage.ts";

/** How the managers of each system are started. */
const systems = new Map([
  ["cluster-api", startClusterApiManager],
  ["kubevirt", startVirtController],
]);

const args = process.argv.slice(2);
const help = `A Kubernetes API server with the kinds that nodeippool reads. No nodes: npm run lab has nodes.

  npm run cluster                 keeps it until Ctrl-C, and prints how to use it
  npm run cluster -- COMMAND...   runs a command in it, such as kubectl get nodeippools, and removes it

  --with NAME,...   before COMMAND: also runs the managers of other systems (${[...systems.keys()].join(", ")})`;
const wanted = args[0] === "--with" ? args.splice(0, 2)[1] : undefined;
checkUsage(args, help);
const names = wanted?.split(",") ?? [];
const unknown = names.find((name) => !systems.has(name));
if (unknown !== undefined) {
  const known = [...systems.keys()];
  console.error(`--with ${unknown}: expected ${known.join(", ")}${didYouMean(unknown, known)}`);
  process.exit(1);
}

const command = args;
const cluster = await startCluster();
await installAll(cluster);
await installIpamClaims(cluster);
const controllers = ["garbage-collector", "namespace", "statefulset", "deployment", "replicaset", "job"];
await cluster.startControllers(...controllers.map((name) => `${name}-controller`));
// Without it, a pod says for ever that it waits for its addresses.
await cluster.startScheduler();
const managers = [];
for (const name of names) managers.push(await systems.get(name)?.(cluster));

if (command.length === 0) {
  const { KUBECONFIG, PATH } = await clusterEnvironment(cluster);
  // Before the text below: whoever reads that may stop it at once.
  const stopped = Promise.race(["SIGINT", "SIGTERM", "SIGHUP"].map((signal) => once(process, signal)));
  console.log(`A Kubernetes API server with the kinds NodeIPPool, NodeNetworkConfigurationPolicy and NetworkAttachmentDefinition runs at ${cluster.server}.
StatefulSets, Deployments and Jobs make their pods. There are no nodes: no pod runs, and no policy gets addresses. npm run lab has nodes.${running(names)}
In another terminal:

  export KUBECONFIG=${KUBECONFIG} PATH=${PATH.split(":")[0]}:$PATH
  kubectl apply -f examples/static-ip/manifests/
  kubectl get nodeippools

To run a controller in it, with flags such as --workload-addresses:

  kubectl create namespace nodeippool
  npm run -s nodeippool -- controller --namespace nodeippool --listen off

After kubectl apply -k deploy/ the controller needs a token of its ServiceAccount:

  kubectl config view --raw > controller.kubeconfig
  kubectl config set-credentials admin --kubeconfig controller.kubeconfig --token "$(kubectl create token nodeippool-controller -n nodeippool)"
  KUBECONFIG=controller.kubeconfig npm run -s nodeippool -- controller --namespace nodeippool --listen off

Logs are in ${cluster.folder}. Ctrl-C here stops it and removes everything.`);
  await stopped;
} else process.exitCode = await runCommand(cluster, command);
await Promise.all(managers.map((manager) => manager?.stop()));
await cluster.stop();

function running(names: readonly string[]): string {
  return names.length === 0 ? "" : `\nThe managers of these systems run, too: ${names.join(", ")}.`;
}
