import { kindInGroup, objectKey } from "../../integrations/object-key.ts";
import { asBag, type Bag } from "../../schema/objects.ts";
import { policy, pool } from "./controller-objects.ts";
import { type Edit, type Flag, resources } from "./every-system.ts";
import { failsAnnotation } from "./failing-integration.ts";
import { claim } from "./ipam-claims.ts";
import { macvlanNetwork, vm } from "./vm-objects.ts";
import { attachment } from "./whereabouts-objects.ts";
import { singlePod, workload } from "./workload-objects.ts";

type Kind = keyof typeof resources;
type Made = Bag & { readonly kind: string };

/** An object that cannot be served, and what must say so. */
export interface BadObject {
  readonly what: string;
  /** Without one of these flags nobody looks at it. */
  readonly flags?: readonly Flag[];
  readonly objects: readonly Made[];
  /** The VM among them that runs. */
  readonly starts?: string;
  /** What somebody writes into an object that is there, until the next one asks. */
  readonly edit?: Edit;
  /** What becomes of a ConfigMap of the record, by its name. */
  readonly damage?: { readonly part: string; readonly change: (text: string) => string };
  /** The owners that cannot be served beside it, by their names. */
  readonly stops?: RegExp;
  /** A real API server refuses it, or the integration that fails on it is a test's own. */
  readonly isOnlySimulated?: boolean;
  /** What the key of the object begins with whose owner is told. */
  readonly about: string;
  readonly word: RegExp;
}

function key(kind: Kind, name: string, namespace?: string): string {
  const [group = ""] = resources[kind].apiVersion.split("/").slice(0, -1);
  return `${kindInGroup(kind, group)}/${namespace === undefined ? "" : `${namespace}:`}${name}`;
}

const policyKind = "NodeNetworkConfigurationPolicy";
const definitionKind = "NetworkAttachmentDefinition";

function withMetadata(object: Bag, metadata: Bag): Made {
  return { ...object, metadata: { ...asBag(object.metadata), ...metadata } } as unknown as Made;
}

function withSpec(object: Bag, spec: Bag): Made {
  return { ...object, spec: { ...asBag(object.spec), ...spec } } as unknown as Made;
}

function nodeIPPool(name: string, range: Bag, spec: Bag = {}): Made {
  return { apiVersion: "nmstate.io/v1", kind: "NodeIPPool", metadata: { name }, spec: { range, ...spec } };
}

function addressClaim(name: string, from: string): Made {
  return {
    apiVersion: resources.IPAddressClaim.apiVersion,
    kind: "IPAddressClaim",
    metadata: { name, namespace: "default" },
    spec: { poolRef: { apiGroup: "nmstate.io", kind: "NodeIPPool", name: from } },
  };
}

/** A pool of one address, and the pod that has it: they are there before anything else is. */
export const fullPool = [pool("full", 61, 1), macvlanNetwork("narrow", "full"), singlePod("first", "narrow")] as Made[];
const fullFlags = ["workloadAddresses"] as const;

const pools: readonly BadObject[] = [
  {
    what: "a pool in the cidr of another one",
    objects: [nodeIPPool("nested", { cidr: "10.3.0.128/25" })],
    about: key("NodeIPPool", "nested"),
    word: /OverlappingIPPool: .*NodeIPPool lan.*a range of its own/s,
  },
  {
    what: "a pool around all others",
    objects: [nodeIPPool("around", { cidr: "10.0.0.0/8", start: "10.250.0.1", end: "10.250.0.9" })],
    about: key("NodeIPPool", "around"),
    word: /OverlappingIPPool: .*same cidr/s,
  },
  {
    what: "a pool with a range that is none",
    objects: [nodeIPPool("strange", { cidr: "10.0.62.0/33" })],
    isOnlySimulated: true,
    about: key("NodeIPPool", "strange"),
    word: /InvalidSpec: .*10\.0\.62\.0\/33/s,
  },
  {
    what: "a pool that is being deleted, and a policy of it",
    objects: [
      withMetadata(pool("leaving", 63, 9), { finalizers: ["example.com/keep"] }),
      policy("of-leaving", "leaving", "eth63") as Made,
    ],
    about: key(policyKind, "of-leaving"),
    word: /pool leaving.*(is being deleted|Terminating)/is,
  },
  {
    what: "a pool with a status of another shape",
    objects: [
      { ...pool("odd-status", 64, 9), status: { conditions: { a: 1 }, "allocated-offsets": "x" } } as unknown as Made,
    ],
    isOnlySimulated: true,
    about: key("NodeIPPool", "odd-status"),
    word: /ReconciledPool/,
  },
];

