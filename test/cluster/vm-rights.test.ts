import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { findAccess, type KubeObject, type Objects, objectsOf } from "../../kube/index.ts";
import { asBag, asList, type Bag } from "../../schema/objects.ts";
import { installIpamClaims, installKubevirt } from "../support/cluster/kinds.ts";
import { clusterOfFile } from "../support/cluster/of-file.ts";
import { root } from "../support/console.ts";
import { accessWithout, ownAccess, prepareController, rightsIn, withRefusals } from "../support/controller/rights.ts";
import { claim as ipamClaim } from "../support/objects/ipam-claims.ts";
import { macvlanNetwork, vm } from "../support/objects/vm-objects.ts";
import { instanceOf, VirtController } from "../support/real/virt-controller.ts";

const claims = { apiVersion: "k8s.cni.cncf.io/v1alpha1", plural: "ipamclaims" };
const vms = { apiVersion: "kubevirt.io/v1", plural: "virtualmachines" };
const instances = { apiVersion: "kubevirt.io/v1", plural: "virtualmachineinstances" };
const pods = { apiVersion: "v1", plural: "pods" };

describe("the roles for VMs need each of their rights", () => {
  // A streamed list asks for the right to watch alone. The other flag is what OpenShift has: who may set finalizers of an owner may block its deletion.
  const cluster = clusterOfFile(
    async (started) => {
      await prepareController(started, [installIpamClaims, installKubevirt], "vm-claims");
      for (const file of ["rbac.yaml", "admission.yaml"])
        await started.kubectl(["apply", "-f", join(root, "deploy/vm-addresses", file)]);
    },
    { flags: ["--feature-gates=WatchList=false", "--enable-admission-plugins=OwnerReferencesPermissionEnforcement"] },
  );
  let kube: Objects;
  let virt: VirtController;
  beforeAll(async () => {
    kube = objectsOf(findAccess({ kubeconfig: cluster().kubeconfig }));
    virt = new VirtController(kube);
    for (const name of ["red", "green"]) await create(macvlanNetwork(name, "lan"));
    return () => kube.close();
  });
  afterEach(async () => {
    for (const kind of [pods, instances, vms, claims])
      for (const one of await kube.list(kind, { namespace: "default" })) {
        const { name } = one.metadata;
        const free = await kube.patch(kind, name, "default", { metadata: { finalizers: null } }, { type: "merge" });
        await kube.delete(kind, free);
      }
  });
  const create = (object: Bag) => cluster().kubectl(["create", "-f", "-"], JSON.stringify(object));
  const claim = async () => asBag((await kube.get<KubeObject & Bag>(claims, "vm-a.red", "default"))?.metadata);
  const isOfOwner = (right: string) => right.startsWith("update ");

  /** Is what it waits for reached, or the right refused? */
  async function reached(refused: ReadonlySet<string>, right: string, isReached: () => Promise<boolean>) {
    for (let i = 0; i < 300 && !refused.has(right) && !(await isReached()); i++) await sleep(50);
  }

  it.each(rightsIn("vm-claims").filter((right) => !isOfOwner(right)))("vm-claims: %s", async (right) => {
    const access = await accessWithout(right, "vm-claims", cluster());
    const work = async (refused: ReadonlySet<string>) => {
      await create(vm("vm-a", { red: "red" }));
      await reached(refused, right, async () => asList((await claim())?.finalizers).length > 0);
      const { uid } = (await claim()) ?? {};
      const spec = { template: { spec: { networks: [{ name: "red", multus: { networkName: "green" } }] } } };
      await kube.patch(vms, "vm-a", "default", { spec }, { type: "merge" });
      await reached(refused, right, async () => (await claim())?.uid !== uid);
      expect([...refused]).toContain(right);
    };
    await withRefusals(access, work, { vmClaims: true });
  });

  it.each(rightsIn("vm-claims").filter(isOfOwner))("vm-claims: %s", async (right) => {
    const made = vm("vm-a", { red: "red" });
    const { ownerReferences: _, ...metadata } = asBag(instanceOf(made).metadata) ?? {};
    await create(right.includes("instances") ? { ...instanceOf(made), metadata } : made);
    const running = { vmClaims: true };
    await withRefusals(await accessWithout(right, "vm-claims", cluster()), () => sleep(2_000), running);
    expect(await claim()).toBeUndefined();
    const isMade = async () => void (await expect.poll(claim, { timeout: 30_000 }).toBeDefined());
    await withRefusals(await ownAccess(cluster()), isMade, running);
  });

  it.each(rightsIn("vm-addresses"))("vm-addresses: %s", async (right) => {
    const access = await accessWithout(right, "vm-addresses", cluster());
    await create(vm("vm-a", { red: "red" }));
    await kube.create(claims, ipamClaim("vm-a.red") as never);
    const said = { reason: "SuccessfulAllocation", message: "", lastTransitionTime: "2026-01-01T00:00:00Z" };
    const conditions = [{ type: "IPsAllocated", status: "True", ...said }];
    const status = { status: { ips: ["10.0.0.1/24"], conditions } };
    await kube.patch(claims, "vm-a.red", "default", status, { type: "merge", subresource: "status" });
    const name = await virt.start("vm-a");
    const work = async (refused: ReadonlySet<string>) => {
      await reached(refused, right, async () => {
        const pod = await kube.get<KubeObject & Bag>(pods, name, "default");
        return asList(asBag(pod?.spec)?.schedulingGates).length === 0;
      });
      expect([...refused]).toContain(right);
    };
    await withRefusals(access, work, { vmAddresses: true });
  });
});
