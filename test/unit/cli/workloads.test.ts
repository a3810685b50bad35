import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { parsePodNetworks } from "../../../integrations/workload/pod-networks.ts";
import { asBag, type Bag } from "../../../schema/objects.ts";
import { done, refused } from "../../support/cli/outcome.ts";
import { definition, macvlanNetwork } from "../../support/objects/vm-objects.ts";
import { defaultKey, networksKey } from "../../support/objects/workload-objects.ts";
import { cli, folderOf } from "../../support/schema/cli.ts";

const pool = (name: string, cidr: string, more: Bag = {}) => ({
  apiVersion: "nmstate.io/v1",
  kind: "NodeIPPool",
  metadata: { name },
  spec: { range: { cidr }, ...more } as Bag,
});

function statefulSet(networks: string, spec: Bag = {}, name = "web"): Bag {
  const template = { metadata: { annotations: { "k8s.v1.cni.cncf.io/networks": networks } }, spec: {} };
  return { apiVersion: "apps/v1", kind: "StatefulSet", metadata: { name }, spec: { template, ...spec } };
}

const textOf = (objects: readonly Bag[]) => objects.map((one) => JSON.stringify(one)).join("\n---\n");
const base = [pool("lan", "10.0.0.0/24"), pool("six", "fd00::/64"), macvlanNetwork("red", "lan, six")];
const folderWith = (...objects: readonly Bag[]) => folderOf({ "m/all.yaml": textOf([...base, ...objects]) });

/** `web-0 net1 10.0.0.1/24 fd00::1/64` of each pod's network that is told addresses. */
async function told(folder: string): Promise<string[]> {
  const objects = parseAllDocuments(await done(folder, "render", "m")).map((document) => document.toJS());
  return objects
    .filter(({ kind }) => kind === "ConfigMap")
    .flatMap(({ data: { nodes: _, ...pods } }) =>
      Object.entries(pods).flatMap(([name, text]) =>
        JSON.parse(`${text}`).map((one: Bag) => [name, one.interface, ...((one.ips ?? []) as string[])].join(" ")),
      ),
    );
}