const policies: readonly BadObject[] = [
  {
    what: "a policy of a pool that is not there",
    objects: [policy("of-none", "nowhere", "eth70") as Made],
    about: key(policyKind, "of-none"),
    word: /pool nowhere/s,
  },
  {
    what: "a policy of an exhausted pool",
    flags: fullFlags,
    objects: [policy("of-full", "full", "eth71") as Made],
    about: key(policyKind, "of-full"),
    word: /pool full is exhausted/s,
  },
  {
    what: "a policy with a capture that is none",
    objects: [withSpec(policy("misspelt", "nodes", "eth72"), { capture: { address: "ippool.nodes.alocate" } })],
    about: key(policyKind, "misspelt"),
    word: /ippool\.nodes\.alocate/s,
  },
  {
    what: "a policy whose interfaces are no list",
    objects: [withSpec(policy("no-list", "nodes"), { desiredState: { interfaces: "eth73" } })],
    about: key(policyKind, "no-list"),
    word: /interfaces/s,
  },
  {
    what: "a policy for the NIC of an earlier one",
    objects: [policy("second", "nodes", "eth1") as Made],
    about: key(policyKind, "second"),
    word: /eth1/s,
  },
  {
    what: "a policy whose status is of another shape",
    isOnlySimulated: true,
    objects: [{ ...policy("odd-policy", "nowhere", "eth74"), status: { conditions: "none" } } as unknown as Made],
    about: key(policyKind, "odd-policy"),
    word: /pool nowhere/s,
  },
];

const nodes: readonly BadObject[] = [
  {
    what: "nodes with one hostname",
    objects: ["twin1", "twin2"].map((name) => ({
      apiVersion: "v1",
      kind: "Node",
      metadata: { name, labels: { "kubernetes.io/hostname": "twin", role: "worker" } },
      status: { conditions: [{ type: "Ready", status: "True", reason: "Test", message: "" }] },
    })),
    about: key(policyKind, "a1"),
    word: /twin1, twin2 have the same label kubernetes\.io\/hostname: twin\. Give each/s,
  },
  {
    what: "a report of a node whose interfaces are of another shape",
    isOnlySimulated: true,
    objects: [
      {
        apiVersion: resources.NodeNetworkState.apiVersion,
        kind: "NodeNetworkState",
        metadata: { name: "n1" },
        status: {
          currentState: { interfaces: [null, 5, "eth1", { name: 7, ipv4: [] }, { name: "e", ipv4: { address: {} } }] },
        },
      },
    ],
    about: key("Node", "n1"),
    word: /^/,
  },
];

const hosts: readonly BadObject[] = [
  {
    what: "a BareMetalHost that names another Secret",
    flags: ["metal3"],
    objects: [
      {
        apiVersion: resources.BareMetalHost.apiVersion,
        kind: "BareMetalHost",
        metadata: { name: "pool-h1", namespace: "metal3" },
        spec: { online: true, networkData: { name: "theirs", namespace: "metal3" } },
      },
    ],
    about: key("BareMetalHost", "pool-h1", "metal3"),
    word: /Secret theirs.*Remove that field/s,
  },
  {
    what: "a BareMetalHost of another shape",
    flags: ["metal3"],
    isOnlySimulated: true,
    objects: [
      {
        apiVersion: resources.BareMetalHost.apiVersion,
        kind: "BareMetalHost",
        metadata: { name: "odd", namespace: "metal3", labels: null, annotations: [] },
        spec: "none",
        status: { provisioning: [] },
      } as unknown as Made,
    ],
    about: key("BareMetalHost", "odd", "metal3"),
    word: /^/,
  },
];

