import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { basename, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import {
  findAccess,
  type KubeObject,
  type Objects,
  type ObjectsOptions,
  objectsOf,
  podAccess,
  refusalOf,
  type Stored,
} from "../../kube/index.ts";
import { replay } from "../support/cluster/history.ts";
import { clusterOfFile } from "../support/cluster/of-file.ts";
import { type Fault, type FaultProxy, startFaultProxy, type Which } from "../support/cluster/proxy.ts";

interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

const configMaps = { apiVersion: "v1", plural: "configmaps" };
const namespaces = { apiVersion: "v1", plural: "namespaces" };
const pools = { apiVersion: "nmstate.io/v1", plural: "nodeippools" };
const configMap = (name: string, data: Record<string, string> = {}, namespace = "default"): ConfigMap => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace },
  data,
});

let proxy: FaultProxy;
const cluster = clusterOfFile(async (started) => {
  proxy = await startFaultProxy(started);
});

let count = 0;
const fresh = () => `c${++count}`;
const open: Objects[] = [];
afterEach(() => {
  for (const one of open.splice(0)) one.close();
});

function objects(kubeconfig: string, options: ObjectsOptions = {}): Objects {
  const made = objectsOf(findAccess({ kubeconfig }), { budget: 5_000, ...options });
  open.push(made);
  return made;
}
const direct = (options?: ObjectsOptions) => objects(cluster().kubeconfig, options);
const proxied = (options?: ObjectsOptions) => objects(proxy.kubeconfig, options);

/** A kubeconfig of the cluster with another user, or another cluster entry. */
function variant(user: object, more: object = {}): string {
  const ca = { "certificate-authority": cluster().certificates.authority.certificate };
  const path = join(cluster().folder, `kubeconfig-${fresh()}`);
  const config = {
    clusters: [{ name: "c", cluster: { server: cluster().server, ...ca, ...more } }],
    users: [{ name: "u", user }],
    contexts: [{ name: "x", context: { cluster: "c", user: "u", namespace: "default" } }],
    "current-context": "x",
  };
  writeFileSync(path, JSON.stringify(config));
  return path;
}

const code = (promise: Promise<unknown>) =>
  promise.then(
    () => "done",
    (error) => console.log(error.message) ?? [error.code, refusalOf(error)?.reason].filter((word) => word).join(" "),
  );

