import { ApiObject, App, Chart } from "cdk8s";
import { describe, expect, it } from "vitest";
import { BareMetalHosts, type ClusterSpec, type InfraSpec, NodeIPPool } from "../../../constructs/index.ts";
import { readDesired } from "../../../pipeline/desired.ts";
import { readFolder } from "../../../pipeline/folder.ts";
import { integrations } from "../../../pipeline/integrations.ts";
import { runOnce } from "../../../pipeline/run-once.ts";
import { memory } from "../../../state/index.ts";
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
} from "../../support/cli/constructs-app.ts";
import { dataOf, exampleText } from "../../support/cli/metal3-infra.ts";

const specOf = (name: string) => dataOf(exampleText(name)) as InfraSpec;
const seed = specOf("seed.yaml");
const hosts =
  (spec: InfraSpec): Build =>
  (chart) =>
    void new BareMetalHosts(chart, "hosts", spec);

/** What a folder with the configuration becomes. */
async function ofFolder(text: string) {
  const manifests = readFolder([{ path: "infra.yaml", text }]);
  const state = memory();
  const { rendered } = await runOnce(() => readDesired(manifests, integrations), state, {
    set: "default",
    confirmRelease: true,
  });
  return { lines: linesOf(await state.read()), objects: [...rendered().instead.values()].flat() };
}

const modes: Record<string, ClusterSpec> = {
  hosts: { name: "blue", namespace: "metal" },
  machines: {
    mode: "machines",
    name: "blue",
    namespace: "metal",
    image: { url: "http://image", checksum: "http://image.sha256", diskFormat: "raw" },
    version: "v1.36.3",
    network: "os-net-config",
    kubeadmConfig: { users: [{ name: "admin" }] },
  },
  pools: { mode: "pools", name: "blue" },
};

describe("BareMetalHosts", () => {
  it.each(["seed.yaml", "rack.yaml"])("gives the hosts of %s what the file gives them", async (name) => {
    const { lines, objects } = await ofFolder(exampleText(name));
    expect(linesOf(await recordAfter(hosts(specOf(name))))).toEqual(lines);
    expect(await objectsOf(hosts(specOf(name)))).toEqual(objects);
    expect(lines.length).toBeGreaterThan(3);
  });

  it.each(Object.entries(modes))("has the objects of mode %s", async (_, cluster) => {
    const { objects } = await ofFolder(`${exampleText("rack.yaml")}\ncluster: ${JSON.stringify(cluster)}\n`);
    expect(await objectsOf(hosts({ ...specOf("rack.yaml"), cluster }))).toEqual(objects);
    expect(objects.length).toBeGreaterThan(20);
  });

  it("puts its objects into the namespace of the chart, and into another one that it names", async () => {
    const namespaces = async (spec: InfraSpec) => {
      const objects = await objectsOf((_, app) => hosts(spec)(new Chart(app, "metal", { namespace: "metal" }), app));
      return new Set(
        objects.flatMap(({ metadata, spec }) => [
          metadata.namespace,
          (spec as { networkData?: { namespace?: string } } | undefined)?.networkData?.namespace ?? metadata.namespace,
        ]),
      );
    };
    expect(await namespaces(seed)).toEqual(new Set(["metal"]));
    expect(await namespaces({ ...seed, cluster: { namespace: "other" } })).toEqual(new Set(["other"]));
  });

  it("fails to synthesise until its addresses are on record", () => {
    expect(drift(appOf(hosts(seed), { record: nothing }))).toContain("+ 192.168.0.10  Host/controllers.node-0  net0");
  });

  it("keeps what others have, and writes nothing more of a host that has left", async () => {
    const { nodepools: _, ...less } = seed;
    const record = await recordAfter(hosts(less), { record: await recordAfter(hosts(seed)) });
    expect(linesOf(record)).toEqual([
      "192.168.0.10 Host/controllers.node-0/net0",
      "192.168.1.10 Host/controllers.node-0/net1",
      "192.168.0.11 Host/nodepool1.node-0/net0 releasing",
      "192.168.1.11 Host/nodepool1.node-0/net1 releasing",
    ]);
    expect(Object.keys(await objectsByName(hosts(less), { record }))).toEqual([
      "Secret/controllers-node-0",
      "BareMetalHost/controllers-node-0",
    ]);
  });

  it("lets other objects of the app have the addresses of its hosts", async () => {
    const objects = await objectsByName((chart) => {
      const peer = new BareMetalHosts(chart, "hosts", seed).addressOf("nodepool1", "node-0", "net1");
      const data = { peer, cidr: `${peer}#cidr` };
      const metadata = { name: "peer" };
      new ApiObject(chart, "peer", { apiVersion: "v1", kind: "ConfigMap", metadata, data } as never);
    });
    expect(objects["ConfigMap/peer"]).toMatchObject({ data: { peer: "192.168.1.11", cidr: "192.168.1.11/24" } });
  });

  it("shares the plan of the app: its networks are pools beside others", async () => {
    const range = { cidr: "192.168.0.0/24", start: "192.168.0.20", end: "192.168.0.30" };
    const both: Build = (chart, app) => {
      new NodeIPPool(chart, "lan", { range });
      hosts(seed)(chart, app);
    };
    await expect(recordAfter(both)).rejects.toThrow(/lan.*net0|net0.*lan/);
  });
});

