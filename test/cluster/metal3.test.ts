import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { formatAddress } from "../../core/index.ts";
import { managedBy } from "../../integrations/contract/managed-by.ts";
import { ownerLabel, usedAnnotation } from "../../integrations/metal3/object-parts.ts";
import { type Access, findAccess, type KubeObject, type Objects, objectsOf, type Resource } from "../../kube/index.ts";
import { resetAnnotation } from "../../schema/node-ip-pool.ts";
import { asBag, asList, type Bag } from "../../schema/objects.ts";
import { kubernetes } from "../../state/kubernetes/backend.ts";
import { exampleText } from "../support/cli/metal3-infra.ts";
import { installMachines, installNodeIPPool } from "../support/cluster/kinds.ts";
import { clusterOfFile } from "../support/cluster/of-file.ts";
import { nodeippool } from "../support/console.ts";
import {
  accessWithout,
  ownAccess,
  prepareController,
  rightsIn,
  servedAs,
  withRefusals,
} from "../support/controller/rights.ts";
import { afterHold } from "../support/controller/timing.ts";
import { tries } from "../support/long.ts";

const namespace = "metal3";
const configMaps: Resource = { apiVersion: "v1", plural: "configmaps" };
const secrets: Resource = { apiVersion: "v1", plural: "secrets" };
const events: Resource = { apiVersion: "v1", plural: "events" };
const hosts: Resource = { apiVersion: "metal3.io/v1alpha1", plural: "baremetalhosts" };

type Any = KubeObject & Bag;

/** A file with one network and so many hosts. */
function file(names: readonly string[]): string {
  const byte = (value: number) => (value & 255).toString(16).padStart(2, "0");
  const macs = names.map((name, i) => `      ${name}: {em0: "02:00:00:00:${byte(i >> 8)}:${byte(i)}"}`);
  return `infra:
  networks:
    lan: {netmask: 22, addressRange: {start: 10.0.0.10, end: 10.0.3.250}, gateway: 10.0.0.1}
nodepools:
  pool:
    replicas: ${names.length}
    hostSelector: {rack: "1"}
    networkConfig: [{type: interface, name: em0, addresses: [{ip_netmask: "{{ ip['lan'] }}"}]}]
    macMapping:
${macs.join("\n")}
`;
}