const edits: readonly BadObject[] = [
  {
    what: "a configuration of hosts that is no YAML",
    flags: ["metal3"],
    objects: [],
    edit: {
      ...{ kind: "ConfigMap", name: "nodeippool-infra", namespace: "metal3" },
      body: { data: { "infra.yaml": "infra: [" } },
    },
    stops: /^host /,
    about: key("ConfigMap", "nodeippool-infra", "metal3"),
    word: /Invalid: infra\.yaml line 1/s,
  },
  {
    what: "a record whose lines are no lines",
    flags: ["clusterApi"],
    isOnlySimulated: true,
    objects: [],
    damage: { part: "ippool.default.10.0.2.0-24", change: (text) => text.replace('"address":"', '"address":"x') },
    stops: /^IPAddressClaim /,
    about: key("NodeIPPool", "machines"),
    word: /UnsynchronizedIPPool: .*ConfigMap net\/ippool\.default\.10\.0\.2\.0-24/s,
  },
];

const claims: readonly BadObject[] = [
  {
    what: "an IPAddressClaim on a pool that is not there",
    flags: ["clusterApi"],
    objects: [addressClaim("of-nothing", "nowhere")],
    about: key("IPAddressClaim", "of-nothing", "default"),
    word: /nowhere/s,
  },
  {
    what: "an IPAddressClaim on an exhausted pool",
    flags: ["clusterApi", ...fullFlags],
    objects: [addressClaim("too-late", "full")],
    about: key("IPAddressClaim", "too-late", "default"),
    word: /pool full is exhausted/s,
  },
  {
    what: "an IPAddressClaim whose IPAddress is another claim's",
    flags: ["clusterApi"],
    objects: [
      {
        apiVersion: resources.IPAddress.apiVersion,
        kind: "IPAddress",
        metadata: { name: "taken", namespace: "default" },
        spec: {
          claimRef: { name: "another" },
          poolRef: { apiGroup: "nmstate.io", kind: "NodeIPPool", name: "machines" },
          address: "10.0.2.99",
          prefix: 24,
        },
      },
      addressClaim("taken", "machines"),
    ],
    about: key("IPAddressClaim", "taken", "default"),
    word: /IPAddress.*taken/s,
  },
  {
    what: "an IPAMClaim with an address that is none",
    flags: ["ipamClaims"],
    objects: [withMetadata(claim("odd.red"), { annotations: { "nodeippool.nmstate.io/addresses": "a banana" } })],
    about: key("IPAMClaim", "odd.red", "default"),
    word: /banana/s,
  },
  {
    what: "an IPAMClaim that asks for the address of a pod",
    flags: ["ipamClaims", ...fullFlags],
    objects: [
      withMetadata(claim("greedy.narrow", {}, "narrow"), {
        annotations: { "nodeippool.nmstate.io/addresses": "10.0.61.1/24" },
      }),
    ],
    about: key("IPAMClaim", "greedy.narrow", "default"),
    word: /10\.0\.61\.1/s,
  },
  {
    what: "an IPAMClaim on an exhausted pool",
    flags: ["ipamClaims", ...fullFlags],
    objects: [claim("late.narrow", {}, "narrow") as Made],
    about: key("IPAMClaim", "late.narrow", "default"),
    word: /full is exhausted/s,
  },
];

const vms: readonly BadObject[] = [
  {
    what: "a VM that asks for addresses in what is no JSON",
    flags: ["vmClaims"],
    objects: [withWanted("no-json", "{")],
    about: key("VirtualMachine", "no-json", "default"),
    word: /expected JSON/s,
  },
  {
    what: "a pod of a VM on a network that is not defined",
    flags: ["vmAddresses"],
    objects: [vm("lost", { red: "nowhere" })],
    starts: "lost",
    about: key("Pod", "virt-launcher-lost-", "default"),
    word: /nowhere/s,
  },
  {
    what: "a VM on a network whose configuration is no JSON",
    flags: ["vmClaims"],
    objects: [broken("broken-vm"), vm("broken", { red: "broken-vm" })],
    about: key("VirtualMachine", "broken", "default"),
    word: /broken-vm.*config is no JSON/s,
  },
];

