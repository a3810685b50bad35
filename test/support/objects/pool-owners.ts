import type { ClusterIntegration } from "../../../integrations/contract/cluster-integration.ts";
import { podDelivery } from "../../../integrations/workload/pod-delivery.ts";
import { integrationsInCluster } from "../../../pipeline/integrations.ts";
import { asBag, type Bag, conditionOf } from "../../../schema/objects.ts";
import { SimApps } from "../sim/apps.ts";
import { SimController } from "../sim/controller.ts";
import { SimReconciler } from "../sim/reconciler.ts";
import { SimServer } from "../sim/server.ts";
import { policy, pool } from "./controller-objects.ts";
import { claim as ipamClaim } from "./ipam-claims.ts";
import { macvlanNetwork } from "./vm-objects.ts";
import { ipsOf, workload } from "./workload-objects.ts";

const integrations: readonly ClusterIntegration[] = integrationsInCluster({
  ...{ clusterApi: "v1beta2", ipamClaims: true, workloadAddresses: true },
});
const nncp = "NodeNetworkConfigurationPolicy";

export function addressClaim(name: string, from = "p"): Bag & { readonly kind: string } {
  return {
    apiVersion: "ipam.cluster.x-k8s.io/v1beta2",
    kind: "IPAddressClaim",
    metadata: { name, namespace: "default" },
    spec: { poolRef: { apiGroup: "nmstate.io", kind: "NodeIPPool", name: from } },
  };
}

/** What the owners of `PoolOwners` have on record. */
export const ownersLines = [
  "10.0.0.1 Node/n1/a/address",
  "10.0.0.2 Node/n2/a/address",
  "10.0.0.3 IPAddressClaim/default:c/address",
  "10.0.0.4 IPAMClaim/default:v.red/p",
  "10.0.0.5 StatefulSet/default:web/0/net1",
  "10.0.0.6 StatefulSet/default:web/1/net1",
];

/** Pool `p` with owners of each kind, and pool `q` without any, in memory. */
export class PoolOwners {
  private readonly server = new SimServer();
  readonly apps = new SimApps(this.server);
  private readonly reconciler = new SimReconciler(podDelivery, this.server);
  sim = this.controller();

  static async begin(): Promise<PoolOwners> {
    const all = new PoolOwners();
    const { sim } = all;
    for (const [i, name] of ["p", "q"].entries()) sim.create(pool(name, i, 9) as never);
    sim.create(macvlanNetwork("red", "p"));
    for (const name of ["n1", "n2"]) sim.node(name);
    all.createPolicy();
    await all.pass(3000);
    for (const [i, name] of ["n1", "n2"].entries()) sim.shows(name, `10.0.0.${i + 1}`);
    await all.createClaims();
    return all;
  }

  createPolicy(): void {
    this.sim.create(policy("a", "p", "eth1", { maxUnavailable: "100%" }) as never);
  }

  /** The owners other than nodes, one after the other. */
  async createClaims(): Promise<void> {
    this.sim.create(addressClaim("c"));
    await this.pass(2000);
    this.sim.create(ipamClaim("v.red"));
    await this.pass(2000);
    this.apps.create(workload("StatefulSet", "web", { replicas: 2 }));
    await this.pass(4000);
  }

  removeNode(name: string): void {
    for (const kind of ["Node", "NodeNetworkState"]) this.sim.remove(kind, name);
  }

  removeClaims(): void {
    this.sim.remove("IPAddressClaim", "c", "default");
    this.sim.remove("IPAMClaim", "v.red", "default");
    this.apps.remove(this.apps.find("StatefulSet", "web") ?? {});
  }

  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 100) {
      for (const step of this.apps.steps()) step();
      this.server.collect();
      await this.sim.pass(100);
      await this.reconciler.pass(100);
    }
  }

  /** The controller is killed, and another one starts. */
  restart(): void {
    const { record } = this.sim;
    this.sim = this.controller();
    this.sim.record = record;
  }

  private controller(): SimController {
    return new SimController(undefined, undefined, undefined, integrations, this.server);
  }

  setSpec(more: Bag): void {
    this.sim.change("NodeIPPool", "p", (one) => ({ ...one, spec: { ...asBag(one.spec), ...more } }));
  }

  /** What was made for the owners, each with its addresses. */
  objects(): string[] {
    const { sim } = this;
    return [
      ...sim.all(nncp).map(({ metadata, spec }) => `${metadata.name} ${JSON.stringify(asBag(spec)?.desiredState)}`),
      ...sim.all("IPAddress").map(({ metadata, spec }) => `${metadata.name} ${asBag(spec)?.address}`),
      ...sim.all("IPAMClaim").map(({ metadata, status }) => `${metadata.name} ${asBag(status)?.ips}`),
      ...sim.all("ConfigMap").map(({ metadata, data }) => `${metadata.name} ${JSON.stringify(data)}`),
      ...sim.all("Pod").map((pod) => [pod.metadata.name, ...ipsOf(pod)].join(" ")),
    ].sort();
  }

  /** The condition Available of pool `p`. */
  available(): { readonly reason?: unknown; readonly message?: unknown } {
    return conditionOf(asBag(this.sim.object("NodeIPPool", "p")?.status)?.conditions, "Available") ?? {};
  }
}
