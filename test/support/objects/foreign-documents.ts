import type { Bag } from "../../../schema/objects.ts";
import { defaultKey, networksKey } from "./workload-objects.ts";

/** A document that other programs read, and that names no pool of ours. */
export interface ForeignDocument {
  readonly what: string;
  readonly text: string;
  /** Does an API server with the kinds of Kubernetes, Multus and KubeVirt take it? */
  readonly isTaken: boolean;
}

const textOf = (object: Bag) => `${JSON.stringify(object, undefined, 1)}\n`;

const template = (annotations: unknown): Bag => ({
  metadata: { labels: { a: "b" }, annotations },
  spec: { containers: [{ name: "c", image: "i" }] },
});

function workload(kind: string, annotations: unknown, spec: Bag = {}, metadata: Bag = {}): Bag {
  const own = { selector: { matchLabels: { a: "b" } }, template: template(annotations), ...spec };
  return { apiVersion: "apps/v1", kind, metadata: { name: "theirs", namespace: "default", ...metadata }, spec: own };
}

const set = (networks: unknown, spec: Bag = {}, metadata: Bag = {}) =>
  workload("StatefulSet", { [networksKey]: networks }, { serviceName: "s", ...spec }, metadata);

function network(config: unknown, name = "theirs", metadata: Bag = {}): Bag {
  const text = typeof config === "string" || config === undefined ? config : JSON.stringify(config);
  return {
    apiVersion: "k8s.cni.cncf.io/v1",
    kind: "NetworkAttachmentDefinition",
    metadata: { name, namespace: "default", ...metadata },
    spec: text === undefined ? {} : { config: text },
  };
}

/** Texts of the annotation with the networks of a pod, valid and not. */
export const networkTexts: readonly string[] = [
  "",
  " ",
  "lan",
  "lan,wan",
  " lan , wan ",
  "lan,lan,lan",
  "shop/lan",
  "shop/lan@eth5",
  "lan@eth1,lan@eth2",
  "lan@eth1,lan@eth1",
  "shop / lan @ eth5",
  "a/b/c",
  "a@b@c",
  "lan@",
  "@eth1",
  ",",
  "lan,,wan",
  "LAN",
  "null",
  "[]",
  " [ ] ",
  '[{"name":"lan"}]',
  '\n[\n {"name": "lan"},\n {"name": "wan", "namespace": "shop"}\n]\n',
  '[{"name":"lan","namespace":"shop","interface":"eth5"}]',
  '[{"name":"lan","interfaceRequest":"eth7"}]',
  '[{"name":"lan","namespace":"","interface":""}]',
  '[{"name":"lan","namespace":null,"interface":null}]',
  '[{"name":"lan","ips":["10.9.9.9/24"]}]',
  '[{"name":"lan","ips":["10.9.9.9"]}]',
  '[{"name":"lan","ips":["10.9.9.9/24","fd99::9/64"]}]',
  '[{"name":"lan","ips":[]}]',
  '[{"name":"lan","ips":null}]',
  '[{"name":"lan","ips":["ten"]}]',
  '[{"name":"lan","ips":"10.9.9.9"}]',
  '[{"name":"lan","mac":"02:00:00:00:00:01"}]',
  '[{"name":"lan","mac":"zz"}]',
  '[{"name":"lan","infiniband-guid":"c2:11:22:33:44:55:66:77"}]',
  '[{"name":"lan","cni-args":{"a":{"b":[1,null]}}}]',
  '[{"name":"lan","default-route":["10.9.9.1"]}]',
  '[{"name":"lan","bandwidth":{"ingressRate":1},"portMappings":[{"hostPort":80,"containerPort":80}]}]',
  '[{"name":"lan","ipam-claim-reference":"somebody"}]',
  '[{"name":"lan","interface":"eth1"},{"name":"wan","interface":"eth1"}]',
  '[{"Name":"lan","Namespace":"shop"}]',
  '[{"name":"lan","unknown":{}}]',
  "[{}]",
  "[null]",
  "[[]]",
  '["lan"]',
  '[{"name":5}]',
  '[{"name":""}]',
  '{"name":"lan"}',
  '"lan"',
  "[{",
  "[{'name':'lan'}]",
  '[{"name":"lan"}] trailing',
  "$(NETWORKS)",
];