function withWanted(name: string, text: string): Made {
  const whole = vm(name, { red: "red" });
  const template = asBag(asBag(whole.spec)?.template);
  const annotations = { "network.kubevirt.io/addresses": text };
  return withSpec(whole, { template: { ...template, metadata: { annotations } } });
}

/** A network of ours whose configuration is no JSON. */
function broken(name: string): Made {
  const { spec: _, ...rest } = macvlanNetwork(name, "lan");
  return { ...rest, spec: { config: '{"cniVersion": ' } };
}

const networks: readonly BadObject[] = [
  {
    what: "a network with slices whose configuration is no JSON",
    flags: ["nodeSlices"],
    objects: [
      {
        ...attachment("slices-no-json", {}),
        spec: { config: '{"ipam": {"type": "whereabouts", "node_slice_size": "/26", ' },
      } as unknown as Made,
    ],
    about: key(definitionKind, "slices-no-json", "default"),
    word: /config is no JSON/s,
  },
  {
    what: "a network with slices of a range that overlaps",
    flags: ["nodeSlices"],
    objects: [attachment("overlapping", { range: "10.0.0.0/20", node_slice_size: "/26" }) as Made],
    about: key(definitionKind, "overlapping", "default"),
    word: /overlapping/s,
  },
  {
    what: "two networks with slices of one name that differ",
    flags: ["nodeSlices"],
    objects: ["left", "right"].map(
      (name, i) =>
        attachment(name, { range: `10.80.${4 * i}.0/22`, node_slice_size: "/26", network_name: "both" }) as Made,
    ),
    about: key(definitionKind, "right", "default"),
    word: /default\/left.*both/s,
  },
  {
    what: "a network whose slices are larger than it",
    flags: ["nodeSlices"],
    objects: [attachment("large", { range: "10.81.0.0/26", node_slice_size: "/22" }) as Made],
    about: key(definitionKind, "large", "default"),
    word: /node_slice_size/s,
  },
  {
    what: "a network with fewer slices than nodes",
    flags: ["nodeSlices"],
    objects: [attachment("few", { range: "10.82.0.0/26", node_slice_size: "/26" }) as Made],
    about: key(definitionKind, "few", "default"),
    word: /Exhausted/s,
  },
  {
    what: "a NodeSlicePool of somebody else with other slices",
    flags: ["nodeSlices"],
    objects: [
      attachment("theirs", { range: "10.83.0.0/24", node_slice_size: "/26" }) as Made,
      {
        apiVersion: resources.NodeSlicePool.apiVersion,
        kind: "NodeSlicePool",
        metadata: { name: "theirs", namespace: "kube-system" },
        spec: { range: "10.83.0.0/24", sliceSize: "/28" },
        status: { allocations: [{ nodeName: "n1", sliceRange: "10.83.0.16/28" }] },
      },
    ],
    about: key("NodeSlicePool", "theirs", "kube-system"),
    word: /gives n1 10\.83\.0\.16\/28.*Let node_slice_size/s,
  },
  {
    what: "a NodeSlicePool of another shape",
    flags: ["nodeSlices"],
    isOnlySimulated: true,
    objects: [
      {
        apiVersion: resources.NodeSlicePool.apiVersion,
        kind: "NodeSlicePool",
        metadata: { name: "odd-slices", namespace: "kube-system" },
        spec: null,
        status: { allocations: [null, 7, { nodeName: {}, sliceRange: 5 }] },
      } as unknown as Made,
    ],
    about: key("NodeSlicePool", "odd-slices", "kube-system"),
    word: /^/,
  },
];

