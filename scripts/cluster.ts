// A cluster for trials by hand: `npm run cluster` keeps one until Ctrl-C; `npm run cluster -- COMMAND...` runs a command in one.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { dirname } from "node:path";
import { startCluster } from "../test/support/cluster.ts";
import { installNmstate, installNmstateAdmission, installNodeIPPool } from "../test/support/cluster-kinds.ts";
import { tool } from "../test/support/tools.ts";

const kubectl = await tool("kubectl");
const [command, ...args] = process.argv.slice(2);
const cluster = await startCluster();
await installNodeIPPool(cluster);
await installNmstate(cluster);
await installNmstateAdmission(cluster);
await cluster.startControllers("garbage-collector-controller", "namespace-controller");

if (command === undefined) {
  // Before the text below: whoever reads that may stop it at once.
  const stopped = Promise.race(["SIGINT", "SIGTERM", "SIGHUP"].map((signal) => once(process, signal)));
  console.log(`A Kubernetes API server with the kinds NodeIPPool and NodeNetworkConfigurationPolicy runs at ${cluster.server}.
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