/** Objects that the API server takes, by what they are. */
const taken: Readonly<Record<string, Bag>> = {
  ...Object.fromEntries(networkTexts.map((text) => [`a StatefulSet on ${JSON.stringify(text)}`, set(text)])),
  "a Deployment on networks that are no JSON": workload("Deployment", { [networksKey]: "[{" }),
  "a DaemonSet on networks": workload("DaemonSet", { [networksKey]: "lan@eth1" }),
  "a ReplicaSet on networks that are no JSON": workload("ReplicaSet", { [networksKey]: "[{" }),
  "a Pod on networks that are no JSON": {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "theirs", namespace: "default", annotations: { [networksKey]: "[{" } },
    spec: { containers: [{ name: "c", image: "i" }] },
  },
  "an annotation of 200 KB": set(`[{"name":"lan","cni-args":{"x":"${"x".repeat(200_000)}"}}]`),
  "null as networks": set(null),
  ...Object.fromEntries(
    ["lan", "kube-system/lan", "", "a,b", '[{"name":"lan"}]', "[", "[]", "a/b/c"].map((text) => [
      `default network ${JSON.stringify(text)}`,
      workload("StatefulSet", { [defaultKey]: text }, { serviceName: "s" }),
    ]),
  ),
  "replicas null": set("lan", { replicas: null }),
  "replicas 0": set("lan", { replicas: 0 }),
  "replicas beyond what a ConfigMap holds": set("lan", { replicas: 20_000 }),
  "ordinals null": set("lan", { ordinals: null }),
  "a name of 80 characters": workload("Deployment", { [networksKey]: "lan" }, {}, { name: "n".repeat(80) }),
  generateName: set("[{", {}, { name: undefined, generateName: "theirs-" }),
  "an empty namespace": set("lan", {}, { namespace: "" }),
  "a null namespace, labels and annotations": set("[{", {}, { namespace: null, labels: null, annotations: null }),
  "a strategy null": workload("Deployment", { [networksKey]: "lan" }, { strategy: null }),
  "a surge null": workload("Deployment", { [networksKey]: "lan" }, { strategy: { rollingUpdate: null } }),
  "annotations null": workload("Deployment", null),
  "metadata of every kind": set("[{", {}, { finalizers: ["a/b"], labels: {}, annotations: { "a/b": "{}" } }),
  "pools of Spiderpool": workload("Deployment", {
    [networksKey]: "kube-system/macvlan-ens192",
    "ipam.spidernet.io/ippool": '{"ipv4": ["custom-ipv4-ippool"]}',
  }),
  "pools of Spiderpool by interface, one twice": workload("Deployment", {
    [networksKey]: "kube-system/macvlan-ens192",
    "ipam.spidernet.io/ippools": '[{"interface":"eth0","ipv4":["a"]},{"interface":"eth0","ipv4":["b"]}]',
  }),
  "subnets of Spiderpool": workload("Deployment", {
    "ipam.spidernet.io/subnets": '[{"interface":"eth0","ipv4":["subnet-demo-v4"],"ipv6":["subnet-demo-v6"]}]',
    [defaultKey]: "kube-system/macvlan-conf",
  }),
  "annotations of Spiderpool that are no JSON": workload("Deployment", {
    [networksKey]: "theirs",
    "ipam.spidernet.io/ippool": "{",
    "ipam.spidernet.io/ippool-ip-number": "many",
  }),
  "a namespace with pools of Spiderpool": {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: "theirs", annotations: { "ipam.spidernet.io/default-ipv4-ippool": '["ns-v4"]' } },
  },
  "a namespace with pools that are no JSON": {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: "theirs", annotations: { "ipam.spidernet.io/default-ipv4-ippool": "ns-v4" } },
  },
};

const ovn = (more: Bag): Bag => ({
  cniVersion: "0.3.1",
  name: "theirs-net",
  type: "ovn-k8s-cni-overlay",
  netAttachDefName: "default/theirs",
  ...more,
});
const cni = (type: string, ipam?: Bag, more: Bag = {}): Bag => ({
  ...{ cniVersion: "0.3.1", name: "theirs-net", type, master: "eth1", ...more },
  ...(ipam === undefined ? {} : { ipam }),
});
const overPersistent = { allowPersistentIPs: true };