describe("objects", () => {
  it("are not changed by a dry run, which is refused as the write would be", async () => {
    const kube = direct();
    const name = fresh();
    await kube.dryRun(configMaps, configMap(name, { a: "1" }));
    expect(await kube.get(configMaps, name, "default")).toBeUndefined();
    const made = await kube.create(configMaps, configMap(name, { a: "1" }));
    expect(await code(kube.dryRun(configMaps, configMap(name, { a: "1" })))).toBe("conflict AlreadyExists");
    await kube.dryRun(configMaps, { ...made, data: { a: "2" } } as never);
    expect(await kube.get<ConfigMap>(configMaps, name, "default")).toEqual(made);
    const long = { ...made, data: { a: "x".repeat(2 ** 21) } };
    expect(await code(kube.dryRun(configMaps, long as never))).toMatch(/^invalid/);
  });

  it("are made, read, replaced, listed and deleted", async () => {
    const kube = direct();
    const name = fresh();
    expect(await kube.get(configMaps, name, "default")).toBeUndefined();
    const made = await kube.create(configMaps, configMap(name, { a: "1" }));
    expect(await kube.get<ConfigMap>(configMaps, name, "default")).toEqual(made);
    const changed = await kube.put(configMaps, { ...made, data: { a: "2" } });
    expect(changed.metadata.resourceVersion).not.toBe(made.metadata.resourceVersion);
    expect((await kube.put(configMaps, changed)).metadata.resourceVersion).toBe(changed.metadata.resourceVersion);
    expect((await kube.list<ConfigMap>(configMaps, { namespace: "default" })).map(({ data }) => data)).toContainEqual({
      a: "2",
    });
    expect(await kube.delete(configMaps, changed)).toBe(true);
    expect(await kube.delete(configMaps, changed)).toBe(false);
  });

  it("conflict: a stale or deleted version, a name that is taken, another object of the name", async () => {
    const kube = direct();
    const first = await kube.create(configMaps, configMap(fresh()));
    expect(await code(kube.create(configMaps, configMap(first.metadata.name)))).toBe("conflict AlreadyExists");
    const second = await kube.put(configMaps, { ...first, data: { a: "2" } });
    expect(await code(kube.put(configMaps, { ...first, data: { a: "3" } }))).toBe("conflict Conflict");
    expect(await code(kube.delete(configMaps, first))).toBe("conflict Conflict");
    await kube.delete(configMaps, second);
    expect(await code(kube.put(configMaps, second))).toBe("conflict NotFound");
    const again = await kube.create(configMaps, configMap(first.metadata.name));
    const imposter = { ...again, metadata: { ...again.metadata, uid: first.metadata.uid } };
    expect(await code(kube.delete(configMaps, imposter))).toBe("conflict Conflict");
    expect(await code(kube.put(configMaps, imposter))).toBe("conflict Conflict");
  });

  it("invalid: no version, no such namespace or kind, what the server does not take", async () => {
    const kube = direct();
    const made = await kube.create(configMaps, configMap(fresh()));
    const bare = { ...made, metadata: { ...made.metadata, resourceVersion: "" } } as Stored<ConfigMap>;
    expect(await code(kube.put(configMaps, bare))).toBe("invalid");
    expect(await code(kube.delete(configMaps, bare))).toBe("invalid");
    expect(await code(kube.create(configMaps, configMap("a", {}, "nowhere")))).toBe("invalid NotFound");
    expect(await code(kube.get(pools, "a"))).toBe("invalid");
    expect(await code(kube.create(configMaps, configMap("NOT A NAME")))).toBe("invalid Invalid");
    expect(await code(kube.put(configMaps, { ...made, data: { a: "x".repeat(2 ** 21) } }))).toMatch(/^invalid/);
    for (const name of ["../secrets", "a/b", "..", "", "a%2Fb"])
      expect(await code(kube.get(configMaps, name, "default")), name).toBe("invalid");
  });

  it("are listed page by page, by label", async () => {
    const kube = direct({ page: 2 });
    const names = [fresh(), fresh(), fresh(), fresh(), fresh()];
    for (const name of names) {
      const { metadata, ...rest } = configMap(name);
      await kube.create(configMaps, { ...rest, metadata: { ...metadata, labels: { list: "paged" } } });
    }
    const found = await kube.list(configMaps, { labels: "list=paged" });
    expect(found.map(({ metadata }) => metadata.name)).toEqual(names);
  });

  it("are applied by owner: another owner's field is a conflict, unless forced", async () => {
    const kube = direct();
    const name = fresh();
    await kube.apply(configMaps, configMap(name, { a: "1" }), { manager: "one" });
    expect(await code(kube.apply(configMaps, configMap(name, { a: "2" }), { manager: "two" }))).toBe(
      "conflict Conflict",
    );
    const both = await kube.apply(configMaps, configMap(name, { b: "2" }), { manager: "two" });
    expect(both.data).toEqual({ a: "1", b: "2" });
    const forced = await kube.apply(configMaps, configMap(name, { a: "2" }), { manager: "two", force: true });
    expect(forced.data).toEqual({ a: "2" });
  });

  it("are patched: by a merge, which may name the version it is about", async () => {
    const kube = direct();
    const made = await kube.create(configMaps, configMap(fresh(), { a: "1", b: "2" }));
    const { name, resourceVersion } = made.metadata;
    const merge = (body: object) => kube.patch<ConfigMap>(configMaps, name, "default", body, { type: "merge" });
    const merged = await merge({ metadata: { resourceVersion }, data: { a: null, c: "3" } });
    expect(merged.data).toEqual({ b: "2", c: "3" });
    expect(await code(merge({ metadata: { resourceVersion }, data: { c: "4" } }))).toBe("conflict Conflict");
    const another = { uid: "00000000-0000-0000-0000-000000000000", resourceVersion };
    expect(await code(merge({ metadata: another, data: { c: "4" } }))).toBe("conflict Conflict");
    expect((await merge({ data: { c: "5" } })).data).toEqual({ b: "2", c: "5" });
    expect(await code(merge({ data: { c: 6 } }))).toMatch(/^invalid/);
    expect(await code(merge({ metadata: { labels: { "a b": "" } } }))).toBe("invalid Invalid");
    const gone = kube.patch(configMaps, fresh(), "default", { data: { c: "6" } }, { type: "merge" });
    expect(await code(gone)).toBe("conflict NotFound");
    expect(await code(kube.patch(pools, name, undefined, {}, { type: "merge" }))).toBe("invalid");
  });

  it("are patched: by operations, all of them or none", async () => {
    const kube = direct();
    const made = await kube.create(configMaps, configMap(fresh(), { a: "1" }));
    const { name, resourceVersion } = made.metadata;
    const json = (...body: object[]) => kube.patch<ConfigMap>(configMaps, name, "default", body, { type: "json" });
    const test = { op: "test", path: "/metadata/resourceVersion", value: resourceVersion };
    const add = { op: "add", path: "/data/b", value: "2" };
    expect((await json(test, add)).data).toEqual({ a: "1", b: "2" });
    expect(await code(json({ ...add, value: "3" }, test))).toBe("conflict Invalid");
    expect(await code(json({ op: "remove", path: "/data/none" }))).toBe("conflict Invalid");
    expect(await code(json({ ...add, path: "/metadata/annotations/a" }))).toBe("conflict Invalid");
    expect((await kube.get<ConfigMap>(configMaps, name, "default"))?.data).toEqual({ a: "1", b: "2" });
    expect(await code(json({ ...add, value: 7 }))).toBe("invalid Invalid");
    expect(await code(json({ op: "add", path: "/metadata/labels", value: { "a b": "" } }))).toBe("invalid Invalid");
    const gone = kube.patch(configMaps, fresh(), "default", [test], { type: "json" });
    expect(await code(gone)).toBe("conflict NotFound");
  });

  it("have a status that is patched and applied apart", async () => {
    const kube = direct();
    const claims = { apiVersion: "v1", plural: "persistentvolumeclaims" };
    const about = {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name: fresh(), namespace: "default" },
    };
    const requests = { storage: "1Gi" };
    const spec = { accessModes: ["ReadWriteOnce"], resources: { requests }, storageClassName: "none" };
    type Claim = KubeObject & { readonly spec: object; readonly status: { readonly capacity?: object } };
    await kube.create(claims, { ...about, spec, status: {} } as Claim);
    const { name } = about.metadata;
    const of = (storage: string) => ({ spec: { volumeName: "no" }, status: { capacity: { storage } } });
    const status = { subresource: "status" } as const;
    const patched = await kube.patch<Claim>(claims, name, "default", of("1Gi"), { type: "merge", ...status });
    expect([patched.status.capacity, patched.spec]).toEqual([
      { storage: "1Gi" },
      expect.not.objectContaining({ volumeName: "no" }),
    ]);
    const owner = { manager: "one", force: true, ...status };
    const applied = await kube.apply(claims, { ...about, status: { capacity: { storage: "2Gi" } } } as Claim, owner);
    expect(applied.status.capacity).toEqual({ storage: "2Gi" });
    const other = { ...about, metadata: { ...about.metadata, name: fresh() }, status: {} } as Claim;
    expect(await code(kube.apply(claims, other, owner))).toBe("conflict NotFound");
    expect(await code(kube.patch(claims, other.metadata.name, "default", {}, { type: "merge", ...status }))).toBe(
      "conflict NotFound",
    );
  });

  it("have all their history: nothing is compacted", async () => {
    const kube = direct();
    const name = fresh();
    let stored = await kube.create(configMaps, configMap(name, { n: "0" }));
    for (const n of ["1", "2"]) stored = await kube.put(configMaps, { ...stored, data: { n } });
    await kube.delete(configMaps, stored);
    const seen: unknown[] = [];
    const revisions = await replay(cluster(), "configmaps", ({ key, object, objects }) => {
      expect(objects.get(key)).toBe(object);
      if (key.endsWith(`/default/${name}`)) seen.push((object as ConfigMap | undefined)?.data?.n);
    });
    expect(seen).toEqual(["0", "1", "2", undefined]);
    expect(await replay(cluster(), "configmaps", () => {})).toBeGreaterThanOrEqual(revisions);
    const fail = () => {
      throw new Error("seen");
    };
    await expect(replay(cluster(), "configmaps", fail)).rejects.toThrow("seen");
  });
});

