// A lab for trials by hand.
import { once } from "node:events";
import { dirname } from "node:path";
import { clusterEnvironment, runCommand } from "../test/support/cluster/command.ts";
import { deployController } from "../test/support/controller/deployed-controller.ts";
import { NmstateLab } from "../test/support/real/nmstate-lab.ts";
import { checkUsage } from "./usage.ts";

const command = process.argv.slice(2);
checkUsage(
  command,
  `A Kubernetes API server, three nodes with kubernetes-nmstate in network namespaces, and the controller of deploy/.

  npm run lab                 keeps it until Ctrl-C, and prints how to use it
  npm run lab -- COMMAND...   runs a command in it, such as kubectl get nodes, and removes it`,
);
const signals = command.length === 0 ? ["SIGINT", "SIGTERM", "SIGHUP"] : [];
const stopped = Promise.race(signals.map((signal) => once(process, signal)));

const lab = await NmstateLab.start(["node01", "node02", "node03"]);
try {
  const start = await deployController(lab.cluster, lab.folder);
  const controller = await start();
  lab.onStop(() => controller.stop());
  if (command.length === 0) {
    await explain();
    await stopped;
  } else process.exitCode = await runCommand(lab.cluster, command);
} finally {
  await lab.stop();
}

async function explain(): Promise<void> {
  const { KUBECONFIG, PATH } = await clusterEnvironment(lab.cluster);
  const nodes = [...lab.nodes.values()].sort((a, b) => a.number - b.number);
  console.log(`Three nodes run NetworkManager and kubernetes-nmstate; its webhook and the controller run, too. In another terminal:

  export KUBECONFIG=${KUBECONFIG} PATH=${PATH.split(":")[0]}:$PATH
  kubectl apply -f examples/static-ip/manifests
  kubectl wait nncp/static-ip --for condition=Available --timeout 30s
  kubectl get nodeippools,nncp,nnce
  kubectl describe nodeippool traffic-1

To keep node01 alone in the policy; the addresses of the others are taken off, and are free half a minute later:

  kubectl patch nncp static-ip --type merge -p '{"spec":{"nodeSelector":{"kubernetes.io/hostname":"node01"}}}'

What is on the nodes:

${nodes.map(({ name, pid }) => `  nsenter --target ${pid} --net ip -brief address   # ${name}`).join("\n")}

Logs are in ${lab.folder} and ${dirname(KUBECONFIG)}. Ctrl-C here stops everything and removes it.`);
}
