import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { installAll } from "../support/cluster/kinds.ts";
import { addNodes } from "../support/cluster/nodes.ts";
import { root } from "../support/console.ts";
import { stageOfFile } from "../support/controller/stage-of-file.ts";
import { afterHold } from "../support/controller/timing.ts";
import { policy, pool } from "../support/objects/controller-objects.ts";

// What becomes of the addresses of nodes, with a handler for each node that does what the real one does.

describe("nodes come and go", () => {
  const { cluster, stage } = stageOfFile(installAll);

  it("those of the proposal's example get their addresses, and its policy is parked", async () => {
    const manifest = (name: string) =>
      readFileSync(join(root, `examples/static-ip/manifests/${name}`), "utf8").replaceAll("Plan", "Cluster");
    stage().controller();
    await addNodes(cluster(), "node01", "node02", "node03");
    for (const name of ["pools.yaml", "static-ip.yaml"]) await stage().kubectl("apply -f -", manifest(name));
    const columns = "custom-columns=:.status.allocated,:.status.free,:.status.conditions[0].reason";
    const row = () => stage().kubectl(`get nodeippool traffic-1 --no-headers -o ${columns}`);
    await stage().until(row, "3     5     ReconciledPool\n");
    const selector = () => stage().says("nncp static-ip", "{.spec.nodeSelector}");
    await stage().until(selector, '{"nmstate.io/ippool-template":"parked"}');
    const waiting = "waiting for node01, node02 (kubectl get nnce -l nmstate.io/node=node01)";
    await stage().until(() => stage().message("static-ip"), `Policy is progressing 0/3 nodes finished, ${waiting}`);
    // Half of the nodes may be on their way at once, and nobody enacts anything here.
    const ips = "{.spec.desiredState.interfaces[*].ipv4.address[0].ip}";
    const of = (node: string) => stage().says(`nncp static-ip--${node} --ignore-not-found`, ips);
    await stage().until(() => of("node01"), "10.10.10.1 10.10.11.1");
    await stage().until(() => of("node02"), "10.10.10.2 10.10.11.2");
    expect(await of("node03")).toBe("");
  });

  it("three get addresses, a fourth waits until the pool grows, a fifth joins later", async () => {
    stage().controller();
    await stage().join("n1", "n2", "n3");
    await stage().apply(pool("p", 1, 3), policy("a", "p"));
    const three = ["n1/a 10.0.1.1", "n2/a 10.0.1.2", "n3/a 10.0.1.3"];
    await stage().settles(three);
    await stage().kubectl("wait nncp/a --for condition=Available --timeout=20s");
    await stage().join("n4");
    await stage().until(() => stage().reason("p"), "ExhaustedIPPool");
    await stage().stays(three, 1_000);
    await stage().apply(pool("p", 1, 9));
    await stage().settles([...three, "n4/a 10.0.1.4"]);
    await stage().join("n5");
    await stage().settles([...three, "n4/a 10.0.1.4", "n5/a 10.0.1.5"]);
    await stage().until(() => stage().reason("p"), "ReconciledPool");
    await stage().until(() => stage().message("a"), "5/5 nodes successfully configured");
  });

  it("a node that goes gives its address to one that waits; NotReady or drained alone frees nothing", async () => {
    stage().controller();
    await stage().join("n1", "n2");
    await stage().apply(pool("p", 1, 2), policy("a", "p"));
    const both = ["n1/a 10.0.1.1", "n2/a 10.0.1.2"];
    await stage().settles(both);
    await stage().kubectl("cordon n1");
    await stage().ready("n1", false);
    await stage().join("n3");
    await stage().until(() => stage().reason("p"), "ExhaustedIPPool");
    await stage().stays(both, afterHold);
    await stage().leave("n1");
    await stage().settles(["n2/a 10.0.1.2", "n3/a 10.0.1.1"]);
  });

  it("a node that is relabelled out loses its address, and the next one gets it once it is off; back in it gets one", async () => {
    stage().controller();
    await stage().join("n1", "n2");
    await stage().apply(pool("p", 1, 2), policy("a", "p"));
    await stage().settles(["n1/a 10.0.1.1", "n2/a 10.0.1.2"]);
    await stage().kubectl("label node n1 role-");
    await stage().settles(["n2/a 10.0.1.2"]);
    await stage().join("n3");
    await stage().settles(["n2/a 10.0.1.2", "n3/a 10.0.1.1"]);
    await stage().kubectl("label node n1 role=worker");
    await stage().until(() => stage().reason("p"), "ExhaustedIPPool");
    await stage().apply(pool("p", 1, 3));
    await stage().settles(["n1/a 10.0.1.3", "n2/a 10.0.1.2", "n3/a 10.0.1.1"]);
  });

  it("a node that goes while no controller runs gives its address back; one that is imaged anew keeps its own", async () => {
    const stop = stage().controller();
    await stage().join("n1", "n2");
    await stage().apply(pool("p", 1, 2), policy("a", "p"));
    await stage().settles(["n1/a 10.0.1.1", "n2/a 10.0.1.2"]);
    await stop();
    await stage().leave("n1", "n2");
    await stage().join("n2");
    stage().controller();
    await stage().settles(["n2/a 10.0.1.2"]);
  });
});