describe("faults", () => {
  beforeEach(() => {
    const planted: { stop(): void }[] = [];
    plant = (which, fault) => {
      const one = proxy.plant({ path: /configmaps/, ...which }, fault);
      planted.push(one);
      return one;
    };
    return () => {
      for (const one of planted) one.stop();
    };
  });
  let plant: (which: Which, fault: Fault) => { readonly count: number };

  const read: Fault[] = [
    { cut: "request" },
    { cut: "reply" },
    { status: 429, reason: "TooManyRequests", retryAfter: 1 },
    { status: 500, reason: "InternalError" },
    { status: 503, body: "upstream connect error" },
    { status: 504, reason: "Timeout" },
    { status: 200, body: "<html>log in</html>" },
    { freeze: 0 },
    { delay: 200 },
  ];
  it.each(read)("a read gets over %j", async (fault) => {
    const made = await direct().create(configMaps, configMap(fresh()));
    const { name } = made.metadata;
    const one = plant({ verb: "GET", times: 2 }, fault);
    const timeout = "freeze" in fault ? 1_000 : 10_000;
    expect(await proxied({ timeout }).get(configMaps, name, "default")).toEqual(made);
    expect(one.count).toBe("delay" in fault ? 1 : 2);
  });

  it.each([...read.slice(0, 8), { delay: 1_000 }])("a read gives up: unavailable, %j", async (fault) => {
    plant({ verb: "GET" }, fault);
    const kube = proxied({ budget: 300, timeout: 300 });
    expect(await code(kube.get(configMaps, "a", "default"))).toMatch(/^unavailable/);
  });

  it("a read from something else that answers in JSON: invalid; from a server that hangs: it says so", async () => {
    plant({ verb: "GET", times: 1 }, { status: 200, body: "{}" });
    const list = proxied().list(configMaps, { namespace: "default" });
    await expect(list).rejects.toMatchObject({ code: "invalid", message: expect.stringContaining("no API server") });
    plant({ verb: "GET" }, { freeze: 0 });
    const kube = proxied({ budget: 100, timeout: 300 });
    await expect(kube.get(configMaps, "a", "default")).rejects.toThrow(/no answer within 0\.3 seconds/);
  });

  it("429 is waited for as long as it says, also by a write", async () => {
    const one = plant({ times: 1 }, { status: 429, reason: "TooManyRequests", retryAfter: 1 });
    const start = performance.now();
    await proxied().create(configMaps, configMap(fresh()));
    expect(performance.now() - start).toBeGreaterThan(1_000);
    expect(one.count).toBe(1);
    plant({}, { status: 429, retryAfter: 60 });
    const late = performance.now();
    expect(await code(proxied().create(configMaps, configMap(fresh())))).toBe("unavailable");
    expect(performance.now() - late).toBeLessThan(15_000);
  });

  it.each<Fault>([
    { cut: "reply" },
    { cut: "request" },
    { status: 500, reason: "InternalError" },
    { status: 504, reason: "Timeout" },
    { status: 200, body: "<html>log in</html>" },
    { freeze: 0 },
  ])("a write that may have happened is never repeated: unknown-outcome, %j", async (fault) => {
    const made = await direct().create(configMaps, configMap(fresh()));
    const name = fresh();
    const kube = proxied({ timeout: 5_000 });
    await kube.get(configMaps, "warm-up", "default");
    const one = plant({ path: /c\d+$|configmaps$/ }, fault);
    expect(await code(kube.put(configMaps, { ...made, data: { a: "2" } }))).toMatch(/^unknown-outcome/);
    expect(await code(kube.create(configMaps, configMap(name)))).toMatch(/^unknown-outcome/);
    expect(await code(kube.delete(configMaps, made))).toMatch(/^(unknown-outcome|conflict)/);
    const patched = kube.patch(configMaps, made.metadata.name, "default", { data: {} }, { type: "merge" });
    expect(await code(patched)).toMatch(/^(unknown-outcome|conflict)/);
    expect(one.count).toBe(4);
    const happened = "cut" in fault ? fault.cut === "reply" : "freeze" in fault;
    const now = await direct().get<ConfigMap>(configMaps, made.metadata.name, "default");
    expect([now?.data?.a, (await direct().get(configMaps, name, "default")) !== undefined]).toEqual(
      happened ? ["2", true] : [undefined, false],
    );
  });

  it.each([
    [{ status: 409, reason: "Conflict" }, "conflict Conflict"],
    [{ status: 403, reason: "Forbidden" }, "invalid Forbidden"],
    [{ status: 422, reason: "Invalid" }, "invalid Invalid"],
    [{ status: 302, body: "" }, "invalid"],
  ])("%j is final: %s", async (fault, expected) => {
    const one = plant({}, fault);
    expect(await code(proxied().create(configMaps, configMap(fresh())))).toBe(expected);
    expect(one.count).toBe(1);
  });

  it("a list whose next page is gone (410) starts again", async () => {
    const kube = proxied({ page: 1 });
    for (const name of [fresh(), fresh()]) await kube.create(configMaps, configMap(name));
    const one = plant({ path: /continue=/, times: 2 }, { status: 410, reason: "Expired" });
    const found = await kube.list(configMaps);
    expect(new Set(found.map(({ metadata }) => metadata.uid)).size).toBe(found.length);
    expect(found).toEqual(await direct().list(configMaps));
    expect(one.count).toBe(2);
  });

  it("keeps its connections: many requests, few sockets", async () => {
    const kube = proxied();
    const before = proxy.connections;
    for (let n = 0; n < 20; n++) await kube.get(configMaps, "a", "default");
    expect(proxy.connections - before).toBe(1);
    await Promise.all(Array.from({ length: 20 }, () => kube.get(configMaps, "a", "default")));
    expect(proxy.connections - before).toBeLessThanOrEqual(20);
  });

  it("a server that is away: a write waits for it, and a budget ends the waiting", async () => {
    const kube = direct({ budget: 30_000 });
    await cluster().killApiServer();
    expect(await code(direct({ budget: 200 }).get(configMaps, "a", "default"))).toBe("unavailable");
    expect(await code(direct({ budget: 200 }).create(configMaps, configMap(fresh())))).toBe("unavailable");
    const waiting = kube.create(configMaps, configMap(fresh()));
    await cluster().startApiServer();
    expect((await waiting).kind).toBe("ConfigMap");
  });
});