/** What a NetworkAttachmentDefinition may have as its configuration. */
const configs: Readonly<Record<string, unknown>> = {
  "layer3 of OVN-Kubernetes": ovn({ topology: "layer3", subnets: "10.128.0.0/16/24,fd10::/48/64", mtu: 1300 }),
  "layer3, persistent": ovn({ topology: "layer3", subnets: "10.128.0.0/16/24", ...overPersistent }),
  layer2: ovn({ topology: "layer2", subnets: "10.99.0.0/24,fd99::/64", excludeSubnets: "10.99.0.0/29" }),
  "layer2 without subnets": ovn({ topology: "layer2" }),
  "layer2, persistent, without subnets": ovn({ topology: "layer2", ...overPersistent }),
  "layer2, persistent, with two subnets of IPv4": ovn({ subnets: "10.99.0.0/24,10.98.0.0/24", ...overPersistent }),
  "layer2, persistent, of one address": ovn({ topology: "layer2", subnets: "10.99.0.0/32", ...overPersistent }),
  "layer2, primary": ovn({ topology: "layer2", role: "primary", subnets: "10.99.0.0/16", ...overPersistent }),
  "layer2 with join subnets": ovn({ topology: "layer2", joinSubnet: "100.65.0.0/24", transitSubnet: "100.88.0.0/16" }),
  "localnet with a VLAN": ovn({ topology: "localnet", vlanID: 33, physicalNetworkName: "physnet" }),
  "localnet, persistent, not of IP": ovn({ topology: "localnet", subnets: "none", ...overPersistent }),
  "persistent as a text": ovn({ topology: "layer2", subnets: "10.99.0.0/24", allowPersistentIPs: "true" }),
  "subnets as a list": ovn({ topology: "layer2", subnets: ["10.99.0.0/24"], ...overPersistent }),
  sriov: cni("sriov", { type: "host-local", subnet: "10.56.217.0/24", routes: [{ dst: "0.0.0.0/0" }] }, { vlan: 0 }),
  bridge: cni("bridge", { type: "host-local", ranges: [[{ subnet: "10.9.0.0/16" }]] }, { vlanTrunk: [{ id: 5 }] }),
  "cnv-bridge": cni("cnv-bridge", {}, { bridge: "br1", macspoofchk: true, preserveDefaultVlan: false }),
  "macvlan with dhcp": cni("macvlan", { type: "dhcp" }),
  "macvlan with a fixed address": cni("macvlan", { type: "static", addresses: [{ address: "10.9.9.9/24" }] }),
  "macvlan that takes ips": cni("macvlan", { type: "static" }, { capabilities: { ips: true } }),
  "macvlan that takes ips, in a list": {
    ...{ cniVersion: "1.0.0", name: "theirs-net" },
    plugins: [cni("macvlan", { type: "static" }, { capabilities: { ips: true } }), { type: "tuning" }],
  },
  "macvlan with whereabouts": cni("macvlan", { type: "whereabouts", range: "10.9.0.0/24", exclude: ["10.9.0.1/32"] }),
  "macvlan with several ranges of whereabouts": cni("macvlan", {
    type: "whereabouts",
    ipRanges: [{ range: "10.9.0.0-10.9.0.9/24" }, { range: "fd99::/64" }],
  }),
  "ipvlan with calico": cni("ipvlan", { type: "calico-ipam", ipv4_pools: ["default-ipv4-ippool"] }, { mode: "l3" }),
  "macvlan with spiderpool": cni("macvlan", { type: "spiderpool", default_ipv4_ippool: ["a"] }),
  "host-device": cni("host-device", undefined, { device: "eth9" }),
  "ib-sriov": cni("ib-sriov", undefined, { rdmaIsolation: true, link_state: "auto" }),
  "vlan with null in it": cni("vlan", { type: null }, { vlanId: 7, capabilities: null }),
  "a list without plugins": { cniVersion: "1.0.0", name: "theirs-net", plugins: [] },
  "plugins that are no list": { cniVersion: "1.0.0", name: "theirs-net", plugins: {} },
  "plugins that are no objects": { cniVersion: "1.0.0", plugins: [null, "x", 5] },
  "a list as the configuration": [1, 2],
  "no JSON": '{"type": "macvlan",',
  "no JSON, and ips": '{"type": "macvlan", "capabilities": {"ips": true}',
  "no JSON, persistent": '{"type": "ovn-k8s-cni-overlay", "allowPersistentIPs": true,',
  "JSON with comments": '{"type": "macvlan" /* x */}',
  empty: "",
  blank: " \n",
  "a template": '{"type": "{{TYPE}}", "master": "$MASTER"}',
  none: undefined,
};

