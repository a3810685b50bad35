import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { asBag, type Bag } from "../../schema/objects.ts";
import { nextRevision, replay } from "../support/cluster/history.ts";
import { installAll } from "../support/cluster/kinds.ts";
import { root } from "../support/console.ts";
import { stageOfFile } from "../support/controller/stage-of-file.ts";
import { afterHold } from "../support/controller/timing.ts";
import { policy, pool } from "../support/objects/controller-objects.ts";
import { isTrue } from "../support/objects/handler-conditions.ts";

// What becomes of policies and pools, and how policies stand beside handlers that take them for nobody's.

const policies = "nmstate.io/nodenetworkconfigurationpolicies";

describe("policies and pools", () => {
  const { cluster, stage } = stageOfFile(installAll);
  /** The first revision of etcd that is about this test. */
  let since: number;
  beforeEach(async () => {
    since = await nextRevision(cluster());
    stage().controller();
    await stage().join("n1", "n2");
  });

  /** How often a handler has said of policy `a` that it matches no node. */
  async function ignored(): Promise<number> {
    let times = 0;
    await replay(
      cluster(),
      policies,
      ({ key, object }) => {
        if (key.endsWith("/a") && JSON.stringify(object).includes("Policy does not match any node")) times++;
      },
      since,
    );
    return times;
  }

  /** How many nodes were being configured at once, at most. */
  async function busiest(): Promise<number> {
    let most = 0;
    await replay(
      cluster(),
      "nmstate.io/nodenetworkconfigurationenactments",
      ({ objects }) => {
        const all = [...objects.values()].map((one) => asBag(asBag(one)?.status)?.conditions);
        most = Math.max(most, all.filter((one) => isTrue(one, "Progressing")).length);
      },
      since,
    );
    return most;
  }
  const available = "2/2 nodes successfully configured";

  it("are left alone where they take nothing from a pool: handlers go on as maxUnavailable says, and stop where one fails", async () => {
    await stage().join("n3");
    for (const machine of stage().machines.values()) machine.delay = 300;
    const plain = (name: string, nic: string) => {
      const { capture: _, desiredState: __, ...spec } = policy(name, "p").spec as Bag;
      const ipv4 = { enabled: true, dhcp: true };
      const desiredState = { interfaces: [{ name: nic, type: "ethernet", state: "up", ipv4 }] };
      return { ...policy(name, "p"), spec: { ...spec, maxUnavailable: 1, desiredState } };
    };
    await stage().apply(plain("a", "eth1"));
    await stage().until(() => stage().message("a"), "3/3 nodes successfully configured");
    expect(await busiest()).toBe(1);
    for (const machine of stage().machines.values()) machine.failure = "no carrier";
    await stage().apply(plain("b", "eth2"));
    await stage().until(() => stage().message("b"), "1/3 nodes failed to configure, 2 nodes aborted configuration");
  });

  it("stays Available although handlers say that it matches no node, at their start and when nodes are relabelled", async () => {
    await stage().apply(pool("p", 1, 9), policy("a", "p"));
    await stage().until(() => stage().message("a"), available);
    const before = await ignored();
    await stage().stopHandler("n1");
    stage().startHandler("n1");
    await stage().until(async () => (await ignored()) > before, true);
    await stage().until(() => stage().message("a"), available);
    const between = await ignored();
    await stage().kubectl("label node n2 colour=green");
    await stage().until(async () => (await ignored()) > between, true);
    await stage().until(() => stage().message("a"), available);
    await stage().kubectl("wait nncp/a --for condition=Available --timeout=20s");
    await stage().settles(["n1/a 10.0.1.1", "n2/a 10.0.1.2"]);
  });

  it("two policies share a pool; one is made anew over another pool, and its addresses come back", async () => {
    await stage().apply(pool("p", 1, 4), pool("q", 2, 4), policy("a", "p"));
    await stage().settles(["n1/a 10.0.1.1", "n2/a 10.0.1.2"]);
    await stage().apply(policy("b", "p", "eth2"));
    await stage().settles(["n1/a 10.0.1.1", "n1/b 10.0.1.3", "n2/a 10.0.1.2", "n2/b 10.0.1.4"]);
    await stage().kubectl("delete nncp a");
    await stage().apply(policy("a", "q"));
    // The node that is rid of its old address first comes first on the other pool.
    const addresses = async () => (await stage().lines()).map((line) => line.replace(/^\S+ /, "")).sort();
    await stage().until(addresses, ["10.0.1.3", "10.0.1.4", "10.0.2.1", "10.0.2.2"]);
    const given = await stage().lines();
    expect(given.map((line) => line.replace(/ 10\.0\.2\.\d$/, ""))).toEqual([
      ...["n1/a", "n1/b 10.0.1.3", "n2/a", "n2/b 10.0.1.4"],
    ]);
    await stage().settles(given);
    await stage().join("n3");
    await stage().settles([...given, "n3/a 10.0.2.3", "n3/b 10.0.1.1"]);
  });

  it("a policy that is renamed: its addresses come back, also where the pool has no room for both", async () => {
    await stage().apply(pool("p", 1, 3), policy("a", "p"));
    await stage().settles(["n1/a 10.0.1.1", "n2/a 10.0.1.2"]);
    await stage().kubectl("delete nncp a");
    await stage().apply(policy("b", "p"));
    await stage().serves(["n1/b", "n2/b"]);
    await stage().until(() => stage().message("b"), available);
    // As tools do that apply what is new, and then delete what is not there any more.
    await stage().apply(policy("c", "p"));
    await stage().kubectl("delete nncp b");
    await stage().serves(["n1/c", "n2/c"]);
    await stage().until(() => stage().message("c"), available);
  });

  it("a policy that is applied again, by either side, or replaced, stays parked and moves nobody; so it does with parking at admission", async () => {
    const both = ["n1/a 10.0.1.1", "n2/a 10.0.1.2"];
    const text = JSON.stringify(policy("a", "p"));
    // The policy ends with this role.
    await stage().kubectl("create clusterrole nodeippool-controller --verb=get --resource=nodes");
    const parked = () => stage().says("nncp a", "{.spec.nodeSelector}");
    await stage().apply(pool("p", 1, 9), policy("a", "p"));
    await stage().apply(policy("a", "p"));
    for (const how of ["apply", "apply --server-side --force-conflicts", "replace", "parking", "apply", "replace"]) {
      if (how === "parking") await stage().kubectl(`apply -f ${join(root, "deploy/parking.yaml")}`);
      else await stage().insist(`${how} -f -`, text);
      await stage().until(parked, '{"nmstate.io/ippool-template":"parked","role":"worker"}');
      await stage().settles(both);
      await stage().until(() => stage().message("a"), available);
      await stage().until(() => stage().kubectl("get nnce -o name -l nmstate.io/policy=a"), "");
    }
    await stage().kubectl(`delete -f ${join(root, "deploy/parking.yaml")}`);
  });

  it("pools that overlap one in use, or lie around its cidr, give nothing and say so until that one goes; all others give", async () => {
    await stage().apply(pool("p", 1, 4), policy("a", "p"));
    const both = ["n1/a 10.0.1.1", "n2/a 10.0.1.2"];
    await stage().settles(both);
    const around = { cidr: "10.0.0.0/20", start: "10.0.9.1", end: "10.0.9.4" };
    await stage().apply(pool("q", 1, 9), { ...pool("around", 1, 1), spec: { range: around } }, pool("other", 20, 4));
    for (const bad of ["q", "around"]) await stage().until(() => stage().reason(bad), "OverlappingIPPool");
    await stage().apply(policy("b", "around", "eth2"), policy("c", "other", "eth3"));
    await stage().settles([...both, "n1/c 10.0.20.1", "n2/c 10.0.20.2"]);
    expect(await stage().reason("p")).toBe("ReconciledPool");
    await stage().kubectl("delete nodeippool q");
    await stage().kubectl("delete nncp a");
    await stage().kubectl("delete nodeippool p");
    await stage().settles(["n1/b 10.0.9.1", "n2/b 10.0.9.2", "n1/c 10.0.20.1", "n2/c 10.0.20.2"]);
  });

  it("a pool that is deleted while it is in use takes no address from anybody", async () => {
    await stage().apply(pool("p", 1, 4), policy("a", "p"));
    const both = ["n1/a 10.0.1.1", "n2/a 10.0.1.2"];
    await stage().settles(both);
    await stage().kubectl("delete nodeippool p --wait=false");
    await stage().stays(both, afterHold);
    await stage().settles(both);
    await stage().kubectl("delete nncp a");
    await stage().settles([]);
  });

  it("a node that fails stops the others; once its policy is mended they go on", async () => {
    // Whichever is the first.
    for (const machine of stage().machines.values()) machine.failure = "no carrier";
    await stage().apply(pool("p", 1, 4), policy("a", "p", "eth1", { maxUnavailable: 1 }));
    const failed = async () => /^1\/2 nodes failed to configure \(n[12]\)\. /.test(`${await stage().message("a")}`);
    await stage().until(failed, true);
    const both = ["n1/a 10.0.1.1", "n2/a 10.0.1.2"];
    await stage().stays(both, 2_000);
    const started = await stage().kubectl("get nncp -o name -l nodeippool.nmstate.io/policy=a");
    expect(started.trim().split("\n")).toHaveLength(1);
    for (const machine of stage().machines.values()) machine.failure = undefined;
    await stage().kubectl(`delete ${started.trim()}`);
    await stage().settles(both);
    await stage().until(() => stage().message("a"), available);
  });
});