describe("credentials", () => {
  /** Who the server takes us for, as far as its refusals tell. */
  const who = async (kubeconfig: string) => {
    const kube = objects(kubeconfig);
    const user = /User "([^"]*)"/;
    return kube.list(namespaces).then(
      () => "admin",
      (error) => `${refusalOf(error)?.status} ${user.exec(error.message)?.[1] ?? ""}`.trim(),
    );
  };
  /** An exec plugin that prints, on its n-th run, the n-th of these as its status. */
  const plugin = (...statuses: object[]) => {
    const folder = join(cluster().folder, fresh());
    mkdirSync(folder);
    for (const [n, status] of statuses.entries())
      writeFileSync(
        join(folder, `${n + 1}`),
        JSON.stringify({ apiVersion: "client.authentication.k8s.io/v1", kind: "ExecCredential", status }),
      );
    const script = `cd ${folder}; n=$(($(cat n 2>/dev/null || echo 0) + 1)); echo $n > n; cat $n`;
    const exec = { apiVersion: "client.authentication.k8s.io/v1", command: "sh", args: ["-c", script] };
    return { exec, runs: () => Number(readFileSync(join(folder, "n"), "utf8")) };
  };

  it("a token, in the kubeconfig or in a file that changes", async () => {
    const { tokens, folder } = cluster();
    expect(await who(variant({ token: tokens.admin }))).toBe("admin");
    expect(await who(variant({ token: tokens.nobody }))).toBe("403 nobody");
    expect(await who(variant({ token: "wrong" }))).toBe("401");
    expect(await who(variant({}))).toBe("403 system:anonymous");
    const tokenFile = join(folder, fresh());
    writeFileSync(tokenFile, tokens.nobody);
    const kube = objects(variant({ tokenFile: basename(tokenFile), token: "wrong" }));
    expect(await code(kube.list(namespaces))).toBe("invalid Forbidden");
    writeFileSync(tokenFile, `${tokens.admin}\n`);
    expect(await code(kube.list(namespaces))).toBe("done");
  });

  it("a client certificate, as files or as data", async () => {
    const { certificate, key } = cluster().certificates.admin;
    expect(await who(variant({ "client-certificate": certificate, "client-key": key }))).toBe("admin");
    const data = (path: string) => readFileSync(path).toString("base64");
    const inline = { "client-certificate-data": data(certificate), "client-key-data": data(key) };
    expect(await who(variant(inline))).toBe("admin");
  });

  it("impersonation", async () => {
    const { tokens } = cluster();
    expect(await who(variant({ token: tokens.admin, as: "jane", "as-groups": ["a", "b"] }))).toBe("403 jane");
    expect(await who(variant({ token: tokens.admin, as: "jane", "as-groups": ["system:masters"] }))).toBe("admin");
  });

  it("a plugin: asked once, again after 401 and when what it gave expires", async () => {
    const { tokens } = cluster();
    const good = plugin({ token: tokens.admin });
    const kube = objects(variant(good));
    await Promise.all([kube.list(namespaces), kube.list(namespaces)]);
    expect(good.runs()).toBe(1);

    const refreshed = plugin({ token: "old" }, { token: tokens.admin });
    expect(await who(variant(refreshed))).toBe("admin");
    expect(refreshed.runs()).toBe(2);

    const expired = plugin({ token: "old", expirationTimestamp: "2020-01-01T00:00:00Z" }, { token: tokens.admin });
    expect(await who(variant(expired))).toBe("admin");
    expect(expired.runs()).toBe(2);

    expect(await who(variant(plugin({ token: "wrong" }, { token: "wrong" }, {})))).toBe("401");
  });

  it("a plugin that gives a client certificate", async () => {
    const { certificate, key } = cluster().certificates.admin;
    const read = (path: string) => readFileSync(path, "utf8");
    const given = plugin({ clientCertificateData: read(certificate), clientKeyData: read(key) });
    expect(await who(variant(given))).toBe("admin");
  });

  it("OIDC, through the official client", async () => {
    const part = (content: object) => Buffer.from(JSON.stringify(content)).toString("base64url");
    const token = `${part({ alg: "none" })}.${part({ exp: 4e9 })}.x`;
    const config = {
      "idp-issuer-url": "https://issuer.test",
      "client-id": "c",
      "id-token": token,
      "refresh-token": "r",
    };
    const kubeconfig = variant({ "auth-provider": { name: "oidc", config } }, { server: proxy.server });
    expect(await who(kubeconfig)).toBe("401");
    expect(proxy.authorizations.at(-1)).toBe(`Bearer ${token}`);
  });

  it("a pod's service account", async () => {
    const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: fresh(), namespace: "default" } };
    await direct().create({ apiVersion: "v1", plural: "serviceaccounts" }, account);
    const token = await cluster().kubectl(["create", "token", account.metadata.name]);
    const folder = join(cluster().folder, fresh());
    mkdirSync(folder);
    writeFileSync(join(folder, "token"), token);
    writeFileSync(join(folder, "namespace"), "default");
    writeFileSync(join(folder, "ca.crt"), readFileSync(cluster().certificates.authority.certificate));
    const { hostname, port } = new URL(cluster().server);
    const access = podAccess({ KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port }, folder);
    const kube = objectsOf(access);
    open.push(kube);
    const refused = kube.get(configMaps, "a", access.namespace);
    await expect(refused).rejects.toThrow(`system:serviceaccount:default:${account.metadata.name}`);
  });
});