const vmi = (networks: readonly Bag[], interfaces: readonly Bag[], more: Bag = {}): Bag => ({
  ...{ domain: { devices: { interfaces }, resources: { requests: { memory: "1Gi" } } }, networks },
  ...more,
});
const machine = (spec: Bag, annotations: unknown = {}, metadata: Bag = {}): Bag => ({
  apiVersion: "kubevirt.io/v1",
  kind: "VirtualMachine",
  metadata: { name: "theirs", namespace: "default", ...metadata },
  spec: { runStrategy: "Halted", template: { metadata: { annotations }, spec } },
});
const secondary = { name: "net1", multus: { networkName: "theirs" } };
const bridged = { name: "net1", bridge: {} };
const disk = (volume: Bag): Bag => {
  const devices = { disks: [{ name: "d", disk: { bus: "virtio" } }], interfaces: [bridged] };
  return { domain: { devices }, networks: [secondary], volumes: [{ name: "d", ...volume }] };
};
const addresses = "network.kubevirt.io/addresses";

/** VMs of KubeVirt. */
const machines: Readonly<Record<string, Bag>> = {
  "on the pod network": machine(vmi([{ name: "default", pod: {} }], [{ name: "default", masquerade: {} }])),
  "on the pod network of another range": machine(
    vmi([{ name: "default", pod: { vmNetworkCIDR: "10.11.12.0/24" } }], [{ name: "default", masquerade: {} }]),
  ),
  "on a bridge": machine(vmi([secondary], [bridged])),
  "on SR-IOV": machine(vmi([secondary], [{ name: "net1", sriov: {} }])),
  "on a plugin of the binding": machine(vmi([secondary], [{ name: "net1", binding: { name: "l2bridge" } }])),
  "in the place of the pod network": machine(
    vmi([{ name: "net1", multus: { networkName: "x/y", default: true } }], [bridged]),
  ),
  "being unplugged": machine(vmi([secondary], [{ ...bridged, state: "absent" }])),
  "with a MAC address and ports": machine(
    vmi([secondary], [{ ...bridged, macAddress: "02:00:00:00:00:01", model: "virtio", ports: [{ port: 80 }] }]),
  ),
  "without networks": machine(vmi([], [])),
  "with addresses that are no JSON": machine(vmi([secondary], [bridged]), { [addresses]: "10.9.9.9" }),
  "with addresses with a prefix length": machine(vmi([secondary], [bridged]), {
    [addresses]: '{"net1": ["10.9.9.9/24"]}',
  }),
  "with addresses for another network": machine(vmi([secondary], [bridged]), { [addresses]: '{"net9": ["10.9.9.9"]}' }),
  "with addresses that are none": machine(vmi([secondary], [bridged]), { [addresses]: '{"net1": ["ten", 5, null]}' }),
  "with addresses null": machine(vmi([secondary], [bridged]), { [addresses]: null }),
  "with a generated name": machine(vmi([secondary], [bridged]), {}, { name: undefined, generateName: "theirs-" }),
  "of an instance type": {
    ...machine(vmi([secondary], [bridged])),
    ...{
      spec: {
        runStrategy: "Halted",
        instancetype: { name: "u1.small" },
        template: { spec: { networks: [secondary], domain: { devices: { interfaces: [bridged] } } } },
      },
    },
  },
  "with a container disk": machine(disk({ containerDisk: { image: "quay.io/x/y" } })),
  "with a data volume": machine(disk({ dataVolume: { name: "dv", hotpluggable: true } })),
  "with a claim": machine(disk({ persistentVolumeClaim: { claimName: "c" } })),
  "with cloud-init and network data": machine(
    disk({
      cloudInitNoCloud: {
        userData: "#cloud-config\n",
        networkData: "version: 2\nethernets: {eth0: {addresses: [10.9.9.9/24]}}\n",
      },
    }),
  ),
  "with a config drive": machine(disk({ cloudInitConfigDrive: { userData: "#!/bin/sh\n" } })),
  "with an empty disk": machine(disk({ emptyDisk: { capacity: "2Gi" } })),
  "with a host disk": machine(disk({ hostDisk: { path: "/x", type: "DiskOrCreate", capacity: "1Gi" } })),
  "with a ConfigMap": machine(disk({ configMap: { name: "c" } })),
  "with a Secret": machine(disk({ secret: { secretName: "s" } })),
  "with a service account": machine(disk({ serviceAccount: { serviceAccountName: "s" } })),
  "with sysprep": machine(disk({ sysprep: { secret: { name: "s" } } })),
  "with memory dump": machine(disk({ memoryDump: { claimName: "c" } })),
  "with downward metrics": machine(disk({ downwardMetrics: {} })),
  "an instance alone": {
    apiVersion: "kubevirt.io/v1",
    kind: "VirtualMachineInstance",
    metadata: { name: "theirs", namespace: "default", annotations: { [addresses]: "{" } },
    spec: vmi([secondary], [bridged]),
  },
};