describe("StatefulSets of a folder", () => {
  it("S3: each pod has an address of each family, by its index", async () => {
    const folder = folderWith(statefulSet("red", { replicas: 2, ordinals: { start: 5 } }));
    await done(folder, "allocate", "m");
    expect(await told(folder)).toEqual(["web-5 net1 10.0.0.1/24 fd00::1/64", "web-6 net1 10.0.0.2/24 fd00::2/64"]);
    await done(folder, "render", "m", "--out", "r");
    expect(await done(folder, "audit", "r", "m")).toContain("4 addresses checked, 0 findings");
  });

  it("S3, S10: keep them when others come and go, and when they are scaled in and out", async () => {
    const folder = folderWith(statefulSet("red", { replicas: 3 }));
    const write = (...sets: Bag[]) => writeFileSync(join(folder, "m/all.yaml"), textOf([...base, ...sets]));
    await done(folder, "allocate", "m");
    write(statefulSet("red", { replicas: 2 }), statefulSet("red", { replicas: 1 }, "app"));
    await done(folder, "allocate", "m");
    const kept = ["web-0 net1 10.0.0.1/24 fd00::1/64", "web-1 net1 10.0.0.2/24 fd00::2/64"];
    expect(await told(folder)).toEqual([...kept, "app-0 net1 10.0.0.4/24 fd00::4/64"]);
    expect((await cli(["render", "m"], folder)).stderr).toContain(
      "Once no pod has it in its annotations (kubectl get pods -A -o yaml)",
    );
    write(statefulSet("red", { replicas: 4 }));
    await done(folder, "allocate", "m");
    expect((await told(folder)).slice(2)).toEqual([
      "web-2 net1 10.0.0.3/24 fd00::3/64",
      "web-3 net1 10.0.0.5/24 fd00::5/64",
    ]);
  });

  it("S4, I15: several NICs have an address each, also of one pool; other networks stay as they are", async () => {
    const other = definition("blue", "default", { name: "blue", type: "macvlan" });
    const networks = JSON.stringify([
      { name: "red" },
      { name: "blue", mac: "02:00:00:00:00:01" },
      { name: "red", interface: "eth9" },
    ]);
    const folder = folderWith(other, statefulSet(networks));
    await done(folder, "allocate", "m");
    expect(await told(folder)).toEqual([
      "web-0 net1 10.0.0.2/24 fd00::2/64",
      "web-0 ",
      "web-0 eth9 10.0.0.1/24 fd00::1/64",
    ]);
  });

  it("eth0 has one, too, where the template says its network, and stands by itself", async () => {
    const template = (annotations: Bag) => ({ replicas: 1, template: { metadata: { annotations }, spec: {} } });
    const folder = folderWith(
      macvlanNetwork("eth", "lan", "kube-system"),
      statefulSet("", template({ [defaultKey]: "eth", [networksKey]: "red" })),
      statefulSet("", template({ [defaultKey]: "eth" }), "one"),
      statefulSet("", template({ [defaultKey]: "flannel", [networksKey]: "red" }), "old"),
    );
    await done(folder, "allocate", "m");
    expect(await told(folder)).toEqual([
      "web-0.default-network eth0 10.0.0.3/24",
      "web-0 net1 10.0.0.4/24 fd00::2/64",
      "one-0.default-network eth0 10.0.0.2/24",
      "old-0.default-network ",
      "old-0 net1 10.0.0.1/24 fd00::1/64",
    ]);
    expect(await done(folder, "explain", "--workload", "m/all.yaml", "--pools", "m")).toContain(
      "eth0 (kube-system/eth)",
    );
    await done(folder, "render", "m", "--out", "r");
    expect(await done(folder, "audit", "r", "m")).toContain("6 addresses checked, 0 findings");
  });

  it("an address that is reserved for a pod is the pod's", async () => {
    const reservations = [{ address: "10.0.0.9", owner: "StatefulSet/default:web", claim: "1/net1" }];
    const objects = [
      pool("lan", "10.0.0.0/24", { reservations }),
      macvlanNetwork("red", "lan"),
      statefulSet("red", { replicas: 2 }),
    ];
    const folder = folderOf({ "m/all.yaml": textOf(objects) });
    await done(folder, "allocate", "m");
    expect(await told(folder)).toEqual(["web-0 net1 10.0.0.1/24", "web-1 net1 10.0.0.9/24"]);
  });

  it("S5: each pod that a Deployment may have at once has an address; the controller tells them apart", async () => {
    const deployment = (spec: Bag, name = "web") => ({ ...statefulSet("red", spec, name), kind: "Deployment" });
    const rollingUpdate = { maxSurge: 2 };
    const folder = folderWith(
      deployment({ replicas: 2 }),
      deployment({ replicas: 1, strategy: { type: "Recreate" } }, "one"),
      deployment({ strategy: { rollingUpdate } }, "two"),
    );
    await done(folder, "allocate", "m");
    const lines = await told(folder);
    expect(lines.map((line) => line.split(" ")[0])).toEqual(["0", "1", "2", "0", "0", "1", "2"]);
    expect(new Set(lines.map((line) => line.split(" ")[2])).size).toBe(7);
    const text = await done(folder, "render", "m");
    for (const words of ["name: nodeippool-deployment.web", "nodeippool.nmstate.io/addresses: gated"])
      expect(text).toContain(words);
    await done(folder, "render", "m", "--out", "r");
    expect(await done(folder, "audit", "r", "m")).toContain("14 addresses checked, 0 findings");
  });

  it("one without such networks passes as it is, and so does what makes pods otherwise", async () => {
    const { spec } = statefulSet("red") as { spec: Bag };
    const template = { metadata: { annotations: { "v1.multus-cni.io/default-network": "red" } }, spec: {} };
    const plain = [
      statefulSet("other"),
      { apiVersion: "apps/v1", kind: "StatefulSet", metadata: { name: "eth0" }, spec: { template } },
      { apiVersion: "apps/v1", kind: "DaemonSet", metadata: { name: "d" }, spec },
      { apiVersion: "batch/v1", kind: "Job", metadata: { name: "j" }, spec },
      { apiVersion: "v1", kind: "Pod", ...(spec.template as Bag) },
      { apiVersion: "apps/v1", kind: "StatefulSet", metadata: { name: "x" }, spec: {} },
    ];
    const folder = folderWith(...plain);
    await done(folder, "render", "m", "--out", "r");
    expect(await done(folder, "render", "m")).toContain(plain.map((one) => JSON.stringify(one)).join("\n---\n"));
  });

  it.each<[string, Bag[], string]>([
    [
      "ips in the template",
      [statefulSet('[{"name": "red", "ips": ["10.0.0.7/24"]}]')],
      "which all pods of the set would have",
    ],
    ["text that is no JSON", [statefulSet('[{"name": "red"')], "the networks of a pod are no JSON"],
    ["a network without a name", [statefulSet('[{"name": "red"}, {}]')], "a network of a pod needs a name"],
    [
      "two default networks",
      [statefulSet("", { template: { metadata: { annotations: { [defaultKey]: "red, red" } } } })],
      "a pod has one default network",
    ],
    ...[
      ["ippools", '{"ipv4": ["lan"]}', "annotation ipam.spidernet.io/ippools is no list"],
      ["ippool", '[{"ipv4": ["lan"]}]', "annotation ipam.spidernet.io/ippool has no list of names"],
    ].map(([name, text, message]): [string, Bag[], string] => [
      `${name} that says ${text}`,
      [
        statefulSet("", {
          template: { metadata: { annotations: { [networksKey]: "red", [`ipam.spidernet.io/${name}`]: text } } },
        }),
      ],
      `${message}`,
    ]),
    ["a number of pods that is none", [statefulSet("red", { replicas: -1 })], "replicas must be a number"],
    [
      "a surge that is none",
      [{ ...statefulSet("red", { strategy: { rollingUpdate: { maxSurge: "x" } } }), kind: "Deployment" }],
      "maxSurge must be a number or a percentage",
    ],
    [
      "a network that takes no addresses",
      [
        definition("dhcp", "default", { name: "dhcp", type: "macvlan" }, { "nodeippool.nmstate.io/pool": "lan" }),
        statefulSet("dhcp"),
      ],
      "NetworkAttachmentDefinition default/dhcp takes no addresses",
    ],
  ])("%s is an error with its place", async (_, objects, message) => {
    const said = await refused(folderWith(...objects), "plan", "m");
    expect(said).toContain(message);
    expect(said).toMatch(/m\/all\.yaml:\d+/);
  });
});

