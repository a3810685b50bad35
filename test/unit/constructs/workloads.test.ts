import { ApiObject, type ApiObjectProps, Chart, JsonPatch } from "cdk8s";
import { Deployment, StatefulSet } from "cdk8s-plus-33";
import { describe, expect, it } from "vitest";
import { Manifests, NodeIPPool, WorkloadAddresses, type WorkloadAddressesProps } from "../../../constructs/index.ts";
import { asBag, type Bag } from "../../../schema/objects.ts";
import {
  appOf,
  type Build,
  drift,
  linesOf,
  nothing,
  objectsByName,
  objectsOf,
  recordAfter,
  refusal,
  synthesised,
} from "../../support/cli/constructs-app.ts";
import { macvlanNetwork } from "../../support/objects/vm-objects.ts";
import { gate, networksKey, workload } from "../../support/objects/workload-objects.ts";
import type { Manifest } from "../../support/schema/render.ts";

const object = (chart: Chart, one: Bag) =>
  new ApiObject(chart, `${one.kind}-${asBag(one.metadata)?.name}`, one as unknown as ApiObjectProps);
const pool = (chart: Chart, name = "lan", more: object = {}) =>
  new NodeIPPool(chart, name, { range: { cidr: "10.0.0.0/24" }, ...more });
/** A network that takes addresses of whoever is named for its pods. */
const red = (): Bag => {
  const network = macvlanNetwork("red", "lan");
  return { ...network, metadata: { name: "red", namespace: "default" } };
};
const db = (replicas = 2) => workload("StatefulSet", "db", { replicas }, "red", {});
const web = () => workload("Deployment", "web", { replicas: 1 }, "red", {});

/** What each pod, or index, is told. */
function told(objects: Record<string, Manifest>, name: string): Record<string, string[]> {
  const entries = Object.entries((objects[`ConfigMap/${name}`] as { data?: Record<string, string> })?.data ?? {});
  return Object.fromEntries(
    entries.map(([key, text]) => [key, JSON.parse(text).flatMap(({ ips = [] }: Bag) => ips as string[])]),
  );
}

const template = (one: Manifest | undefined): Bag => asBag(asBag(asBag(asBag(one?.spec)?.template)?.metadata)) ?? {};
const lines = [
  "10.0.0.1 Deployment/default:web/0/net1",
  "10.0.0.2 Deployment/default:web/1/net1",
  "10.0.0.3 StatefulSet/default:db/0/net1",
  "10.0.0.4 StatefulSet/default:db/1/net1",
];

describe("workloads of Manifests", () => {
  const build =
    (...others: Bag[]): Build =>
    (chart) => {
      pool(chart);
      new Manifests(chart, "all", { objects: [...others, db(), web()] as unknown as ApiObjectProps[] });
    };

  it("have their ConfigMap beside them, with the addresses of the record", async () => {
    const app = build(macvlanNetwork("red", "lan"));
    expect(linesOf(await recordAfter(app))).toEqual(lines);
    const objects = await objectsByName(app);
    expect(told(objects, "nodeippool-db")).toEqual({ "db-0": ["10.0.0.3/24"], "db-1": ["10.0.0.4/24"] });
    expect(told(objects, "nodeippool-deployment.web")).toEqual({ 0: ["10.0.0.1/24"], 1: ["10.0.0.2/24"] });
    expect(template(objects["StatefulSet/db"]).labels).toEqual({ app: "db", [gate]: "planned" });
    expect(template(objects["Deployment/web"]).labels).toEqual({ app: "web", [gate]: "gated" });
    expect(objects["Deployment/web"]?.metadata.labels).toEqual({ [gate]: "planned" });
    expect(Object.keys(objects)).toContain("NetworkAttachmentDefinition/red");
  });

  it("S15: have addresses of the pools that their namespace names", async () => {
    const annotations = { "ipam.spidernet.io/default-ipv4-ippool": '["lan"]' };
    const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "default", annotations } };
    const objects = await objectsByName(build(namespace, red()));
    expect(told(objects, "nodeippool-db")).toEqual({ "db-0": ["10.0.0.3/24"], "db-1": ["10.0.0.4/24"] });
    expect(Object.keys(objects)).toContain("Namespace/default");
  });
});