const claim = (spec: unknown, status?: unknown): Bag => ({
  apiVersion: "k8s.cni.cncf.io/v1alpha1",
  kind: "IPAMClaim",
  metadata: { name: "theirs.net1", namespace: "default" },
  ...{ spec, ...(status === undefined ? {} : { status }) },
});

const custom = (apiVersion: string, kind: string, spec: unknown, metadata: Bag = {}): Bag => ({
  ...{ apiVersion, kind, metadata: { name: "theirs", ...metadata }, spec },
});

/** Objects of kinds that our API server does not have, or does not take. */
const others: Readonly<Record<string, Bag>> = {
  "an IPAMClaim of another network": claim({ network: "another-net", interface: "net1" }, { ips: ["10.9.9.9/24"] }),
  "an IPAMClaim with ips without length": claim(
    { network: "another-net", interface: "net1" },
    { ips: ["10.9.9.9", "ten"] },
  ),
  "an IPAMClaim without a network": claim({ interface: "net1" }),
  "an IPAMClaim without a spec": claim(null, null),
  "a workload without a template": workload("StatefulSet", {}, { template: null }),
  "a workload whose networks are a number": set(5),
  "a workload whose networks are an object": set({ name: "lan" }),
  "replicas as a text": set("lan", { replicas: "three" }),
  "a surge that is none": workload(
    "Deployment",
    { [networksKey]: "lan" },
    { strategy: { rollingUpdate: { maxSurge: "x" } } },
  ),
  "ordinals that are none": set("lan", { ordinals: { start: "x" } }),
  "a VM without a template": machine({}, {}, { name: null }),
  "a VM whose networks are no list": machine({ domain: {}, networks: "x" } as Bag),
  "a network without a spec": { ...network(""), spec: null },
  "a network whose config is an object": { ...network(""), spec: { config: { type: "macvlan" } } },
  "a SpiderIPPool": custom("spiderpool.spidernet.io/v2beta1", "SpiderIPPool", {
    ...{ ipVersion: 4, subnet: "10.9.0.0/16", ips: ["10.9.0.1-10.9.0.9"], gateway: "10.9.0.254", default: true },
  }),
  "a SpiderSubnet": custom("spiderpool.spidernet.io/v2beta1", "SpiderSubnet", { subnet: "10.9.0.0/16", ips: [] }),
  "a SpiderMultusConfig": custom("spiderpool.spidernet.io/v2beta1", "SpiderMultusConfig", {
    ...{ cniType: "macvlan", macvlan: { master: ["eth0"], ippools: { ipv4: ["a"] } } },
  }),
  "a SpiderReservedIP": custom("spiderpool.spidernet.io/v2beta1", "SpiderReservedIP", { ips: ["10.9.0.7"] }),
  "a SpiderCoordinator": custom("spiderpool.spidernet.io/v2beta1", "SpiderCoordinator", { mode: "auto" }),
  "an IPPool of whereabouts": custom("whereabouts.cni.cncf.io/v1alpha1", "IPPool", {
    range: "10.9.0.0/24",
    allocations: {},
  }),
  "an OverlappingRangeIPReservation": custom("whereabouts.cni.cncf.io/v1alpha1", "OverlappingRangeIPReservation", {
    podref: "a/b",
  }),
  "an IPPool of Metal3": custom("ipam.metal3.io/v1alpha1", "IPPool", {
    pools: [{ start: "10.9.0.1", end: "10.9.0.9" }],
  }),
  "an IPPool of Calico": custom("crd.projectcalico.org/v1", "IPPool", { cidr: "10.9.0.0/16", blockSize: 26 }),
  "a UserDefinedNetwork": custom("k8s.ovn.org/v1", "UserDefinedNetwork", {
    ...{
      topology: "Layer2",
      layer2: { role: "Secondary", subnets: ["10.9.0.0/24"], ipam: { lifecycle: "Persistent" } },
    },
  }),
  "a ClusterUserDefinedNetwork": custom("k8s.ovn.org/v1", "ClusterUserDefinedNetwork", {
    namespaceSelector: {},
    network: {},
  }),
  "an IPAddressClaim": custom("ipam.cluster.x-k8s.io/v1beta1", "IPAddressClaim", {
    poolRef: { kind: "InClusterIPPool", name: "a" },
  }),
  "a BareMetalHost": custom("metal3.io/v1alpha1", "BareMetalHost", {
    online: true,
    bmc: { address: "ipmi://10.9.0.1" },
  }),
  "a VirtualMachineInstanceReplicaSet": custom("kubevirt.io/v1", "VirtualMachineInstanceReplicaSet", {
    ...{
      replicas: 2,
      selector: {},
      template: { metadata: { annotations: { [addresses]: "{" } }, spec: vmi([secondary], [bridged]) },
    },
  }),
  "a VirtualMachinePool": custom("pool.kubevirt.io/v1alpha1", "VirtualMachinePool", {
    ...{ replicas: 2, virtualMachineTemplate: { spec: { template: { spec: vmi([secondary], [bridged]) } } } },
  }),
  "a template of OpenShift with a VM and a StatefulSet": {
    ...{ apiVersion: "template.openshift.io/v1", kind: "Template", metadata: { name: "t" } },
    objects: [machine(vmi([secondary], [bridged]), {}, { name: "$(NAME)" }), set("[{"), network("{")],
  },
  "a ManifestWork with a network": custom("work.open-cluster-management.io/v1", "ManifestWork", {
    workload: { manifests: [network(cni("macvlan", { type: "static" }, { capabilities: { ips: true } })), set("lan")] },
  }),
  "a Kustomization": {
    apiVersion: "kustomize.config.k8s.io/v1beta1",
    kind: "Kustomization",
    patches: [{ patch: "[{", target: { kind: "StatefulSet" } }],
  },
  "an Application": custom("argoproj.io/v1alpha1", "Application", { source: { helm: { values: "networks: '[{'" } } }),
  "a HelmRelease": custom("helm.toolkit.fluxcd.io/v2", "HelmRelease", {
    values: { podAnnotations: { [networksKey]: "[{" } },
  }),
  "a List with all of it": {
    apiVersion: "v1",
    kind: "List",
    items: [set("[{"), network("{"), machine(vmi([secondary], [bridged]))],
  },
  "a List without items": { apiVersion: "v1", kind: "List", items: null, metadata: null },
  "a List with null in it": { apiVersion: "v1", kind: "List", items: [null, 5, "x", []] },
  "a StatefulSetList whose items have no kind": {
    apiVersion: "apps/v1",
    kind: "StatefulSetList",
    items: [{ ...set("[{"), kind: undefined }],
  },
  "a part of a DeploymentList": {
    apiVersion: "apps/v1",
    kind: "DeploymentList",
    metadata: { continue: "x" },
    items: [workload("Deployment", { [networksKey]: "lan" })],
  },
  "a kind that ends like a List": { apiVersion: "x/v1", kind: "AllowList", items: ["a", "b"] },
  "metadata that is none": { apiVersion: "apps/v1", kind: "StatefulSet", metadata: "x", spec: [] },
  "an object without a kind": { apiVersion: "apps/v1", spec: template({ [networksKey]: "[{" }) },
};

