import type { Bag } from "../../../schema/objects.ts";
import { type BadObject, definitionKind, key, policyKind } from "./bad-object.ts";
import { attachment } from "./whereabouts-objects.ts";
import { networksKey } from "./workload-objects.ts";

/** What somebody writes into objects that were served. */
export const badEdits: readonly BadObject[] = [
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
    what: "a policy that has addresses, and whose capture is none from now on",
    isOnlySimulated: true,
    objects: [],
    edit: {
      ...{ kind: policyKind, name: "a1", body: { spec: { capture: { address: "ippool.nodes.alocate" } } } },
      back: { spec: { capture: { address: "ippool.nodes.allocate" } } },
    },
    stops: /^node /,
    about: key(policyKind, "a1"),
    word: /ippool\.nodes\.alocate/s,
  },
  {
    what: "a pool that is out of step with its record",
    flags: ["clusterApi"],
    isOnlySimulated: true,
    objects: [],
    edit: {
      ...{ kind: "NodeIPPool", name: "machines", body: { spec: { range: ranges("10.0.66") } } },
      back: { spec: { range: ranges("10.0.2") } },
    },
    stops: /^IPAddressClaim /,
    about: key("NodeIPPool", "machines"),
    word: /10\.0\.2\./s,
  },
  {
    what: "a network with slices that nodes have, and whose configuration is no JSON from now on",
    flags: ["nodeSlices"],
    objects: [],
    edit: {
      ...{ kind: definitionKind, name: "s1", namespace: "default" },
      body: { spec: { config: '{"ipam": {"type": "whereabouts", "node_slice_size": "/26", ' } },
      back: { spec: attachment("s1", { range: "10.101.0.0/24", node_slice_size: "/26" }).spec },
    },
    about: key(definitionKind, "s1", "default"),
    word: /config is no JSON/s,
  },
  {
    what: "a StatefulSet that has addresses, and whose networks are no JSON from now on",
    flags: ["workloadAddresses"],
    objects: [],
    edit: {
      ...{ kind: "StatefulSet", name: "w1", namespace: "default", body: withNetworks('[{"name": ') },
      back: withNetworks("red"),
    },
    about: key("StatefulSet", "w1", "default"),
    word: /no JSON/s,
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

function ranges(net: string): Bag {
  return { cidr: `${net}.0/24`, start: `${net}.1`, end: `${net}.200` };
}

function withNetworks(text: string): Bag {
  return { spec: { template: { metadata: { annotations: { [networksKey]: text } } } } };
}
