import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { installAll } from "../support/cluster/kinds.ts";
import { clusterOfFile } from "../support/cluster/of-file.ts";
import { type Fault, type Planted, startFaultProxy } from "../support/cluster/proxy.ts";
import { Stage } from "../support/controller/stage.ts";
import { afterHold } from "../support/controller/timing.ts";
import { policy, pool } from "../support/objects/controller-objects.ts";

// What may happen to the requests of a controller. The second test waits most of the time, so both run at once.

const policies = "nodenetworkconfigurationpolicies";

/** All that the controller asks of the server. */
const requests: readonly (readonly [verb: string, path: RegExp])[] = [
  ["GET", /configmaps/],
  ["POST", /configmaps/],
  ["PUT", /configmaps/],
  ["GET", /\/nodes\//],
  ["GET", new RegExp(`/${policies}/`)],
  ["POST", new RegExp(`/${policies}$`)],
  ["PATCH", new RegExp(`/${policies}/[^/?]+$`)],
  ["PATCH", new RegExp(`/${policies}/b\\d+[?]`)],
  ["PATCH", new RegExp(`/${policies}/[^/]+/status`)],
  ["DELETE", new RegExp(`/${policies}/`)],
  ["PATCH", /nodeippools/],
  ["POST", /events/],
  ["WATCH", /\/nodes[?]/],
  ["WATCH", /nodeippools/],
  ["WATCH", new RegExp(policies)],
  ["WATCH", /nodenetworkconfigurationenactments/],
  ["WATCH", /nodenetworkstates/],
];

const changing = ["POST", "PUT", "PATCH", "DELETE"];
const all = ["GET", "WATCH", ...changing];

/** What happens to them, and to which. A stream that ends without its last words is cut by itself; one that freezes has a test of its own. */
const faults: readonly (readonly [name: string, fault: Fault, verbs: readonly string[]])[] = [
  ["late", { delay: 300 }, all],
  ["cut before the server has it", { cut: "request" }, all],
  ["cut after the server has done it", { cut: "reply" }, ["GET", ...changing]],
  ["409", { status: 409, reason: "Conflict" }, changing],
  ["410", { status: 410, reason: "Expired" }, ["WATCH"]],
  ["429", { status: 429, reason: "TooManyRequests", retryAfter: 1 }, all],
  ["500", { status: 500, reason: "InternalError" }, all],
  ["503", { status: 503, reason: "ServiceUnavailable" }, all],
  ["504", { status: 504, reason: "Timeout" }, all],
  ["frozen", { freeze: 0 }, ["GET", ...changing]],
];

describe.concurrent("requests of a controller", () => {
  const [first, second] = [clusterOfFile(prepare), clusterOfFile(prepare)];
  async function prepare(cluster: Parameters<typeof installAll>[0]): Promise<void> {
    await installAll(cluster);
    await cluster.startControllers("garbage-collector-controller");
  }

  it("each of them goes wrong in each way: all comes to what it should be", async () => {
    const proxy = await startFaultProxy(first());
    const stage = await Stage.open(first());
    stage.controller({ kubeconfig: proxy.kubeconfig });
    const wide = { maxUnavailable: "100%" };
    await stage.join("n1", "n2", "x0");
    await stage.apply(pool("p", 1, 200), policy("a", "p", "eth1", wide));
    await stage.apply(pool("q0", 100, 9), policy("b0", "q0", "eth2", wide));
    const held = (i: number) => ["n1", "n2", `x${i}`].flatMap((name) => [`${name}/a`, `${name}/b${i}`]);
    await stage.serves(held(0));
    for (const [nth, [name, fault, verbs]] of faults.entries()) {
      const i = nth + 1;
      const meant = requests.filter(([verb]) => verbs.includes(verb));
      const planted = meant.map(([verb, path]) => proxy.plant({ verb, path, times: 1 }, fault));
      if (verbs.includes("WATCH")) proxy.cutAll();
      await stage.kubectl(`delete nncp b${nth}`);
      const mtu = { op: "add", path: "/spec/desiredState/interfaces/0/mtu", value: 1500 + i };
      await stage.insist(`patch nncp a --type=json -p ${JSON.stringify([mtu])}`);
      await stage.join(`x${i}`);
      await stage.apply(pool(`q${i}`, 100 + i, 9), policy(`b${i}`, `q${i}`, "eth2", wide));
      await stage.until(async () => (await stage.lines()).filter((line) => line.startsWith(`x${i}/`)).length, 2);
      await stage.leave(`x${nth}`);
      await stage.serves(held(i)).catch((error) => {
        throw new Error(`${name}: ${error.message}`);
      });
      const missed = meant.filter((_, n) => (planted[n] as Planted).count === 0);
      expect(missed, name).toEqual([]);
      for (const one of planted) one.stop();
    }
    await stage.close();
    await proxy.close();
  });

  it("one controller stands still for a minute and the watches of the other freeze: a new node has its address within a minute", async () => {
    const proxy = await startFaultProxy(second());
    const stage = await Stage.open(second());
    const still = stage.controllerProcess();
    await stage.join("n1", "n2");
    await stage.apply(pool("p", 1, 3), policy("a", "p"));
    await stage.settles(["n1/a 10.0.1.1", "n2/a 10.0.1.2"]);
    still.signal("SIGSTOP");
    const stopped = Date.now();
    const freeze = 3_000;
    const frozen = proxy.plant({ verb: "WATCH" }, { freeze });
    stage.controller({ kubeconfig: proxy.kubeconfig });
    await stage.until(() => frozen.count, 10);
    await sleep(freeze);
    frozen.stop();
    const begin = Date.now();
    await stage.join("n3");
    const three = ["n1/a 10.0.1.1", "n2/a 10.0.1.2", "n3/a 10.0.1.3"];
    await stage.until(() => stage.lines(), three, 60_000);
    expect(Date.now() - begin).toBeLessThan(60_000);
    await stage.settles(three);
    await stage.leave("n1");
    await stage.join("n4");
    const after = ["n2/a 10.0.1.2", "n3/a 10.0.1.3", "n4/a 10.0.1.1"];
    await stage.settles(after);
    await stage.join("n5");
    await sleep(stopped + 60_000 - Date.now());
    still.signal("SIGCONT");
    await stage.stays(after, afterHold);
    await stage.settles(after);
    await stage.close();
    await proxy.close();
  });
});