const setText = (more = "", networks = "'[{'") => `apiVersion: apps/v1
kind: StatefulSet
metadata: {name: theirs, namespace: default}
spec:
  serviceName: s
  selector: {matchLabels: {a: b}}
  template:
    metadata:
      labels: {a: b}
      annotations:
        ${networksKey}: ${networks}
    spec:
      containers: [{name: c, image: i}]
${more}`;

/** Texts as they stand in files. */
const texts: Readonly<Record<string, [text: string, isTaken?: boolean]>> = {
  "octal numbers": [setText("      volumes: [{name: v, configMap: {name: c, defaultMode: 0755}}]\n"), true],
  "words of YAML 1.1": [setText("      hostIPC: no\n      hostNetwork: off\n"), true],
  "anchors and merge keys": [
    setText()
      .replace("{matchLabels: {a: b}}", "{matchLabels: &l {a: b}}")
      .replace("labels: {a: b}\n      annot", "labels:\n        <<: *l\n      annot"),
    true,
  ],
  "an alias of nothing": [setText("      volumes: *nowhere\n")],
  "a bomb of aliases": [
    setText(
      `      a: &a [x,x,x,x]\n      b: &b [*a,*a,*a,*a,*a,*a]\n      c: &c [*b,*b,*b,*b,*b,*b]\n      d: &d [*c,*c,*c,*c,*c,*c]\n      e: [*d,*d,*d,*d,*d,*d]\n`,
    ),
  ],
  tags: [setText("      hostname: !Ref x\n")],
  "a key twice": [setText("      hostname: a\n      hostname: b\n"), true],
  "Windows line ends": [setText().replaceAll("\n", "\r\n"), true],
  "a byte order mark": [`\uFEFF${setText()}`, true],
  "several documents, some empty": [`---\n${setText()}---\n---\n# nothing\n---\nkind: X\n---\n`],
  "the same twice": [`${setText()}---\n${setText("", "lan")}`, true],
  "a comment before the kind": [`# kind: NodeIPPool\n${setText()}`, true],
  "a chart of Helm": [
    setText(
      "{{- if .Values.more }}\n  replicas: {{ .Values.replicas }}\n{{- end }}\n",
      "{{ .Values.networks | quote }}",
    ),
  ],
  "a chart of Helm that is YAML": [setText("", '"{{ .Values.networks }}"')],
  "a template of Jinja": [setText("{% for x in y %}\n", "'{{ networks }}'")],
  "values of Helm": [`networks: '[{'\nkind: StatefulSet\npodAnnotations:\n  ${networksKey}: "[{"\n`],
  "YAML that is broken": [setText("      volumes: [{name: v\n")],
  tabs: [setText("\thostIPC: false\n")],
  "text that is no YAML": ["@ StatefulSet % } ] `\nkind: NetworkAttachmentDefinition\n"],
  "a network that is broken YAML": [
    `kind: NetworkAttachmentDefinition\napiVersion: k8s.cni.cncf.io/v1\nmetadata: {name: theirs\nspec: {config: '{"capabilities": {"ips": true}}'}\n`,
  ],
  "a VM with anchors": [
    `${textOf(machine(vmi([secondary], [bridged])))
      .replace('"networks": [', '"networks": &n [')
      .replace(/\n$/, "")}\n`,
  ],
  "a Secret with binary": ["apiVersion: v1\nkind: Secret\nmetadata: {name: theirs}\ndata: {x: !!binary aGk=}\n"],
  "times and dates": [setText("      hostname: 2001-12-14\n      subdomain: 12:30:45\n")],
};

/** Documents of other programs. */
export const foreignDocuments: readonly ForeignDocument[] = [
  ...rowsOf("", taken, true),
  ...rowsOf("network: ", Object.fromEntries(Object.entries(configs).map(([what, one]) => [what, network(one)])), true),
  ...rowsOf("VM ", machines, true),
  ...rowsOf("", others, false),
  ...Object.entries(texts).map(([what, [text, isTaken = false]]) => ({ what: `in YAML: ${what}`, text, isTaken })),
];

function rowsOf(before: string, objects: Readonly<Record<string, Bag>>, isTaken: boolean): ForeignDocument[] {
  return Object.entries(objects).map(([what, object]) => ({ what: `${before}${what}`, text: textOf(object), isTaken }));
}
