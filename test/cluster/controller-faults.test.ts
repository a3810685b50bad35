import { describe, it } from "vitest";
import { installNmstate, installNmstateAdmission, installNodeIPPool } from "../support/cluster-kinds.ts";
import { policy, pool } from "../support/controller-objects.ts";
import { stageOfFile } from "../support/stage-of-file.ts";

// What may happen to the API server, and to the controller itself.

describe("the controller in trouble", () => {
  // Handlers need their kinds; the pools come later.
  const { cluster, stage } = stageOfFile(async (started) => {
    await installNmstate(started);
    await installNmstateAdmission(started);
  });

  const both = ["n1/a 10.0.1.1", "n2/a 10.0.1.2"];

  it("waits for kinds that are not installed yet", async () => {
    stage().controller();
    await stage().join("n1", "n2");
    await stage().apply(policy("a", "p"));
    await installNodeIPPool(cluster());
    await stage().apply(pool("p", 1, 4));
    await stage().settles(both);
  });

  it("goes on where the API server was killed and started again", async () => {
    stage().controller();
    await stage().join("n1", "n2");
    await stage().apply(pool("p", 1, 2), policy("a", "p"));
    await stage().settles(both);
    await cluster().killApiServer();
    await cluster().startApiServer();
    await stage().leave("n1");
    await stage().join("n3");
    await stage().settles(["n2/a 10.0.1.2", "n3/a 10.0.1.1"]);
  });

  it("two controllers at once give each address once", async () => {
    stage().controller();
    stage().controller();
    await stage().join("n1", "n2", "n3", "n4");
    await stage().apply(pool("p", 1, 6), policy("a", "p"));
    await stage().until(async () => (await stage().lines()).length, 4);
    await stage().leave("n2");
    await stage().kubectl("label node n3 role-");
    await stage().join("n5", "n6", "n7");
    await stage().serves(["n1/a", "n4/a", "n5/a", "n6/a", "n7/a"]);
  });

  it("a controller that was stopped for a while does nothing outdated when it goes on", async () => {
    const first = stage().controllerProcess();
    await stage().join("n1", "n2");
    await stage().apply(pool("p", 1, 2), policy("a", "p"));
    await stage().settles(both);
    first.signal("SIGSTOP");
    await stage().leave("n1");
    await stage().join("n3");
    stage().controllerProcess();
    const after = ["n2/a 10.0.1.2", "n3/a 10.0.1.1"];
    await stage().settles(after);
    await stage().join("n4");
    first.signal("SIGCONT");
    await stage().stays(after, 8_000);
    await stage().settles(after);
  });

  it("a record that is lost comes back from what nodes show: nobody moves, and nobody else gets their addresses", async () => {
    stage().controller();
    await stage().join("n1", "n2");
    await stage().apply(pool("p", 1, 6), policy("a", "p"));
    await stage().settles(both);
    await stage().kubectl("delete configmap --all-namespaces -l nodeippool.nmstate.io/record");
    await stage().join("n3");
    await stage().settles([...both, "n3/a 10.0.1.3"]);
  });
});