describe("the way there", () => {
  /** A proxy that connects everybody to the cluster, whatever host they ask for. */
  async function tunnel() {
    const asked: string[] = [];
    const listener = createServer();
    listener.on("connect", (request, socket) => {
      asked.push(request.url as string);
      const { port, hostname } = new URL(cluster().server);
      const onward = connect(Number(port), hostname, () => {
        socket.write("HTTP/1.1 200 OK\r\n\r\n");
        socket.pipe(onward).pipe(socket);
      });
      for (const one of [socket, onward]) one.on("error", () => socket.destroy());
    });
    listener.listen(0, "127.0.0.1");
    await once(listener, "listening");
    onTestFinished(() => void listener.close());
    return { url: `http://127.0.0.1:${(listener.address() as AddressInfo).port}`, asked };
  }
  const admin = () => ({ token: cluster().tokens.admin });

  it("proxy-url, and HTTPS_PROXY but not for hosts in NO_PROXY or this machine", async () => {
    const { url, asked } = await tunnel();
    const far = { server: "https://cluster.test:6443", "tls-server-name": "localhost" };
    expect(await code(objects(variant(admin(), { ...far, "proxy-url": url })).list(namespaces))).toBe("done");
    expect(asked.splice(0)).toEqual(["cluster.test:6443"]);

    vi.stubEnv("HTTPS_PROXY", url);
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(await code(objects(variant(admin(), far)).list(namespaces))).toBe("done");
    expect(asked.splice(0)).toEqual(["cluster.test:6443"]);
    expect(await code(direct().list(namespaces))).toBe("done");
    vi.stubEnv("NO_PROXY", ".test");
    expect(await code(objects(variant(admin(), far)).list(namespaces))).toBe("unavailable");
    expect(asked).toEqual([]);
  });

  it("a certificate that is none: at once, and it says so", async () => {
    const none = Buffer.from("none").toString("base64");
    const start = performance.now();
    const refused = objects(variant({ "client-certificate-data": none, "client-key-data": none })).list(namespaces);
    await expect(refused).rejects.toThrow(/PEM/);
    expect(performance.now() - start).toBeLessThan(15_000);
  });

  it("a server that is not who it says: unavailable at once, and insecure-skip-tls-verify", async () => {
    const start = performance.now();
    const stranger = { "certificate-authority": undefined };
    expect(await code(objects(variant(admin(), stranger)).list(namespaces))).toBe("unavailable");
    expect(await code(objects(variant(admin(), { "tls-server-name": "other.test" })).list(namespaces))).toBe(
      "unavailable",
    );
    expect(performance.now() - start).toBeLessThan(15_000);
    const trusting = { ...stranger, "insecure-skip-tls-verify": true };
    expect(await code(objects(variant(admin(), trusting)).list(namespaces))).toBe("done");
  });
});

describe("etcd restored from a backup", () => {
  it("has lost what came after, and no version from before counts as known", async () => {
    const kube = direct();
    const first = await kube.create(configMaps, configMap(fresh(), { n: "1" }));
    const backup = await cluster().backUp();
    const lost = await kube.create(configMaps, configMap(fresh()));
    const second = await kube.put(configMaps, { ...first, data: { n: "2" } });
    await cluster().restore(backup);
    expect(await kube.get(configMaps, lost.metadata.name, "default")).toBeUndefined();
    expect(await code(kube.put(configMaps, { ...second, data: { n: "3" } }))).toBe("conflict Conflict");
    expect((await kube.get<ConfigMap>(configMaps, first.metadata.name, "default"))?.data).toEqual({ n: "1" });
    const next = await kube.create(configMaps, configMap(lost.metadata.name));
    expect(Number(next.metadata.resourceVersion)).toBeGreaterThan(1_000_000);
  });
});
