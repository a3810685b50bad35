import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { expect, it, onTestFinished, vi } from "vitest";
import { type Clock, realClock } from "../../kube/clock.ts";
import { findAccess, type KubeObject, objectsOf, type Stored } from "../../kube/index.ts";
import type { Resource } from "../../kube/resource.ts";
import { transport } from "../../kube/transport.ts";
import { watch } from "../../kube/watch.ts";
import { clusterOfFile } from "../support/cluster/of-file.ts";
import { type Fault, type FaultProxy, startFaultProxy } from "../support/cluster/proxy.ts";
import { recorder } from "../support/cluster/watch-server.ts";

interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

const configMaps = { apiVersion: "v1", plural: "configmaps" };
const namespaces = { apiVersion: "v1", plural: "namespaces" };

let proxy: FaultProxy;
const cluster = clusterOfFile(async (started) => {
  proxy = await startFaultProxy(started);
});

/** Where a minute takes three seconds. */
const hurried: Clock = {
  now: () => 20 * realClock.now(),
  sleep: (ms, signal) => realClock.sleep(ms / 20, signal),
};

/** Watches the objects of a namespace, through the proxy; `log` is what the sink is told. */
function watched(namespace: string, { resource = configMaps as Resource, clock = realClock } = {}) {
  const api = transport(findAccess({ kubeconfig: proxy.kubeconfig }), 30_000);
  const stop = new AbortController();
  const log: string[] = [];
  const project = (object: Stored<ConfigMap>) => object.data?.n ?? object.kind;
  const ended = watch(api, { resource, namespace, project } as never, recorder(log), {
    signal: stop.signal,
    clock,
    random: Math.random,
  });
  onTestFinished(async () => {
    stop.abort();
    await ended;
    api.close();
  });
  /** Waits until the sink is told these, one behind the other, after what has been waited for before. */
  let from = 0;
  const until = async (...lines: string[]) => {
    const text = `${lines.join("\n")}\n`;
    const rest = () => log.slice(from).map((line) => `${line}\n`);
    await vi.waitFor(() => expect(rest().join("")).toContain(text), { timeout: 20_000, interval: 20 });
    const start = rest().findIndex((_, n) => rest().slice(n).join("").startsWith(text));
    from += start + lines.length;
  };
  return { log, until };
}

const kube = () => {
  const objects = objectsOf(findAccess({ kubeconfig: cluster().kubeconfig }));
  onTestFinished(() => objects.close());
  return objects;
};
const configMap = (namespace: string, name: string, n: string): ConfigMap => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace },
  data: { n },
});

let count = 0;
async function freshNamespace(): Promise<string> {
  const name = `watched-${++count}`;
  await kube().create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
  return name;
}

it("sees what is there, and what is created, changed and deleted", async () => {
  const namespace = await freshNamespace();
  const api = kube();
  const first = await api.create(configMaps, configMap(namespace, "a", "1"));
  const { until } = watched(namespace);
  await until("listing", `replace ${namespace}/a=1`, "synced");
  const second = await api.put(configMaps, { ...first, data: { n: "2" } });
  await api.create(configMaps, configMap(namespace, "b", "1"));
  await api.delete(configMaps, second);
  await until(`set ${namespace}/a=2`, `set ${namespace}/b=1`, `delete ${namespace}/a`);
});

it("sees nothing of what its selectors leave out", async () => {
  const namespace = await freshNamespace();
  const api = transport(findAccess({ kubeconfig: cluster().kubeconfig }), 30_000);
  const stop = new AbortController();
  const log: string[] = [];
  const selection = {
    resource: configMaps,
    namespace,
    labels: "keep=yes",
    project: ({ metadata }: Stored) => metadata.uid,
  };
  const ended = watch(api, selection, recorder(log), { signal: stop.signal, clock: realClock, random: Math.random });
  const { metadata, ...rest } = configMap(namespace, "a", "1");
  await kube().create(configMaps, { metadata: { ...metadata, name: "other" }, ...rest });
  await vi.waitFor(() => expect(log.at(-1)).toBe("synced"));
  const made = await kube().create(configMaps, { metadata: { ...metadata, labels: { keep: "yes" } }, ...rest });
  await vi.waitFor(() => expect(log.at(-1)).toBe(`set ${namespace}/a=${made.metadata.uid}`));
  expect(log).toHaveLength(4);
  stop.abort();
  await ended;
  api.close();
});

it("waits for a kind that is installed later, and again when it is gone", async () => {
  const resource = { apiVersion: "test.example/v1", plural: "things" };
  const { until } = watched("default", { resource, clock: hurried });
  await until("listing", "absent");
  const definition = JSON.stringify({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "things.test.example" },
    spec: {
      group: "test.example",
      scope: "Namespaced",
      names: { kind: "Thing", plural: "things" },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
    },
  });
  await cluster().kubectl(["create", "-f", "-"], definition);
  await until("replace", "synced");
  await kube().create(resource, {
    apiVersion: "test.example/v1",
    kind: "Thing",
    metadata: { name: "t", namespace: "default" },
  });
  await until("set default/t=Thing");
  await cluster().kubectl(["delete", "crd", "things.test.example"]);
  await until("absent");
});

