import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { asBag, type Bag } from "../../schema/objects.ts";
import { installNmstate, installNodeIPPool } from "../support/cluster-kinds.ts";
import { startFaultProxy } from "../support/cluster-proxy.ts";
import { policy, pool } from "../support/controller-objects.ts";
import { type Mutate, startWebhook } from "../support/hostile-webhook.ts";
import { stageOfFile } from "../support/stage-of-file.ts";

// Programs that undo what the controller writes, each time.

const { cluster, stage } = stageOfFile(async (started) => {
  await installNmstate(started);
  await installNodeIPPool(started);
});

const rules = [
  { group: "nmstate.io", resources: ["nodenetworkconfigurationpolicies", "nodeippools", "nodeippools/status"] },
];
let stamp = 0;

/** Each write of the controller is a change, as with the webhook of kubernetes-nmstate. */
function stamped(object: Bag, metadata: Bag = {}): Bag {
  const { annotations, ...others } = asBag(object.metadata) ?? {};
  const marks = { ...asBag(annotations), stamp: `${++stamp}` };
  return { ...object, metadata: { ...others, ...metadata, annotations: marks } };
}

/** By the object that it rewrites, and what the Event says of it. */
const hostile: Readonly<Record<string, { readonly mutate: Mutate; readonly about: string; readonly says: RegExp }>> = {
  "a--n1": {
    mutate: (object) => {
      const labels = { ...asBag(asBag(object.metadata)?.labels), "nodeippool.nmstate.io/node": "x" };
      return stamped(object, { labels });
    },
    about: "a",
    says: /changes metadata\.labels\[nodeippool\.nmstate\.io\/node\] of nodenetworkconfigurationpolicies a--n1 back.*webhook/,
  },
  "b--n1": {
    mutate: (object) =>
      stamped({ ...object, spec: { ...asBag(object.spec), nodeSelector: { "kubernetes.io/hostname": "x" } } }),
    about: "b",
    says: /changes spec\.nodeSelector\[kubernetes\.io\/hostname\] of nodenetworkconfigurationpolicies b--n1 back/,
  },
  p: {
    mutate: (object) => stamped(object, { finalizers: [] }),
    about: "p",
    says: /changes metadata\.finalizers of nodeippools p back/,
  },
  q: {
    mutate: (object) => {
      const condition = { type: "Available", status: "Unknown", reason: "Other", message: `${++stamp}` };
      const conditions = [{ ...condition, lastTransitionTime: "2026-01-01T00:00:00Z" }];
      return object.status === undefined ? object : { ...object, status: { ...asBag(object.status), conditions } };
    },
    about: "q",
    says: /changes status\.conditions of nodeippools q \(status\) back/,
  },
};

it("what other programs undo is written again with growing pauses, one Event says so, and all others are served", async () => {
  const undo: Mutate = (object) => hostile[`${asBag(object.metadata)?.name}`]?.mutate(object) ?? object;
  const stopWebhook = await startWebhook(cluster(), rules, undo);
  onTestFinished(stopWebhook);
  const proxy = await startFaultProxy(cluster());
  onTestFinished(() => proxy.close());
  stage().controller({ kubeconfig: proxy.kubeconfig });
  await stage().join("n1", "n2");
  const ending = new AbortController();
  const deleting = (async () => {
    while (!ending.signal.aborted) {
      await cluster().kubectl(["delete", "nncp", "c--n1", "--ignore-not-found", "--wait=false"]);
      await sleep(500);
    }
  })();
  const [began, first] = [Date.now(), proxy.requests.length];
  await stage().apply(pool("p", 1, 9), pool("q", 2, 9), pool("r", 3, 9), pool("s", 4, 9));
  await stage().apply(policy("a", "p"), policy("b", "q", "eth2"), policy("c", "r", "eth3"), policy("d", "s", "eth4"));
  const available = '{.status.conditions[?(@.type=="Available")].status}';
  await stage().until(() => stage().says("nncp d", available), "True", 10_000);
  await sleep(Math.max(0, 20_000 - (Date.now() - began)));
  ending.abort();
  await deleting;

  const isWrite = (one: string) => !/^(GET|WATCH) |\/(configmaps|events)\b/.test(one);
  const writes = proxy.requests
    .slice(first)
    .filter(isWrite)
    .map((one) => one.replace(/\?.*/, ""));
  const often = (end: string) => writes.filter((one) => one.endsWith(end)).length;
  for (const end of ["/a--n1", "/b--n1", "/nodeippools/p", "/nodeippools/q/status"]) {
    expect([end, often(end) >= 5 && often(end) <= 10]).toEqual([end, true]);
  }
  // Seven policies of nodes, of which one is made again and again.
  expect(often("/nodenetworkconfigurationpolicies")).toBeLessThanOrEqual(8 + 9);
  const query = "get events -n default --field-selector reason=ChangedBack -o jsonpath=";
  const events = (
    await stage().kubectl(`${query}{range.items[*]}{.involvedObject.name}{":"}{.message}{"\\n"}{end}`)
  ).trim();
  const by = Map.groupBy(events.split("\n"), (line) => line.replace(/:.*/, ""));
  for (const { about, says } of Object.values(hostile)) expect(by.get(about)).toEqual([expect.stringMatching(says)]);
  expect(by.get("c")).toEqual([expect.stringMatching(/deletes nodenetworkconfigurationpolicies c--n1/)]);
  expect([...by.keys()].sort()).toEqual(["a", "b", "c", "p", "q"]);
  await stopWebhook();
});
