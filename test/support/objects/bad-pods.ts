import { asBag } from "../../../schema/objects.ts";
import { resources } from "../sim/every-system.ts";
import { addressClaim, type BadObject, fullFlags, key, type Made, withMetadata, withSpec } from "./bad-object.ts";
import { claim } from "./ipam-claims.ts";
import { macvlanNetwork, vm } from "./vm-objects.ts";
import { singlePod, workload } from "./workload-objects.ts";

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
  },
];

/** Of claims, VMs and workloads. */
export const badPods: readonly BadObject[] = [...claims, ...vms, ...workloads];
