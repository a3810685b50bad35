import { expect, it } from "vitest";
import { formatAddress } from "../../../core/index.ts";
import { usesOfWorkloadPod } from "../../../integrations/workload/pods.ts";
import { placeless } from "../../../schema/objects.ts";

const networksKey = "k8s.v1.cni.cncf.io/networks";
const statusKey = "k8s.v1.cni.cncf.io/network-status";
const allocatedKey = "nodeippool.nmstate.io/allocated";
const given = JSON.stringify([{ interface: "net1", ips: ["10.0.0.1/24"] }]);

it.each<[string, Readonly<Record<string, string>>, readonly string[]]>([
  ["its networks say", { [networksKey]: '[{"name":"red","ips":["10.0.0.1/24"]}]' }, ["10.0.0.1"]],
  ["it was given, whatever its networks say now", { [networksKey]: "red", [allocatedKey]: given }, ["10.0.0.1"]],
  ["it was given, without any networks now", { [allocatedKey]: given }, ["10.0.0.1"]],
  [
    "Multus reports of an interface that was given some",
    {
      [allocatedKey]: given,
      [statusKey]: '[{"interface":"net1","ips":["10.0.0.9"]},{"interface":"net2","ips":["10.9.0.9"]}]',
    },
    ["10.0.0.1", "10.0.0.9"],
  ],
  [
    "nobody gave it: others may have",
    { [networksKey]: "red", [statusKey]: '[{"interface":"net1","ips":["10.9.0.9"]}]' },
    [],
  ],
  ["it was given, if that cannot be read: none", { [networksKey]: "red", [allocatedKey]: "{" }, []],
])("a pod uses the addresses that %s", (_, annotations, expected) => {
  const metadata = {
    name: "web-0",
    namespace: "default",
    labels: { "nodeippool.nmstate.io/addresses": "gated" },
    annotations,
    ownerReferences: [{ apiVersion: "apps/v1", kind: "StatefulSet", name: "web", uid: "1" }],
  };
  for (const [phase, ips] of [
    ["Running", expected],
    ["Failed", []],
  ] as const) {
    const uses = usesOfWorkloadPod(placeless({ apiVersion: "v1", kind: "Pod", metadata, spec: {}, status: { phase } }));
    expect(uses.map(({ address }) => formatAddress(address))).toEqual(ips);
    for (const { owner, claim } of uses) expect([owner, claim]).toEqual(["StatefulSet/default:web", "0/net1"]);
  }
});
