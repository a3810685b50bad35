import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "vitest";
import { findAccess } from "../../kube/index.ts";
import { installAll } from "../support/cluster-kinds.ts";
import { addNodes } from "../support/cluster-nodes.ts";
import { clusterOfFile } from "../support/cluster-of-file.ts";
import { root } from "../support/console.ts";
import { eventually, withController } from "../support/controller-run.ts";

describe("the controller on a real API server", () => {
  const cluster = clusterOfFile(async (started) => {
    await installAll(started);
    await started.kubectl(["create", "namespace", "nodeippool"]);
  });

  const manifest = (name: string) =>
    readFileSync(join(root, `examples/static-ip/manifests/${name}`), "utf8").replaceAll("Plan", "Cluster");

  it("gives the nodes of the proposal's example their addresses, and parks the policy", async () => {
    const { kubectl, kubeconfig } = cluster();
    await withController(findAccess({ kubeconfig }), async () => {
      await addNodes(cluster(), "node01", "node02", "node03");
      await kubectl(["apply", "-f", "-"], manifest("pools.yaml"));
      await kubectl(["apply", "-f", "-"], manifest("static-ip.yaml"));
      const columns = "custom-columns=:.status.allocated,:.status.free,:.status.conditions[0].reason";
      await eventually(
        cluster(),
        `get nodeippool traffic-1 --no-headers -o ${columns}`,
        "3     5     ReconciledPool\n",
      );
      const selector = "jsonpath={.spec.nodeSelector}";
      await eventually(cluster(), `get nncp static-ip -o ${selector}`, '{"nmstate.io/ippool-template":"parked"}');
      await eventually(
        cluster(),
        "get nncp static-ip -o jsonpath={.status.conditions[?(@.status=='True')].message}",
        "Policy is progressing 0/3 nodes finished",
      );
      // Half of the nodes may be on their way at once, and nobody enacts anything here.
      const ips = "jsonpath={.spec.desiredState.interfaces[*].ipv4.address[0].ip}";
      await eventually(cluster(), `get nncp static-ip--node01 -o ${ips}`, "10.10.10.1 10.10.11.1");
      await eventually(cluster(), `get nncp static-ip--node02 -o ${ips}`, "10.10.10.2 10.10.11.2");
      await eventually(cluster(), "get nncp static-ip--node03 --ignore-not-found", "");
    });
  });
});