it("notices a frozen stream, and misses nothing", async () => {
  const namespace = await freshNamespace();
  const frozen = proxy.plant({ verb: "WATCH", path: /resourceVersion=/, times: 1 }, { freeze: 0 });
  const { until, log } = watched(namespace, { clock: hurried });
  await until("replace", "synced");
  await vi.waitFor(() => expect(frozen.count).toBe(1));
  await kube().create(configMaps, configMap(namespace, "a", "1"));
  await until("synced", `set ${namespace}/a=1`);
  expect(log.find((line) => line.startsWith("failing"))).toMatch(/^failing: nothing came for (3[5-9]|4\d|50) seconds$/);
  expect(log.filter((line) => line.startsWith("replace"))).toHaveLength(1);
});

/** A ConfigMap as etcd is told to keep it. */
function putOf({ metadata, ...rest }: ConfigMap): object {
  const base64 = (text: string) => Buffer.from(text).toString("base64");
  const object = { ...rest, metadata: { ...metadata, uid: randomUUID(), creationTimestamp: "2026-01-01T00:00:00Z" } };
  const key = `/registry/configmaps/${metadata.namespace}/${metadata.name}`;
  return { requestPut: { key: base64(key), value: base64(JSON.stringify(object)) } };
}

it("lists 5,000 objects of 15 kB and keeps of each what it is told to, and no more", async () => {
  const namespace = await freshNamespace();
  const puts = Array.from({ length: 5_000 }, (_, n) =>
    putOf(configMap(namespace, `c${n}`, `${n} `.repeat(3_000).slice(0, 15_000))),
  );
  // Through the API server it would take ten times as long.
  for (let n = 0; n < puts.length; n += 50) {
    const body = JSON.stringify({ success: puts.slice(n, n + 50) });
    expect((await fetch(`${cluster().etcd}/v3/kv/txn`, { method: "POST", body })).status).toBe(200);
  }
  // Objects of one transaction have one revision, and the server may list when it knows a part of them. This one comes after all.
  await kube().create(configMaps, configMap(namespace, "last", "1"));
  const run = promisify(execFile);
  const script = join(import.meta.dirname, "../support/cluster/watch-memory.ts");
  const grown = async (keep: string) => {
    const { stdout } = await run(process.execPath, [script, cluster().kubeconfig, keep]);
    const printed = JSON.parse(stdout) as { count: number; grown: number };
    expect(printed.count).toBeGreaterThan(5_000);
    return printed.grown;
  };
  const [names, all] = [await grown("names"), await grown("all")];
  expect(names).toBeLessThan(50);
  expect(all).toBeGreaterThan(75);
});

it.each([
  ["a server that streams lists", []],
  ["a server that does not", ["--feature-gates=WatchList=false"]],
])("gets over the end of the server, and its return as %s", async (_, flags) => {
  const namespace = await freshNamespace();
  const kept = await kube().create(configMaps, configMap(namespace, "kept", "1"));
  const gone = await kube().create(configMaps, configMap(namespace, "gone", "1"));
  const { until, log } = watched(namespace);
  await until("synced");
  await cluster().killApiServer();
  await vi.waitFor(() => expect(log.at(-1)).toMatch(/^failing/));
  await cluster().startApiServer(flags);
  await kube().put(configMaps, { ...kept, data: { n: "2" } });
  await kube().delete(configMaps, gone);
  await kube().create(configMaps, configMap(namespace, "new", "1"));
  await until(`set ${namespace}/kept=2`, `delete ${namespace}/gone`, `set ${namespace}/new=1`);

  const late = watched(namespace);
  await late.until("listing", `replace ${namespace}/kept=2 ${namespace}/new=1`, "synced");
  const asked = proxy.requests.filter((request) => request.includes(`/${namespace}/`) && request.includes("limit=500"));
  expect(asked).toHaveLength(flags.length);
});

it.each<[string, Fault]>([
  ["never end", { swallow: "BOOKMARK" }],
  ["freeze", { freeze: 0 }],
  ["end in 504", { status: 504, reason: "Timeout" }],
])("through a proxy whose streamed lists %s, lists in pages, and sees every change", async (_, fault) => {
  const namespace = await freshNamespace();
  const there = await kube().create(configMaps, configMap(namespace, "there", "1"));
  const planted = proxy.plant({ path: /sendInitialEvents=true/ }, fault);
  onTestFinished(() => planted.stop());
  const { until, log } = watched(namespace, { clock: hurried });
  // What is there changes all the time, so that a stream is never silent.
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const changing = (async () => {
    for (let n = 2; !stop.signal.aborted && log.length < 3; n++) {
      await kube().patch(configMaps, there.metadata.name, namespace, { data: { n: `${n}` } }, { type: "merge" });
      await sleep(100);
    }
  })();
  await vi.waitFor(() => expect(log).toContain("synced"), { timeout: 10_000 });
  await changing;
  expect(planted.count).toBe(1);
  expect(log.filter((line) => line.startsWith("failing"))).toEqual([]);
  await kube().create(configMaps, configMap(namespace, "late", "1"));
  await until(`set ${namespace}/late=1`);
});
