import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { dataOf, exampleText, infraOf } from "../../support/cli/metal3-infra.ts";
import { clusters, objectsOfInfra } from "../../support/objects/metal3-objects.ts";

const seed = infraOf(exampleText("seed.yaml"));
const rack = infraOf(exampleText("rack.yaml"));

/** A field of an object, `a.b.c`. */
const at = (object: object | undefined, path: string): unknown =>
  path.split(".").reduce<unknown>((part, step) => (part as Record<string, unknown> | undefined)?.[step], object);
const titles = (objects: readonly { kind: string; metadata: { name: string } }[]) =>
  objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);

describe("machines of their own (R34)", () => {
  const objects = objectsOfInfra(seed, clusters.machines);
  const [secret, , metal3Machine, machine, bareMetalHost] = objects;

  it("I5: each host has five objects, whose names tell node-0 of one unit from node-0 of the other", () => {
    const kinds = ["Secret", "KubeadmConfig", "Metal3Machine", "Machine", "BareMetalHost"];
    const names = ["controllers-node-0", "nodepool1-node-0"];
    expect(titles(objects)).toEqual(names.flatMap((name) => kinds.map((kind) => `${kind} ${name}`)));
  });

  it("the Secret has the label that the operator would add, its owner, and the network data", () => {
    expect(at(secret, "metadata.labels")).toEqual({
      "environment.metal3.io": "baremetal",
      "nodeippool.nmstate.io/owner": "controllers.node-0",
    });
    const { networks } = parse(at(secret, "stringData.networkData") as string);
    expect(networks.map((one: { ip_address: string }) => one.ip_address)).toEqual(["192.168.0.10", "192.168.1.10"]);
  });

  it("I3: the machine selects the very host whose MAC addresses are in there", () => {
    expect(at(metal3Machine, "spec")).toEqual({
      image: clusters.machines.image,
      hostSelector: {
        matchLabels: { "metal3.io/controller": "true", "nodeippool.nmstate.io/host": "controllers-node-0" },
      },
      networkData: { name: "controllers-node-0" },
    });
    expect(at(bareMetalHost, "metadata.labels")).toEqual(at(metal3Machine, "spec.hostSelector.matchLabels"));
    expect(at(bareMetalHost, "spec")).toEqual({ online: true });
  });

  it.each([
    ["v1beta2", { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "Metal3Machine", name: "controllers-node-0" }],
    [
      "v1beta1",
      {
        apiVersion: "infrastructure.cluster.x-k8s.io/v1beta1",
        kind: "Metal3Machine",
        name: "controllers-node-0",
        namespace: "metal",
      },
    ],
  ] as const)("refers as %s does", (apiVersion, expected) => {
    const all = objectsOfInfra(seed, { ...clusters.machines, apiVersion, namespace: "metal" });
    expect(at(all[3], "spec.infrastructureRef")).toEqual(expected);
    expect(all.every((object) => at(object, "metadata.namespace") === "metal")).toBe(true);
  });

  it("only controllers are of the control plane", () => {
    const label = "cluster.x-k8s.io/control-plane";
    const isControlPlane = objects.map((object) => label in ((at(object, "metadata.labels") as object) ?? {}));
    expect(isControlPlane).toEqual([false, false, true, true, false, false, false, false, false, false]);
    expect(at(machine, "spec.clusterName")).toBe("blue");
  });

  it("has what is given of image, version and KubeadmConfig, after our own files and commands", () => {
    const kubeadmConfig = {
      joinConfiguration: { nodeRegistration: { name: "n" } },
      files: [{ path: "/a", content: "b" }],
      preKubeadmCommands: ["true"],
    };
    const given = { version: "v1.36.3", kubeadmConfig, network: "os-net-config" } as const;
    const all = objectsOfInfra(seed, { ...clusters.machines, ...given });
    const of = (kind: string) => all.find((object) => object.kind === kind);
    expect(at(of("Metal3Machine"), "spec.image")).toEqual(clusters.machines.image);
    expect(at(of("Machine"), "spec.version")).toBe("v1.36.3");
    expect(at(of("KubeadmConfig"), "spec.joinConfiguration")).toEqual({ nodeRegistration: { name: "n" } });
    expect((at(of("KubeadmConfig"), "spec.files") as { path: string }[]).map(({ path }) => path)).toEqual([
      "/etc/os-net-config/config.yaml",
      "/usr/local/sbin/nodeippool-mac-mapping",
      "/a",
    ]);
    expect(at(of("KubeadmConfig"), "spec.preKubeadmCommands")).toEqual([
      "/usr/local/sbin/nodeippool-mac-mapping && os-net-config -c /etc/os-net-config/config.yaml -m /etc/os-net-config/mapping.yaml",
      "true",
    ]);
  });

  it("os-net-config: the file in every KubeadmConfig, one script for the unit (R31), the host itself", () => {
    const all = objectsOfInfra(seed, { ...clusters.machines, network: "os-net-config" });
    expect(titles(all).slice(0, 5)).toEqual([
      "Secret controllers.mac-mapping",
      "Secret nodepool1.mac-mapping",
      "KubeadmConfig controllers-node-0",
      "Metal3Machine controllers-node-0",
      "Machine controllers-node-0",
    ]);
    const files = at(all[2], "spec.files") as { content?: string; contentFrom?: object }[];
    expect(dataOf(files[0]?.content ?? "")).toMatchObject({
      network_config: [{ name: "br-ctlplane" }, { name: "em0" }],
    });
    expect(files[1]?.contentFrom).toEqual({ secret: { name: "controllers.mac-mapping", key: "script" } });
    expect(at(all[0], "stringData.script")).toContain('"node-0": {"em0":"00:c8:7c:e6:f0:2e"');
    expect(at(all[3], "spec")).toEqual({
      image: clusters.machines.image,
      hostSelector: {
        matchLabels: { "metal3.io/controller": "true", "nodeippool.nmstate.io/host": "controllers-node-0" },
      },
    });
  });

  it("an empty KubeadmConfig has no spec: v1beta2 takes none without fields", () => {
    expect(objects[1]).not.toHaveProperty("spec");
  });
});

