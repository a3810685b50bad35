import { describe, expect, it } from "vitest";
import { installNmstate, installNmstateAdmission, installNodeIPPool } from "../support/cluster/kinds.ts";
import { stageOfFile } from "../support/controller/stage-of-file.ts";
import { policy, pool } from "../support/objects/controller-objects.ts";

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

  it("goes on where the API server was killed and started again, and starts where it streams no lists", async () => {
    const stop = stage().controller();
    await stage().join("n1", "n2");
    await stage().apply(pool("p", 1, 2), policy("a", "p"));
    await stage().settles(both);
    await cluster().killApiServer();
    await cluster().startApiServer(["--feature-gates=WatchList=false"]);
    await stage().leave("n1");
    await stage().join("n3");
    await stage().settles(["n2/a 10.0.1.2", "n3/a 10.0.1.1"]);
    await stop();
    stage().controller();
    await stage().leave("n2");
    await stage().join("n4");
    await stage().settles(["n3/a 10.0.1.1", "n4/a 10.0.1.2"]);
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

  it("a record that is lost comes back from what nodes show: nobody moves, and nobody else gets their addresses", async () => {
    stage().controller();
    await stage().join("n1", "n2");
    await stage().apply(pool("p", 1, 6), policy("a", "p"));
    await stage().settles(both);
    await stage().kubectl("delete configmap --all-namespaces -l nodeippool.nmstate.io/record");
    await stage().join("n3");
    await stage().settles([...both, "n3/a 10.0.1.3"]);
  });

  it("a policy that is made anew while a node is busy with the old one: what the server refuses is tried again", async () => {
    const refusals: string[] = [];
    stage().controller({ log: ({ error }) => void (`${error}`.includes("in progress") && refusals.push(`${error}`)) });
    await stage().join("n1");
    const n1 = stage().machines.get("n1");
    if (n1 !== undefined) n1.delay = 3_000;
    await stage().apply(pool("p", 1, 4), pool("q", 2, 4), policy("a", "p"));
    const progressing = "{.status.conditions[?(@.type=='Progressing')].status}";
    await stage().until(
      () =>
        stage()
          .says("nnce n1.a--n1", progressing)
          .catch(() => ""),
      "True",
    );
    await stage().kubectl("delete nncp a");
    await stage().apply(policy("a", "q"));
    await stage().settles(["n1/a 10.0.2.1"]);
    expect(refusals.length).toBeGreaterThan(0);
  });

  it("etcd is restored from a backup: who runs a newer address keeps it, once its handler has reported again", async () => {
    stage().controller();
    await stage().join("n1", "n2");
    await stage().joinAs("other", "n3");
    await stage().apply(pool("p", 1, 9), policy("a", "p"));
    await stage().settles(both);
    const backup = await cluster().backUp();
    await stage().kubectl("label node n3 role=worker --overwrite");
    await stage().settles([...both, "n3/a 10.0.1.3"]);
    await stage().restore(backup);
    // It reports nothing twice by itself.
    await stage().stopHandler("n3");
    stage().startHandler("n3");
    await stage().until(async () => (await stage().kubectl("get nns n3 -o json")).includes("10.0.1.3"), true);
    await stage().join("n4");
    await stage().until(() => stage().lines(), [...both, "n4/a 10.0.1.4"]);
    await stage().kubectl("label node n3 role=worker --overwrite");
    await stage().settles([...both, "n3/a 10.0.1.3", "n4/a 10.0.1.4"]);
  });
});
