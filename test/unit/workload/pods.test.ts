import { expect, it } from "vitest";
import { formatOwner } from "../../../core/index.ts";
import { usesOfWorkloadPod, workloadOfPod } from "../../../integrations/workload/pods.ts";
import { ownerOfWorkload } from "../../../integrations/workload/workload-object.ts";
import { type Bag, placeless } from "../../../schema/objects.ts";
import { gate, networksKey } from "../../support/objects/workload-objects.ts";

const indexKey = "nodeippool.nmstate.io/pod-index";
const set = { apiVersion: "apps/v1", kind: "StatefulSet", name: "web" };
const replicaSet = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web-abc" };
const said = '[{"name":"red","interface":"net1","ips":["10.0.0.1/24"]}]';

/** A pod that runs with an address; its label says who wrote that. */
function pod(owners: readonly Bag[], annotations = {}, label: string | undefined = "gated", name = "web-1"): Bag {
  const labels = { "pod-template-hash": "abc", ...(label && { [gate]: label }) };
  const metadata = { name, namespace: "default", labels, ownerReferences: owners };
  return { kind: "Pod", metadata: { ...metadata, annotations: { [networksKey]: said, ...annotations } }, spec: {} };
}

it.each<[string, Bag, string | undefined]>([
  ["a StatefulSet", pod([set]), "StatefulSet/default:web"],
  [
    "a StatefulSet, beside another owner",
    pod([{ apiVersion: "v1", kind: "Node", name: "n1" }, set]),
    "StatefulSet/default:web",
  ],
  ["a ReplicaSet of a Deployment", pod([replicaSet]), "Deployment/default:web"],
  ["a ReplicaSet by itself", pod([{ ...replicaSet, name: "web" }]), "Pod/default:web-1"],
  ["a set of another API", pod([{ ...set, apiVersion: "apps.kruise.io/v1beta1" }]), "Pod/default:web-1"],
  ["nobody", pod([]), "Pod/default:web-1"],
  ["nobody, told by a plan", pod([], {}, "planned"), undefined],
])("whose a pod of %s is", (_, one, owner) => {
  const workload = workloadOfPod(one);
  expect(workload && formatOwner(ownerOfWorkload(workload))).toBe(owner);
});

it.each<[string, Bag, object | undefined]>([
  [
    "of a StatefulSet, told by a plan",
    pod([set], {}, "planned"),
    { owner: "StatefulSet/default:web", claim: "1/net1" },
  ],
  [
    "of a Deployment, with its index",
    pod([replicaSet], { [indexKey]: "Deployment/web/4" }),
    { owner: "Deployment/default:web", claim: "4/net1" },
  ],
  ["of a Deployment, without one", pod([replicaSet]), { owner: "Deployment/default:web", claim: undefined }],
  [
    "which its ReplicaSet gave away",
    pod([], { [indexKey]: "Deployment/web/4" }),
    { owner: "Deployment/default:web", claim: "4/net1" },
  ],
  ["of which nobody writes addresses", pod([set], {}, ""), undefined],
])("whose the address of a pod is: %s", (_, one, use) => {
  const uses = usesOfWorkloadPod(placeless(one as never)).map(({ owner, claim }) => ({ owner, claim }));
  expect(uses).toEqual(use === undefined ? [] : [use]);
});
