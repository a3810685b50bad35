import { resources } from "../sim/every-system.ts";
import {
  type BadObject,
  fullFlags,
  key,
  type Made,
  nodeIPPool,
  policyKind,
  withMetadata,
  withSpec,
} from "./bad-object.ts";
import { policy, pool } from "./controller-objects.ts";

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
  },
];

/** Of pools, policies, nodes and hosts. */
export const badNodes: readonly BadObject[] = [...pools, ...policies, ...nodes, ...hosts];
