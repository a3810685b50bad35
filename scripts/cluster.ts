// A cluster for trials by hand: `npm run cluster` keeps one until Ctrl-C; `npm run cluster -- COMMAND...` runs a command in one.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { dirname } from "node:path";
import { startCluster } from "../test/support/cluster.ts";
import { installAll, installIpamClaims } from "../test/support/cluster-kinds.ts";
import { tool } from "../test/support/tools.ts";

const kubectl = await tool("kubectl");
const [command, ...args] = process.argv.slice(2);
const cluster = await startCluster();
await installAll(cluster);
await installIpamClaims(cluster);
const controllers = ["garbage-collector", "namespace", "statefulset", "deployment", "replicaset", "job"];
await cluster.startControllers(...controllers.map((name) => `${name}-controller`));
// Without it, a pod says for ever that it waits for its addresses.
await cluster.startScheduler();

if (command === undefined) {
  // Before the text below: whoever reads that may stop it at once.
  const stopped = Promise.race(["SIGINT", "SIGTERM", "SIGHUP"].map((signal) => once(process, signal)));
  console.log(`A Kubernetes API server with the kinds NodeIPPool, NodeNetworkConfigurationPolicy and NetworkAttachmentDefinition runs at ${cluster.server}.
StatefulSets, Deployments and Jobs make their pods; there is no node, so none of them runs.
In another terminal:

  export KUBECONFIG=${cluster.kubeconfig} PATH=${dirname(kubectl)}:$PATH
  kubectl apply -f examples/static-ip/manifests/
  kubectl get nodeippools

Logs are in ${cluster.folder}. Ctrl-C here stops it and removes everything.`);
  await stopped;
} else {
  const env = { ...process.env, KUBECONFIG: cluster.kubeconfig, PATH: `${dirname(kubectl)}:${process.env.PATH}` };
  const [status] = await once(spawn(command, args, { env, stdio: "inherit" }), "exit");
  process.exitCode = status ?? 1;
}
await cluster.stop();
