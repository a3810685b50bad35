// A lab for trials by hand: three nodes with real NICs, the handlers that configure them, the controller, and the proposal's
// example, until Ctrl-C.
import { once } from "node:events";
import { dirname } from "node:path";
import { logger } from "../controller/log.ts";
import { runController } from "../controller/start.ts";
import { findAccess } from "../kube/index.ts";
import { startCluster } from "../test/support/cluster.ts";
import { installAll } from "../test/support/cluster-kinds.ts";
import { addNodes } from "../test/support/cluster-nodes.ts";
import { root } from "../test/support/console.ts";
import { Handler } from "../test/support/handler.ts";
import { labMachine } from "../test/support/handler-machine.ts";
import { createLab, type LabNode } from "../test/support/lab.ts";
import { tool } from "../test/support/tools.ts";

const namespace = "nodeippool";
const stop = new AbortController();
const stopped = Promise.race(["SIGINT", "SIGTERM", "SIGHUP"].map((signal) => once(process, signal)));

const lab = await createLab(["node01", "node02", "node03"]);
const cluster = await startCluster();
await installAll(cluster);
await cluster.startControllers("garbage-collector-controller", "namespace-controller");
await cluster.kubectl(["create", "namespace", namespace]);

const access = findAccess({ kubeconfig: cluster.kubeconfig });
const running = new Set(lab.nodes.map(({ name }) => name));
await addNodes(cluster, ...running);
const handlers = lab.nodes.map(handlerOf);
const log = logger(
  "error",
  (line) => process.stderr.write(line),
  () => new Date(),
);
const controller = runController({ access, namespace, signal: stop.signal, log });
await cluster.kubectl(["apply", "-f", `${root}/examples/static-ip/manifests`]);
await cluster.kubectl(["wait", "nncp/static-ip", "--for", "condition=Available", "--timeout", "60s"]);

console.log(`Three nodes have the addresses of examples/static-ip. In another terminal:

  export KUBECONFIG=${cluster.kubeconfig} PATH=${dirname(await tool("kubectl"))}:$PATH
  kubectl get nodeippools
  kubectl get nncp,nnce
  kubectl describe nodeippool traffic-1
  kubectl label node node03 kubernetes.io/hostname=elsewhere --overwrite
  kubectl delete nncp static-ip

What is really on the nodes:

${lab.nodes.map(({ name, pid }) => `  nsenter --target ${pid} --net ip -brief address   # ${name}`).join("\n")}

Logs are in ${cluster.folder}. Ctrl-C here stops it and removes everything.`);
await stopped;
stop.abort();
await Promise.all([controller, ...handlers.map((handler) => handler.stop())]);
await Promise.all([cluster.stop(), lab.close()]);

function handlerOf(node: LabNode): Handler {
  const pace = { retry: 1_000, report: 5_000 };
  return new Handler({ access, node: node.name, machine: labMachine(node), running, pace });
}