describe("hosts with their network data", () => {
  it("a Secret, and the host that names it; the template of the unit has no network data", () => {
    const [template, , secret, host] = objectsOfInfra(seed, clusters.hosts);
    expect(at(template, "spec.networkData")).toBeUndefined();
    expect(at(template, "spec.metaData.objectNames.0")).toEqual({ key: "name", object: "machine" });
    expect(titles([secret as never])).toEqual(["Secret controllers-node-0"]);
    expect(host).toEqual({
      apiVersion: "metal3.io/v1alpha1",
      kind: "BareMetalHost",
      metadata: {
        name: "controllers-node-0",
        labels: { "metal3.io/controller": "true", "nodeippool.nmstate.io/host": "controllers-node-0" },
      },
      spec: { online: true, networkData: { name: "controllers-node-0" } },
    });
  });
});

describe("IPPools", () => {
  const objects = objectsOfInfra(rack, clusters.pools);
  const of = (title: string) => objects[titles(objects).indexOf(title)];

  it("give every host the address that it has, by the name that Metal3 claims it with", () => {
    expect(at(of("IPPool storage"), "spec")).toEqual({
      clusterName: "blue",
      namePrefix: "storage",
      pools: [{ start: "10.22.0.10", end: "10.22.0.26" }],
      prefix: 24,
      preAllocations: expect.objectContaining({
        "compute-compute-00-storage": "10.22.0.10",
        "storage-storage-04-storage": "10.22.0.26",
      }),
    });
    expect(Object.keys(at(of("IPPool storage"), "spec.preAllocations") as object)).toHaveLength(17);
    expect(at(of("IPPool cluster6"), "spec")).toMatchObject({
      gateway: "2001:db8:20::1",
      dnsServers: ["2001:db8:20::2"],
    });
  });

  it("keep what is releasing for the host that had it, and list one address for each host", () => {
    const releasing = [
      "10.22.0.90 Host/storage.gone/storage pool=storage",
      "10.22.0.91 Host/storage.storage-04/storage pool=storage",
    ];
    const pool = objectsOfInfra(rack, clusters.pools, releasing).find(({ metadata }) => metadata.name === "storage");
    expect(at(pool, "spec.pools")).toEqual([
      { start: "10.22.0.10", end: "10.22.0.26" },
      { start: "10.22.0.90", end: "10.22.0.90" },
    ]);
    expect(at(pool, "spec.preAllocations")).toMatchObject({
      "storage-gone-storage": "10.22.0.90",
      "storage-storage-04-storage": "10.22.0.26",
    });
  });

  it("the template takes addresses from them, and MAC addresses from annotations of the host", () => {
    expect(at(of("Metal3DataTemplate compute"), "apiVersion")).toBe("infrastructure.cluster.x-k8s.io/v1beta1");
    const data = at(of("Metal3DataTemplate compute"), "spec.networkData") as object;
    const from = (nic: string) => ({
      fromAnnotation: { object: "baremetalhost", annotation: `nodeippool.nmstate.io/mac-${nic}` },
    });
    expect(at(data, "links.bonds.0")).toEqual({
      id: "bond0",
      bondMode: "802.3ad",
      bondXmitHashPolicy: "layer3+4",
      bondLinks: ["ens1f0", "ens1f1"],
      parameters: { miimon: "100" },
      mtu: 9000,
      macAddress: from("ens1f0"),
    });
    expect(at(data, "links.vlans.0")).toEqual({
      id: "bond0.220",
      vlanID: 220,
      vlanLink: "bond0",
      mtu: 9000,
      macAddress: from("ens1f0"),
    });
    expect(at(data, "networks.ipv6.0")).toEqual({
      id: "cluster6",
      link: "bond0",
      ipAddressFromIPPool: "cluster6",
      routes: [{ network: "::", prefix: 0, gateway: { string: "2001:db8:20::1" } }],
    });
    expect(at(data, "networks.ipv4.2.routes.0")).toEqual({
      network: "10.23.0.0",
      prefix: 16,
      gateway: { string: "10.22.0.1" },
    });
    expect(at(of("BareMetalHost compute-compute-00"), "metadata.annotations")).toEqual({
      "nodeippool.nmstate.io/mac-eno1": "52:54:00:02:00:00",
      "nodeippool.nmstate.io/mac-ens1f0": "52:54:00:02:00:01",
      "nodeippool.nmstate.io/mac-ens1f1": "52:54:00:02:00:02",
    });
  });

  it("a literal address in the template of a unit is an issue", () => {
    const text = exampleText("seed.yaml").replace("{{ ip['net1']}}", "10.9.9.9/24");
    expect(() => objectsOfInfra(infraOf(text), clusters.pools)).toThrow("10.9.9.9 is of no network");
  });
});
