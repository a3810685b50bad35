import { expect, it } from "vitest";
import type { Integration } from "../../../integrations/integration.ts";
import { ipamClaimsInCluster } from "../../../integrations/ipamclaim/claims-in-cluster.ts";
import { asBag, type Bag } from "../../../schema/objects.ts";
import { SimController } from "../../support/sim-controller.ts";
import { macvlanNetwork } from "../../support/vm-objects.ts";

const pool = (name: string, third: number) => ({
  apiVersion: "nmstate.io/v1",
  kind: "NodeIPPool",
  metadata: { name },
  spec: { range: { cidr: `10.0.${third}.0/24`, end: `10.0.${third}.9` } },
});
const claim = (name: string) => ({
  apiVersion: "k8s.cni.cncf.io/v1alpha1",
  kind: "IPAMClaim",
  metadata: { name, namespace: "default" },
  spec: { network: "red", interface: "net1" },
});

it.fails("while the first of two definitions of a network cannot be served, the second one does not stand for it", async () => {
  const sim = new SimController(undefined, undefined, undefined, [ipamClaimsInCluster as Integration]);
  for (const [name, third] of [
    ["lan", 0],
    ["other", 1],
  ] as const)
    sim.create(pool(name, third));
  sim.create(macvlanNetwork("red", "lan") as never);
  const { metadata, ...second } = macvlanNetwork("red", "other");
  sim.create({ ...second, metadata: { ...asBag(metadata), name: "red2" } } as never);
  sim.create(claim("a.red"));
  await sim.pass(3000);
  const annotations = { "nodeippool.nmstate.io/pool": "lan, nope" };
  const breaks = (one: Bag) => ({ ...one, metadata: { ...asBag(one.metadata), annotations } });
  sim.change("NetworkAttachmentDefinition", "red", breaks, "default");
  await sim.pass(1000);
  sim.create(claim("b.red"));
  await sim.pass(3000);
  expect(asBag(sim.object("IPAMClaim", "b.red")?.status)?.ips).toBeUndefined();
});
