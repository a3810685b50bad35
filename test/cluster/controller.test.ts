import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { runController } from "../../controller/start.ts";
import { findAccess } from "../../kube/index.ts";
import { installNmstate, installNmstateAdmission, installNodeIPPool } from "../support/cluster-kinds.ts";
import { clusterOfFile } from "../support/cluster-of-file.ts";
import { root } from "../support/console.ts";

describe("the controller on a real API server", () => {
  const cluster = clusterOfFile(async (started) => {
    await installNodeIPPool(started);
    await installNmstate(started);
    await installNmstateAdmission(started);
    await started.kubectl(["create", "namespace", "nodeippool"]);
  });

  /** Runs a controller around what is to be tried. */
  async function withController(work: () => Promise<void>): Promise<void> {
    const stop = new AbortController();
    const access = findAccess({ kubeconfig: cluster().kubeconfig });
    const running = runController({ access, namespace: "nodeippool", signal: stop.signal, log: () => {} });
    try {
      await work();
    } finally {
      stop.abort();
      await running;
    }
  }

  async function readyNode(name: string): Promise<void> {
    const { kubectl } = cluster();
    const labels = { "kubernetes.io/hostname": name };
    await kubectl(
      ["create", "-f", "-"],
      JSON.stringify({ apiVersion: "v1", kind: "Node", metadata: { name, labels } }),
    );
    const status = { conditions: [{ type: "Ready", status: "True", reason: "KubeletReady", message: "" }] };
    await kubectl(["patch", "node", name, "--subresource=status", "--type=merge", "-p", JSON.stringify({ status })]);
  }

  const manifest = (name: string) =>
    readFileSync(join(root, `examples/static-ip/manifests/${name}`), "utf8").replaceAll("Plan", "Cluster");

  /** Until kubectl prints this. */
  async function eventually(args: string, expected: string): Promise<void> {
    let printed = "";
    for (let tries = 0; tries < 100 && printed !== expected; tries++) {
      await sleep(100);
      printed = await cluster().kubectl(args.split(" "));
    }
    expect(printed).toBe(expected);
  }

  it("gives the nodes of the proposal's example their addresses, and parks the policy", async () => {
    const { kubectl } = cluster();
    await withController(async () => {
      for (const name of ["node01", "node02", "node03"]) await readyNode(name);
      await kubectl(["apply", "-f", "-"], manifest("pools.yaml"));
      await kubectl(["apply", "-f", "-"], manifest("static-ip.yaml"));
      const columns = "custom-columns=:.status.allocated,:.status.free,:.status.conditions[0].reason";
      await eventually(`get nodeippool traffic-1 --no-headers -o ${columns}`, "3     5     ReconciledPool\n");
      const selector = "jsonpath={.spec.nodeSelector}";
      await eventually(`get nncp static-ip -o ${selector}`, '{"nmstate.io/ippool-template":"parked"}');
      await eventually(
        "get nncp static-ip -o jsonpath={.status.conditions[?(@.status=='True')].message}",
        "Policy is progressing 0/3 nodes finished",
      );
      // Half of the nodes may be on their way at once, and nobody enacts anything here.
      const ips = "jsonpath={.spec.desiredState.interfaces[*].ipv4.address[0].ip}";
      await eventually(`get nncp static-ip--node01 -o ${ips}`, "10.10.10.1 10.10.11.1");
      await eventually(`get nncp static-ip--node02 -o ${ips}`, "10.10.10.2 10.10.11.2");
      await eventually("get nncp static-ip--node03 --ignore-not-found", "");
    });
  });
});