describe("WorkloadAddresses", () => {
  const props = { networks: ["red"], pools: ["lan"] };

  it("gives ApiObjects what a folder gives them, once", async () => {
    const app: Build = (chart) => {
      pool(chart);
      object(chart, macvlanNetwork("red", "lan"));
      for (const one of [db(), web()])
        new WorkloadAddresses(chart, `${one.metadata.name}-addresses`, { workload: object(chart, one) });
    };
    const given: Build = (chart) => {
      pool(chart);
      new Manifests(chart, "all", { objects: [macvlanNetwork("red", "lan"), db(), web()] as never });
    };
    const [here, there] = [await objectsOf(app), await objectsOf(given)];
    expect(here.map(sorted).sort()).toEqual(there.map(sorted).sort());
    expect(here).toHaveLength(6);
    const order = here.map(({ kind }) => kind);
    expect(order.indexOf("ConfigMap")).toBeLessThan(order.indexOf("StatefulSet"));
  });

  it("writes the annotations of workloads of cdk8s-plus, and keeps their own", async () => {
    const app: Build = (_, app) => {
      const chart = new Chart(app, "apps", { namespace: "default" });
      const lan = pool(chart);
      object(chart, red());
      const containers = [{ image: "main", portNumber: 80 }];
      const set = new StatefulSet(chart, "db", { metadata: { name: "db" }, containers, replicas: 2 });
      const addresses = { networks: ["red@eth5"], pools: [lan.name] };
      new WorkloadAddresses(chart, "db-addresses", { workload: set, ...addresses });
      set.podMetadata.addAnnotation("later", "kept");
      const web = new Deployment(chart, "web", { metadata: { name: "web" }, containers, replicas: 1 });
      new WorkloadAddresses(chart, "web-addresses", { workload: web, ...addresses });
    };
    expect(linesOf(await recordAfter(app))).toEqual(lines.map((line) => line.replace("net1", "eth5")));
    const objects = await objectsByName(app);
    expect(told(objects, "nodeippool-db")).toEqual({ "db-0": ["10.0.0.3/24"], "db-1": ["10.0.0.4/24"] });
    const { annotations, labels } = template(objects["StatefulSet/db"]);
    expect(annotations).toEqual({ later: "kept", [networksKey]: "red@eth5", "nodeippool.nmstate.io/pool": "lan" });
    expect(labels).toMatchObject({ [gate]: "planned", "cdk8s.io/metadata.addr": expect.any(String) });
    expect(objects["Deployment/web"]?.metadata.labels).toEqual({ [gate]: "planned" });
  });

  it("tries several pools, and says in the drift whose addresses are missing", async () => {
    const app: Build = (chart) => {
      pool(chart, "small", { range: { cidr: "10.1.0.0/30" } });
      pool(chart, "spare", { podAffinity: { matchLabels: { app: "other" } } });
      object(chart, red());
      new WorkloadAddresses(chart, "a", { workload: object(chart, db()), networks: ["red"], pools: ["s*"] });
    };
    expect(drift(appOf(app, { record: nothing }))).toContain("+ 10.1.0.1  StatefulSet/default:db  0/net1");
    expect(linesOf(await recordAfter(app)).map((line) => line.split(" ")[0])).toEqual(["10.1.0.1", "10.1.0.2"]);
  });

  it("lets the workload have tokens, also of its own addresses", async () => {
    const objects = await objectsByName((chart) => {
      pool(chart);
      object(chart, red());
      const set = object(chart, db(1));
      const peer = "ippool://lan/StatefulSet/default:db/0/net1";
      set.metadata.addAnnotation("peer", peer);
      new WorkloadAddresses(chart, "a", { workload: set, ...props });
    });
    expect(objects["StatefulSet/db"]?.metadata.annotations).toEqual({ peer: "10.0.0.1" });
  });

  it("plans what the workload is when the app is synthesised, and keeps what is added later", async () => {
    const sets: ApiObject[] = [];
    const app: Build = (chart) => {
      pool(chart);
      object(chart, red());
      const set = object(chart, db(1));
      new WorkloadAddresses(chart, "a", { workload: set, ...props });
      set.addJsonPatch(JsonPatch.replace("/spec/replicas", 2));
      sets.push(set);
    };
    const record = await recordAfter(app);
    expect(linesOf(record)).toHaveLength(2);
    const made = appOf(app, { record });
    const before = synthesised(made);
    expect(synthesised(made)).toEqual(before);
    sets.at(-1)?.addJsonPatch(JsonPatch.add("/spec/template/metadata/labels/late", "yes"));
    const set = synthesised(made).find(({ kind }) => kind === "StatefulSet");
    expect(template(set).labels).toEqual({ app: "db", [gate]: "planned", late: "yes" });
  });

  it.each<[string, (chart: Chart) => unknown, string]>([
    [
      "a Service",
      (chart) => ({ workload: object(chart, { apiVersion: "v1", kind: "Service", metadata: { name: "a" } }) }),
      "Service a is no StatefulSet or Deployment",
    ],
    [
      "a field that it does not have",
      (chart) => ({ workload: object(chart, db()), pool: ["lan"] }),
      "network/a: unknown field pool",
    ],
  ])("refuses %s", (_, given, message) => {
    const build: Build = (chart) => void new WorkloadAddresses(chart, "a", given(chart) as WorkloadAddressesProps);
    expect(refusal(() => appOf(build))).toContain(message);
  });

  it("is in a chart", () => {
    const build: Build = (chart, app) => void new WorkloadAddresses(app, "a", { workload: object(chart, db()) });
    expect(refusal(() => appOf(build))).toContain("a must be in a chart");
  });

  it.each<[string, (chart: Chart) => void, string]>([
    ["the network is not in the app", () => {}, "no network of StatefulSet db takes addresses that this app plans"],
    [
      "the pool is not in the app",
      (chart) => void object(chart, macvlanNetwork("red", "lam")),
      "there is no NodeIPPool lam",
    ],
    [
      "the cluster allocates",
      (chart) => {
        object(chart, macvlanNetwork("red", "far"));
        pool(chart, "far", { range: { cidr: "10.9.0.0/24" }, authority: "Cluster" });
      },
      "takes addresses that this app plans",
    ],
    [
      "another one is of the same workload",
      (chart) => {
        object(chart, macvlanNetwork("red", "lan"));
        new WorkloadAddresses(chart, "b", { workload: chart.node.findChild("StatefulSet-db") });
      },
      "StatefulSet default/db is written by",
    ],
  ])("fails the synthesis where %s", (_, more, message) => {
    const build: Build = (chart) => {
      pool(chart);
      new WorkloadAddresses(chart, "a", { workload: object(chart, db()) });
      more(chart);
    };
    expect(drift(appOf(build, { record: nothing }))).toContain(message);
  });
});

function sorted(one: Manifest): string {
  return JSON.stringify(one, (_, value: unknown) =>
    asBag(value) === undefined || Array.isArray(value)
      ? value
      : Object.fromEntries(Object.entries(value as object).sort(([a], [b]) => (a < b ? -1 : 1))),
  );
}