describe("BareMetalHosts refuses", () => {
  const refused = (spec: InfraSpec) => refusal(() => appOf(hosts(spec)));

  it("a wrong configuration, all of it, and says of which field each thing is", () => {
    const { infra } = seed;
    const networks = { ...infra.networks, net2: { netmask: 240, addresses: ["10.0.0.1"] } };
    const controllers = { ...seed.controllers, replicas: 2 } as InfraSpec["controllers"];
    expect(refused({ ...seed, infra: { networks }, ...(controllers && { controllers }) }).split("\n")).toEqual([
      "network/hosts: infra.networks.net2.netmask: netmask must be a prefix length, a number from 1 to 32",
      "network/hosts: controllers.replicas: replicas is 2, and macMapping has 1 hosts",
      "  Each host is one replica.",
    ]);
    expect(refused({ ...seed, kind: "Infra" } as never)).toContain("network/hosts: kind: unknown field kind");
  });

  it("what cannot be written as network data, by its field", async () => {
    const [device] = specOf("rack.yaml").controllers?.networkConfig ?? [];
    expect(device).toBeDefined();
    const networkConfig = [
      { type: "ovs_bridge", name: "br", addresses: [{ ip_netmask: "{{ ip['net0'] }}" }], members: [] },
    ];
    const controllers = { ...seed.controllers, networkConfig } as unknown as NonNullable<InfraSpec["controllers"]>;
    const { nodepools: _, ...rest } = seed;
    await expect(recordAfter(hosts({ ...rest, controllers }))).rejects.toThrow(
      /^network\/hosts: controllers\.networkConfig\.0.*: /,
    );
  });

  it("to be in no chart, or twice in one app", () => {
    expect(refusal(() => new BareMetalHosts(new App(), "hosts", seed))).toBe(
      "hosts must be in a chart: its hosts are objects of that",
    );
    const twice: Build = (chart, app) => {
      hosts(seed)(chart, app);
      hosts(seed)(new Chart(app, "more"), app);
    };
    expect(refusal(() => appOf(twice))).toContain(
      "more/hosts: network/hosts has the bare-metal hosts of this app already",
    );
  });

  it("to tell an address that it does not give", () => {
    const ask: Build = (chart) =>
      void new BareMetalHosts(chart, "hosts", seed).addressOf("controllers", "node-0", "net2");
    expect(refusal(() => appOf(ask))).toBe(
      "Host/controllers.node-0/net2 is no address of network/hosts; did you mean Host/controllers.node-0/net0?",
    );
  });
});