/** With the rights that deploy/ gives, and no others: whatever is refused fails the test. */
describe("the hosts of a ConfigMap, on a real API server", () => {
  const cluster = clusterOfFile(async (started) => {
    await started.kubectl(["create", "namespace", namespace]);
    await prepareController(started, [installMachines], "metal3");
  });
  let kube: Objects;
  let user: Access;
  beforeAll(async () => {
    kube = objectsOf(findAccess({ kubeconfig: cluster().kubeconfig }));
    user = await ownAccess(cluster());
    return () => kube.close();
  });

  afterEach(async () => {
    for (const resource of [configMaps, secrets, events, hosts])
      await cluster().kubectl(["delete", resource.plural, "--all", "-n", namespace, "--wait=false"]);
    await cluster().kubectl(["delete", "configmaps", "--all", "-n", "nodeippool"]);
  });

  const serving = { metal3: namespace };
  const served = (work: () => Promise<void>) => servedAs(user, work, serving);

  async function create(text: string): Promise<void> {
    const folder = mkdtempSync(join(tmpdir(), "infra-"));
    writeFileSync(join(folder, "infra.yaml"), text);
    await cluster().kubectl([
      ...["create", "configmap", "nodeippool-infra", "-n", namespace],
      `--from-file=${join(folder, "infra.yaml")}`,
    ]);
  }
  const write = (text: string) =>
    kube.patch(configMaps, "nodeippool-infra", namespace, { data: { "infra.yaml": text } }, { type: "merge" });

  const host = (name: string, spec: Bag = {}) =>
    kube.create(hosts, {
      apiVersion: hosts.apiVersion,
      kind: "BareMetalHost",
      metadata: { name, namespace },
      spec: { online: true, bootMACAddress: "02:00:00:00:00:01", ...spec },
    } as KubeObject);
  const stateOf = (name: string, state: string) => {
    const status = { operationalStatus: "OK", errorCount: 0, errorMessage: "", poweredOn: false };
    const body = { status: { ...status, provisioning: { ID: "", state } } };
    return kube.patch(hosts, name, namespace, body, { type: "merge", subresource: "status" });
  };
  const specOf = async (name: string) => asBag((await kube.get<Any>(hosts, name, namespace))?.spec);
  const networkDataOf = async (name: string) => (await specOf(name))?.networkData;

  /** What is in each Secret, by its name. */
  async function given(): Promise<Record<string, string>> {
    const all = await kube.list<Any>(secrets, { namespace });
    const text = ({ data }: Any) => Buffer.from(`${asBag(data)?.networkData}`, "base64").toString();
    return Object.fromEntries(all.map((one) => [one.metadata.name, text(one)]));
  }

  async function lines(): Promise<string[]> {
    const { allocations, releasing } = await kubernetes(kube, "nodeippool").read();
    return [
      ...allocations.map(({ address, claim }) => `${formatAddress(address)} ${claim}`),
      ...releasing.map(({ address, claim }) => `${formatAddress(address)} ${claim} releasing`),
    ];
  }

  async function until(what: () => Promise<unknown>, expected: unknown, limit = 30_000): Promise<void> {
    const end = Date.now() + limit;
    let found = await what();
    while (JSON.stringify(found) !== JSON.stringify(expected) && Date.now() < end) {
      await sleep(100);
      found = await what();
    }
    expect(found).toEqual(expected);
  }

  it.each(["seed.yaml", "rack.yaml"])(
    "%s: Secrets as the command line renders them, byte for byte (R35, R36)",
    async (name) => {
      const folder = mkdtempSync(join(tmpdir(), "infra-"));
      writeFileSync(join(folder, "infra.yaml"), exampleText(name));
      expect(nodeippool(["allocate", "infra.yaml"], folder).status).toBe(0);
      const rendered = parseAllDocuments(nodeippool(["render", "infra.yaml"], folder).stdout)
        .map((document) => document.toJS() as Any)
        .filter(({ kind }) => kind === "Secret");
      const texts = rendered.map(({ metadata, stringData }) => [metadata.name, asBag(stringData)?.networkData]);
      expect(texts.length).toBeGreaterThan(1);
      await served(async () => {
        await create(exampleText(name));
        await until(async () => Object.keys(await given()).length, texts.length);
      });
      expect(await given()).toEqual(Object.fromEntries(texts));
      for (const { metadata } of rendered)
        expect((await kube.get<Any>(secrets, metadata.name, namespace))?.metadata.labels).toMatchObject(
          metadata.labels ?? {},
        );
    },
  );

  it("each BareMetalHost names its Secret, and nothing else of it is the controller's", async () => {
    await host("pool-a", { bmc: { address: "redfish://10.9.0.1/1", credentialsName: "bmc" } });
    await served(async () => {
      await create(file(["a", "b"]));
      await until(() => networkDataOf("pool-a"), { name: "pool-a", namespace });
      await host("pool-b");
      await until(() => networkDataOf("pool-b"), { name: "pool-b", namespace });
    });
    const there = await kube.get<Any>(hosts, "pool-a", namespace);
    expect(asBag(there?.spec)?.bmc).toEqual({ address: "redfish://10.9.0.1/1", credentialsName: "bmc" });
    const fields = asList(asBag(there?.metadata)?.managedFields).map((one) => asBag(one) ?? {});
    const ours = fields.filter(({ operation }) => operation === "Apply").map(({ fieldsV1 }) => fieldsV1);
    expect(ours).toEqual([{ "f:spec": { "f:networkData": {} } }]);
  });

  it("a BareMetalHost that names another Secret, before or later, is left so, and an Event says it", async () => {
    const theirs = (secret: string) => ({ name: secret, namespace });
    await host("pool-a", { networkData: theirs("before") });
    await host("pool-b");
    const said = async () => {
      const all = await kube.list<Any>(events, { namespace });
      return all
        .filter(({ reason }) => reason === "Refused")
        .map(({ message }) => /names Secret \w+/.exec(`${message}`)?.[0])
        .sort();
    };
    await served(async () => {
      await create(file(["a", "b"]));
      await until(() => networkDataOf("pool-b"), theirs("pool-b"));
      const applied = { ...(await specOf("pool-b")), networkData: theirs("later") };
      const object = { apiVersion: hosts.apiVersion, kind: "BareMetalHost", metadata: { name: "pool-b", namespace } };
      await kube.apply(hosts, { ...object, spec: applied } as KubeObject, { manager: "gitops", force: true });
      await until(said, ["names Secret before", "names Secret later"]);
      expect([await networkDataOf("pool-a"), await networkDataOf("pool-b")]).toEqual([
        theirs("before"),
        theirs("later"),
      ]);
    });
  });

  it("a host that leaves the file keeps its address until its BareMetalHost is gone, or available without it", async () => {
    const line = (name: string, i: number) => `10.0.0.${i} Host/pool.${name}/lan`;
    for (const name of ["pool-a", "pool-b"]) {
      await host(name);
      await stateOf(name, "provisioned");
    }
    await served(async () => {
      await create(file(["a", "b", "c"]));
      await until(() => networkDataOf("pool-b"), { name: "pool-b", namespace });
      expect(await lines()).toEqual([line("a", 10), line("b", 11), line("c", 12)]);
      await write(file(["c", "d"]));
      const releasing = [`${line("a", 10)} releasing`, `${line("b", 11)} releasing`];
      await until(async () => Object.keys(await given()), ["pool-c", "pool-d"]);
      await sleep(afterHold);
      expect(await lines()).toEqual([line("c", 12), line("d", 13), ...releasing]);
      await cluster().kubectl(["delete", "bmh", "pool-a", "-n", namespace]);
      await until(lines, [line("c", 12), line("d", 13), ...releasing.slice(1)]);
      await kube.patch(hosts, "pool-b", namespace, { spec: { networkData: null } }, { type: "merge" });
      await sleep(afterHold);
      expect(await lines()).toEqual([line("c", 12), line("d", 13), ...releasing.slice(1)]);
      await stateOf("pool-b", "available");
      await until(lines, [line("c", 12), line("d", 13)]);
    });
  }, 120_000);

  it("a file that cannot be read changes nothing, and an Event says where it is wrong", async () => {
    await served(async () => {
      await create(file(["a"]));
      await until(async () => Object.keys(await given()), ["pool-a"]);
      const before = await given();
      await write(file(["b"]).replace("netmask: 22", "netmask: 122"));
      const said = async () => {
        const all = await kube.list<Any>(events, { namespace });
        return all.filter(({ reason }) => reason === "Invalid").map(({ message }) => message);
      };
      await until(said, ["infra.yaml line 3: netmask must be a prefix length, a number from 1 to 32"]);
      expect([await given(), await lines()]).toEqual([before, ["10.0.0.10 Host/pool.a/lan"]]);
    });
  });

  it("hosts that were planned keep their addresses: the controller takes their Secrets over", async () => {
    const folder = mkdtempSync(join(tmpdir(), "infra-"));
    for (const names of [
      ["b", "c"],
      ["a", "b", "c"],
    ]) {
      writeFileSync(join(folder, "infra.yaml"), file(names));
      expect(nodeippool(["allocate", "infra.yaml"], folder).status).toBe(0);
    }
    const rendered = nodeippool(["render", "infra.yaml"], folder).stdout;
    const made = rendered.split(/^---$/m).filter((text) => text.includes("kind: Secret"));
    await cluster().kubectl(["apply", "-n", namespace, "-f", "-"], made.join("---\n"));
    const before = await given();
    expect(Object.keys(before)).toEqual(["pool-a", "pool-b", "pool-c"]);
    const [label] = Object.entries(managedBy).map((pair) => pair.join("="));
    const names = async (selector = "") =>
      (await kube.list<Any>(secrets, { namespace, labels: selector })).map(({ metadata }) => metadata.name);
    await served(async () => {
      // The address of b is one that the network gives no more.
      await create(file(["b", "c", "d"]).replace("10.0.3.250", "10.0.0.11").replace("10.0.0.10", "10.0.0.11"));
      await until(lines, ["10.0.0.10 Host/pool.b/lan", "10.0.0.11 Host/pool.c/lan"]);
      await write(file(["a", "b", "c", "d"]));
      await until(
        lines,
        [10, 11, 12, 13].map((last, i) => `10.0.0.${last} Host/pool.${"bcad"[i]}/lan`),
      );
      await until(() => names(label), ["pool-a", "pool-b", "pool-c", "pool-d"]);
      await cluster().kubectl(["label", "secret", "pool-a", "-n", namespace, "app.kubernetes.io/managed-by-"]);
      await cluster().kubectl(["label", "secret", "pool-b", "-n", namespace, `${ownerLabel}-`]);
      await until(() => names(`${label},${ownerLabel}`), ["pool-a", "pool-b", "pool-c", "pool-d"]);
    });
    expect(await given()).toMatchObject(before);
  });

  it("a Secret that is somebody else's is left alone, and an Event says it", async () => {
    const metadata = { name: "pool-a", namespace };
    await kube.create(secrets, {
      apiVersion: "v1",
      kind: "Secret",
      metadata,
      stringData: { theirs: "x" },
    } as KubeObject);
    await host("pool-a");
    await served(async () => {
      await create(file(["a", "b"]));
      const said = async () => {
        const all = await kube.list<Any>(events, { namespace });
        return all.filter(({ reason }) => reason === "Refused").map(({ message }) => message);
      };
      await until(said, ["Secret metal3/pool-a was made by somebody else. Delete it, or rename it."]);
      expect(await networkDataOf("pool-a")).toBeUndefined();
    });
    expect(asBag((await kube.get<Any>(secrets, "pool-a", namespace))?.data)).toEqual({
      theirs: Buffer.from("x").toString("base64"),
    });
  });

  it("a host of another name bears in an annotation what it was provisioned with, until it is available", async () => {
    const line = "10.0.0.10 Host/pool.a/lan";
    await served(async () => {
      await create(file(["a"]));
      await until(async () => Object.keys(await given()), ["pool-a"]);
      await host("rack1", { networkData: { name: "pool-a", namespace } });
      await stateOf("rack1", "provisioned");
      const used = async () => (await kube.get<Any>(hosts, "rack1", namespace))?.metadata.annotations?.[usedAnnotation];
      await until(used, "pool-a");
      await kube.patch(hosts, "rack1", namespace, { spec: { networkData: null } }, { type: "merge" });
      await write(file(["b"]));
      await until(lines, ["10.0.0.11 Host/pool.b/lan", `${line} releasing`]);
      await sleep(afterHold);
      expect(await lines()).toEqual(["10.0.0.11 Host/pool.b/lan", `${line} releasing`]);
      await stateOf("rack1", "available");
      await until(lines, ["10.0.0.11 Host/pool.b/lan"]);
      await until(used, undefined);
    });
  }, 120_000);

  const count = tries(40, 900);

  it(`${count} hosts with two controllers: each has an address, none two, and each BareMetalHost its Secret`, async () => {
    const names = Array.from({ length: count }, (_, i) => `h${i}`);
    for (const name of names) await host(`pool-${name}`);
    await served(() =>
      served(async () => {
        await create(file(names));
        await until(async () => Object.keys(await given()).length, count, 90_000);
        const isLinked = ({ metadata, spec }: Any) => asBag(asBag(spec)?.networkData)?.name === metadata.name;
        await until(async () => (await kube.list<Any>(hosts, { namespace })).filter(isLinked).length, count, 90_000);
        const texts = Object.values(await given());
        expect(new Set(texts.map((text) => /ip_address: (\S+)/.exec(text)?.[1])).size).toBe(count);
        expect(await lines()).toHaveLength(count);
      }),
    );
  }, 240_000);

  describe("need each of the rights", () => {
    beforeAll(async () => {
      // A streamed list asks for the right to watch alone; servers up to 1.31, and 1.33, have none.
      await cluster().killApiServer();
      await cluster().startApiServer(["--feature-gates=WatchList=false"]);
      await installNodeIPPool(cluster());
      await installMachines(cluster());
    });

    it.each(rightsIn("metal3"))("%s", async (right) => {
      const access = await accessWithout(right, "metal3", cluster());
      for (const name of ["pool-a", "pool-b"]) await host(name);
      const work = async (refused: ReadonlySet<string>) => {
        const reached = async (isReached: () => Promise<boolean>) => {
          // Never in step with the controller: what it writes is to meet what others write meanwhile.
          for (let i = 0; i < 300 && !refused.has(right) && !(await isReached()); i++) await sleep(150 * Math.random());
        };
        await create(file(["a", "b"]));
        await cluster().kubectl(["annotate", "cm", "nodeippool-infra", "-n", namespace, `${resetAnnotation}=`]);
        await reached(async () => Object.keys(await given()).length === 2);
        const change = { data: { networkData: "" } };
        if ("pool-b" in (await given())) await kube.patch(secrets, "pool-b", namespace, change, { type: "merge" });
        await write(file(["b"]));
        await kube.patch(hosts, "pool-a", namespace, { spec: { networkData: null } }, { type: "merge" });
        await stateOf("pool-a", "available");
        // Somebody else names another Secret, again and again, while the controller sets its own.
        await reached(async () => {
          for (const networkData of [null, { name: "theirs", namespace }])
            await kube.patch(hosts, "pool-b", namespace, { spec: { networkData } }, { type: "merge" });
          return false;
        });
        expect([...refused]).toContain(right);
      };
      await withRefusals(access, work, serving);
    });
  });
});