const workloads: readonly BadObject[] = [
  {
    what: "a StatefulSet whose networks are no JSON",
    flags: ["workloadAddresses"],
    objects: [workload("StatefulSet", "odd-networks", { replicas: 1 }, '[{"name": ')],
    about: key("StatefulSet", "odd-networks", "default"),
    word: /no JSON/s,
  },
  {
    what: "a StatefulSet on a network that is not defined",
    flags: ["workloadAddresses"],
    objects: [workload("StatefulSet", "on-nothing", { replicas: 1 }, "nowhere")],
    about: key("StatefulSet", "on-nothing", "default"),
    word: /nowhere/s,
  },
  {
    what: "a StatefulSet on an exhausted pool",
    flags: ["workloadAddresses"],
    objects: [workload("StatefulSet", "too-many", { replicas: 2 }, "narrow")],
    about: key("StatefulSet", "too-many", "default"),
    word: /full is exhausted/s,
  },
  {
    what: "a Deployment on a network whose configuration is no JSON",
    flags: ["workloadAddresses"],
    objects: [broken("broken-app"), workload("Deployment", "on-broken", { replicas: 1 }, "broken-app")],
    about: key("Deployment", "on-broken", "default"),
    word: /broken-app/s,
  },
  {
    what: "a pod whose networks are no JSON",
    flags: ["workloadAddresses"],
    objects: [singlePod("odd-pod", "[red")],
    about: key("Pod", "odd-pod", "default"),
    word: /no JSON/s,
  },
  {
    what: "a pod on a network that is bound to a pool that is not there",
    flags: ["workloadAddresses"],
    objects: [macvlanNetwork("unbound", "nowhere"), singlePod("on-unbound", "unbound")],
    about: key("Pod", "on-unbound", "default"),
    word: /nowhere/s,
  },
  {
    what: "a ConfigMap with the addresses of a workload by another hand",
    flags: ["workloadAddresses"],
    objects: [
      {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: "nodeippool-by-hand", namespace: "default" },
        data: { "by-hand-0": "[" },
      },
      workload("StatefulSet", "by-hand", { replicas: 1 }),
    ],
    about: key("StatefulSet", "by-hand", "default"),
    word: /ConfigMap.*by-hand/s,
  },
  {
    what: "a ConfigMap with addresses of a workload that is not there",
    flags: ["workloadAddresses"],
    objects: [
      {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: {
          name: "nodeippool-ghost",
          namespace: "default",
          labels: { "nodeippool.nmstate.io/addresses": "ghost" },
        },
        data: { "ghost-0": "[{", nodes: "[" },
      },
    ],
    about: key("ConfigMap", "nodeippool-ghost", "default"),
    word: /^/,
  },
];

/** Objects on which their integrations throw, each in another function. */
const failures: readonly BadObject[] = (
  [
    ["read", policy("fails-read", "nodes", "eth91"), []],
    ["render", policy("fails-render", "nodes", "eth92"), []],
    ["conflicts", policy("fails-conflicts", "nodes", "eth93"), []],
    ["claims", claim("fails.red"), ["ipamClaims"]],
    ["render", attachment("fails", { range: "10.84.0.0/24", node_slice_size: "/26" }), ["nodeSlices"]],
    ["read", attachment("fails-read", { range: "10.85.0.0/24", node_slice_size: "/26" }), ["nodeSlices"]],
    ["render", workload("StatefulSet", "fails", { replicas: 1 }), ["workloadAddresses"]],
    ["render", addressClaim("fails", "machines"), ["clusterApi"]],
  ] as const
).map(([where, object, flags]) => ({
  what: `an object of kind ${object.kind} on which ${where} throws`,
  flags,
  isOnlySimulated: true,
  objects: [withMetadata(object, { annotations: { [failsAnnotation]: where } })],
  about: objectKey(object as never),
  word: /Invalid: .*defect of the controller/s,
}));

/** One kind of each. */
export const badObjects: readonly BadObject[] = [
  ...pools,
  ...policies,
  ...nodes,
  ...hosts,
  ...edits,
  ...claims,
  ...vms,
  ...networks,
  ...workloads,
  ...failures,
];