describe("networks of a pod", () => {
  it.each([
    ["lan", ["shop/lan net1"]],
    ["lan, other/wan@eth5,lan", ["shop/lan net1", "other/wan eth5", "shop/lan net3"]],
    ['[{"name": "lan", "namespace": "x", "interface": "a"}, {"name": "lan"}]', ["x/lan a", "shop/lan net2"]],
    [" [] ", []],
    ["", []],
    ['[{"name": "lan", "interfaceRequest": "eth7"}]', ["shop/lan eth7"]],
    ['[{"name": "lan", "interface": "eth5", "interfaceRequest": "eth7"}]', ["shop/lan eth5"]],
    ['[{"name": "lan", "namespace": "", "interface": ""}, {"name": "lan"}]', ["shop/lan net1", "shop/lan net2"]],
    [" x / lan @ eth5 , lan", ["x/lan eth5", "shop/lan net2"]],
    ['{"name": "lan"}', []],
    ['"lan"', []],
  ])("%s", (text, want) => {
    const { value = [] } = parsePodNetworks({ [networksKey]: text }, "shop");
    expect(value.map(({ definition: of, nic }) => `${of} ${nic}`)).toEqual(want);
    expect(asBag(value[0]?.element)?.name).toBe(want.length === 0 ? undefined : "lan");
  });

  it.each([
    ["lan", ["kube-system/lan eth0", "shop/red net1"]],
    ["shop/lan", ["shop/lan eth0", "shop/red net1"]],
    ['[{"name": "lan", "interface": "eth5"}]', ["kube-system/lan eth5", "shop/red net1"]],
    ["lan, lan", undefined],
    ["[]", undefined],
    ["", undefined],
  ])("with default network %s", (text, want) => {
    const { value } = parsePodNetworks({ [networksKey]: "red", [defaultKey]: text }, "shop");
    expect(value?.map(({ definition: of, nic }) => `${of} ${nic}`)).toEqual(want);
  });
});

describe("pools that are selected", () => {
  const rack = (name: string) => ({ nodeAffinity: { matchLabels: { rack: name } } });
  const template = (annotations: Bag, spec: Bag = {}, labels: Bag = {}) => ({
    template: { metadata: { labels, annotations: { "k8s.v1.cni.cncf.io/networks": "red", ...annotations } }, spec },
  });
  const small = { range: { cidr: "10.1.0.0/24", start: "10.1.0.1", end: "10.1.0.2" }, ...rack("a") };
  const pools = [
    pool("rack-a", "", small),
    pool("rack-b", "10.2.0.0/24", rack("b")),
    pool("gold", "10.3.0.0/24", { podAffinity: { matchLabels: { app: "gold" } } }),
    pool("ns", "10.4.0.0/24", { namespaceAffinity: { matchLabels: { tier: "gold" } } }),
    pool("any", "10.5.0.0/24", { default: true }),
  ];
  const namespace = (labels: Bag, annotations: Bag = {}) => ({
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: "default", labels, annotations },
  });
  const unbound = definition("red", "default", {
    name: "red",
    plugins: [{ type: "macvlan", master: "eth1", capabilities: { ips: true }, ipam: { type: "static" } }],
  });
  const web = (annotations: Bag, labels: Bag = {}, replicas = 1) => ({
    ...statefulSet("red", { replicas, ...template(annotations, {}, labels) }),
  });
  const folderOfAll = (...objects: Bag[]) => folderOf({ "m/all.yaml": textOf([...pools, ...objects]) });

  it.each<[string, Bag[], string[]]>([
    ["S13: ippool of Spiderpool", [unbound, web({ "ipam.spidernet.io/ippool": '{"ipv4": ["rack-b"]}' })], ["10.2.0.1"]],
    ["S12: subnet of Spiderpool", [unbound, web({ "ipam.spidernet.io/subnet": '{"ipv4": ["rack-b"]}' })], ["10.2.0.1"]],
    [
      "S15: the namespace",
      [unbound, namespace({}, { "ipam.spidernet.io/default-ipv4-ippool": '["rack-b"]' }), web({})],
      ["10.2.0.1"],
    ],
    ["S16: the network, in its order", [macvlanNetwork("red", "rack-b, rack-a"), web({})], ["10.2.0.1"]],
    ["the network, with wildcards", [macvlanNetwork("red", "rack-[bc], n?"), web({})], ["10.2.0.1"]],
    ["S17: the cluster", [unbound, web({})], ["10.5.0.1"]],
    [
      "S28: a pool for these pods comes first",
      [macvlanNetwork("red", "any, gold"), web({}, { app: "gold" })],
      ["10.3.0.1"],
    ],
    ["S22: one for other pods is left out", [macvlanNetwork("red", "any, gold"), web({})], ["10.5.0.1"]],
    [
      "S21: a pool for this namespace",
      [macvlanNetwork("red", "any, ns"), namespace({ tier: "gold" }), web({})],
      ["10.4.0.1"],
    ],
    [
      "S34: pools are used up one by one",
      [macvlanNetwork("red", "rack-a, rack-b"), web({}, {}, 3)],
      ["10.1.0.1", "10.1.0.2", "10.2.0.1"],
    ],
  ])("%s", async (_, objects, want) => {
    const folder = folderOfAll(...objects);
    await done(folder, "allocate", "m");
    expect((await told(folder)).map((one) => /(10\.\S+)\/24/.exec(one)?.[1])).toEqual(want);
  });

  it("S20: pods with addresses for certain nodes say so, and wait for the controller", async () => {
    const folder = folderOfAll(macvlanNetwork("red", "rack-b"), web({}));
    await done(folder, "allocate", "m");
    const objects = parseAllDocuments(await done(folder, "render", "m")).map((document) => document.toJS());
    const [map, set] = ["ConfigMap", "StatefulSet"].map((kind) => objects.find((one) => one.kind === kind));
    expect(JSON.parse(map.data.nodes)).toEqual({ "web-0": [{ key: "rack", operator: "In", values: ["b"] }] });
    expect(set.spec.template.metadata.labels["nodeippool.nmstate.io/addresses"]).toBe("gated");
  });

  it("S33, I13: what pools say now moves nobody, and who is new goes by it", async () => {
    const network = macvlanNetwork("red", "rack-a, any");
    const folder = folderOfAll(network, web({}));
    await done(folder, "allocate", "m");
    const changed = pools.map((one) =>
      one.metadata.name === "rack-a" ? pool("rack-a", "", { ...small, disable: true }) : one,
    );
    writeFileSync(join(folder, "m/all.yaml"), textOf([...changed, network, web({}, {}, 2)]));
    await done(folder, "allocate", "m");
    expect(await told(folder)).toEqual(["web-0 net1 10.1.0.1/24", "web-1 net1 10.5.0.1/24"]);
  });

  it("S20: nodes that the template selects decide which pools are tried, as far as it names their labels", async () => {
    const spec = { template: { spec: { nodeSelector: { rack: "b", disk: "ssd" } } } };
    const named = pool("n1", "10.6.0.0/24", { nodeName: ["n1"] });
    const { template: own, ...rest } = web({}).spec as { template: Bag };
    const set = { ...web({}), spec: { ...rest, template: { ...own, ...spec.template } } };
    const network = macvlanNetwork("red", "rack-a, rack-b, n1");
    const folder = folderOf({ "m/all.yaml": textOf([...pools, named, network, set]) });
    await done(folder, "allocate", "m");
    expect(await told(folder)).toEqual(["web-0 net1 10.6.0.1/24"]);
    const table = await done(folder, "explain", "--workload", "m/all.yaml", "--pools", "m");
    expect(table).toContain("-  rack-a  network   dropped: it is not for nodes with rack=b,disk=ssd");
  });

  it.each<[string, Bag[], string]>([
    [
      "a pool of IPv6 that is named for IPv4",
      [pool("six", "fd00::/64"), unbound, web({ "ipam.spidernet.io/ippool": '{"ipv4": ["six"]}' })],
      "no pool serves it: six dropped: it has no IPv4",
    ],
    [
      "a pool that is not there",
      [unbound, web({ "ipam.spidernet.io/ippool": '{"ipv4": ["rack"]}' })],
      "there is no NodeIPPool rack to take addresses from",
    ],
    [
      "pools that are all for others",
      [unbound, web({ "ipam.spidernet.io/ippool": '{"ipv4": ["gold"]}' })],
      "no pool serves it: gold dropped: it is not for pods with these labels",
    ],
    [
      "one pool of one rack, and one of another, on two networks",
      [macvlanNetwork("red", "rack-a"), macvlanNetwork("blue", "rack-b"), statefulSet("red, blue")],
      "web/0/net1 in pool rack-a: none of its pools that have room is for the same nodes as those of its other addresses",
    ],
    [
      "IPv4 of one rack, and IPv6 of another",
      [pool("six", "fd00::/64", rack("b")), macvlanNetwork("red", "rack-a, six"), statefulSet("red")],
      "none of its pools that have room is for the same nodes as those of its other addresses",
    ],
    [
      "pods that name pools, on no network that takes addresses",
      [statefulSet("blue", template({ "nodeippool.nmstate.io/pool": "any" }))],
      "none of their networks takes addresses",
    ],
  ])("%s is an error", async (_, objects, message) => {
    expect(await refused(folderOfAll(...objects), "allocate", "m")).toContain(message);
  });

  it("are explained as a table", async () => {
    const network = macvlanNetwork("red", "any, gold, rack-b, rack-a");
    const folder = folderOf({ "m/all.yaml": textOf([...pools, network]), "web.yaml": textOf([web({}, {}, 2)]) });
    expect(await done(folder, "explain", "--workload", "web.yaml", "--pools", "m")).toBe(`\
StatefulSet/default:web  net1 (default/red)  IPv4
  #  POOL    NAMED BY  WHY
  1  rack-b  network   nodeAffinity
  2  rack-a  network   nodeAffinity
  3  any     network
  -  any     cluster   not asked: pools of the network come first
  -  gold    network   dropped: it is not for pods with these labels
`);
    expect(await refused(folder, "explain")).toContain("explain needs one thing to explain");
  });
});
