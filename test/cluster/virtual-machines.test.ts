import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { podInterfaceOf } from "../../integrations/ipamclaim/claim-name.ts";
import { type Access, findAccess, type KubeObject, type Objects, objectsOf } from "../../kube/index.ts";
import { asBag, asList, type Bag } from "../../schema/objects.ts";
import { installIpamClaims, installKubevirt } from "../support/cluster/kinds.ts";
import { clusterOfFile } from "../support/cluster/of-file.ts";
import { root } from "../support/console.ts";
import { ownAccess, prepareController, servedAs } from "../support/controller/rights.ts";
import { hurried } from "../support/controller/timing.ts";
import { typeInto, uninstallOf } from "../support/controller/uninstall.ts";
import { tries } from "../support/long.ts";
import { pool } from "../support/objects/ipam-claims.ts";
import { macvlanNetwork, vm } from "../support/objects/vm-objects.ts";
import { createLab } from "../support/real/lab.ts";
import { Multus, reportedOn } from "../support/real/multus.ts";
import { reportOfMultus, VirtController } from "../support/real/virt-controller.ts";

const claims = { apiVersion: "k8s.cni.cncf.io/v1alpha1", plural: "ipamclaims" };
const pods = { apiVersion: "v1", plural: "pods" };
const definition = macvlanNetwork("red", "lan");
const nic = podInterfaceOf("red");

type Any = KubeObject & Bag;

describe("virtual machines on a network of macvlan", () => {
  const cluster = clusterOfFile(async (started) => {
    await prepareController(started, [installIpamClaims, installKubevirt], "ipam-claims");
    for (const file of ["vm-claims/rbac.yaml", "vm-addresses/rbac.yaml", "vm-addresses/admission.yaml"])
      await started.kubectl(["apply", "-f", join(root, "deploy", file)]);
    await started.startControllers("garbage-collector-controller");
  });
  let kube: Objects;
  let user: Access;
  let virt: VirtController;
  beforeAll(async () => {
    kube = objectsOf(findAccess({ kubeconfig: cluster().kubeconfig }));
    virt = new VirtController(kube);
    user = await ownAccess(cluster());
    return () => kube.close();
  });
  const kubectl = (args: string, input?: string) => cluster().kubectl(args.split(" "), input);
  const create = (object: Bag) => kubectl("create -f -", JSON.stringify(object));
  beforeEach(async () => {
    await create(pool("lan", "10.0.0.0/24", "10.0.0.9"));
    await create(definition);
  });
  afterEach(async () => {
    await served(async () => {
      await kubectl("delete virtualmachines --all --wait=false");
      for (const { metadata } of await kube.list(vms, { namespace: "default" })) await virt.stop(metadata.name);
      await kubectl("delete pods --all --force --grace-period=0");
      await until(async () => (await kube.list(claims, { namespace: "default" })).length, 0);
      await kubectl("delete network-attachment-definitions,nodeippools --all --timeout=30s");
    });
    await kubectl("delete configmaps --all -n nodeippool");
  });

  /** With the rights that deploy/ gives, and no others. */
  const served = (work: () => Promise<void>) => servedAs(user, work, roles);

  const until = (what: () => Promise<unknown>, expected: unknown) =>
    expect.poll(what, { timeout: 30_000, interval: 50 }).toEqual(expected);
  const pod = async (name: string): Promise<Bag> => (await kube.get<Any>(pods, name, "default")) ?? {};
  const gates = async (name: string) => asList(asBag((await pod(name)).spec)?.schedulingGates).length;
  const told = async (name: string) => {
    const { annotations } = asBag((await pod(name)).metadata) ?? {};
    return JSON.parse(`${asBag(annotations)?.["k8s.v1.cni.cncf.io/networks"]}`)[0].ips;
  };
  const claim = async (name: string) => asBag((await kube.get<Any>(claims, name, "default"))?.metadata);

  it("C8, C15: have their address in their pods after start, stop, and while they migrate", async () => {
    const lab = await createLab(["node1", "node2"], ["eth1"]);
    onTestFinished(() => lab.close());
    const [here, there] = await Promise.all(lab.nodes.map((node) => Multus.on(node, cluster())));
    const run = async (multus: Multus | undefined, name: string) => {
      await until(() => gates(name), 0);
      const running = await multus?.run(await pod(name));
      expect(reportedOn(await pod(name))).toEqual(reportOfMultus(await pod(name)));
      expect(await running?.addresses(nic)).toEqual(["10.0.0.1/24"]);
      return running;
    };
    await served(async () => {
      await create(vm("vm-a", { red: "red" }));
      const first = await run(here, await virt.start("vm-a"));
      const target = await run(there, await virt.launch("vm-a"));
      await first?.end();
      await target?.end();
      await virt.stop("vm-a");
      // Somebody else comes meanwhile.
      await create(vm("vm-b", { red: "red" }));
      const other = await virt.start("vm-b");
      await until(() => told(other), ["10.0.0.2/24"]);
    });
    await served(async () => {
      const again = await run(there, await virt.start("vm-a"));
      await again?.end();
    });
  });

  it("Multus reports what the other tests play, also after the networks of a pod are rewritten; it attaches none without addresses", async () => {
    const lab = await createLab(["node1"], ["eth1"]);
    onTestFinished(() => lab.close());
    const multus = await Multus.on(lab.nodes[0] as never, cluster());
    const launch = async (name: string, elements: readonly Bag[]) => {
      const annotations = { "k8s.v1.cni.cncf.io/networks": JSON.stringify(elements) };
      const spec = { containers: [{ name: "main", image: "main" }] };
      await create({ apiVersion: "v1", kind: "Pod", metadata: { name, annotations }, spec });
      return await pod(name);
    };
    const red = { name: "red", namespace: "default" };
    const first = await launch("first", [
      { ...red, ips: ["10.0.0.1/24"] },
      { ...red, interface: nic, ips: ["10.0.0.2/24", "fd00::2/64"] },
    ]);
    const running = await multus.run(first);
    expect(await running.addresses("net1")).toEqual(["10.0.0.1/24"]);
    expect(await running.addresses(nic)).toEqual(["10.0.0.2/24", "fd00::2/64"]);
    const played = reportOfMultus(first);
    expect(reportedOn(await pod("first"))).toEqual(played);
    const rewritten = { metadata: { annotations: { "k8s.v1.cni.cncf.io/networks": JSON.stringify([red]) } } };
    await kube.patch(pods, "first", "default", rewritten, { type: "merge" });
    await running.end();
    expect(reportedOn(await pod("first"))).toEqual(played);
    const second = await launch("second", [{ ...red, interface: nic }]);
    await expect(multus.run(second)).rejects.toThrow(/IPAM plugin returned missing IP config/);
    expect(asBag((await pod("second")).metadata)?.annotations).toEqual(asBag(second.metadata)?.annotations);
  });

  it("without the controller, a pod waits, and its VM's claim is not there", async () => {
    await create(vm("vm-a", { red: "red" }));
    const name = await virt.start("vm-a");
    await sleep(500);
    expect([await gates(name), await claim("vm-a.red")]).toEqual([1, undefined]);
    await served(async () => {
      await until(() => gates(name), 0);
      expect(await told(name)).toEqual(["10.0.0.1/24"]);
    });
  });

  it("C9: deleted in the background or in the foreground, a VM gives its address back once nothing runs of it", async () => {
    await served(async () => {
      for (const how of ["background", "foreground"]) {
        await create(vm("vm-a", { red: "red" }));
        const name = await virt.start("vm-a");
        await until(() => gates(name), 0);
        await kubectl(`delete virtualmachine vm-a --cascade=${how} --wait=false`);
        await create(vm("vm-b", { red: "red" }));
        const other = await virt.start("vm-b");
        await until(() => told(other), ["10.0.0.2/24"]);
        await virt.stop("vm-a");
        await until(() => claim("vm-a.red"), undefined);
        await until(() => kubectl("get virtualmachines -o name"), "virtualmachine.kubevirt.io/vm-b\n");
        await kubectl("delete virtualmachine vm-b --wait=false");
        await virt.stop("vm-b");
        await until(() => claim("vm-b.red"), undefined);
        await sleep(2 * hurried.hold);
      }
    });
  });

  it("C7: made anew under one name again and again, each has its claim and its address, and no finalizer stays", async () => {
    const times = tries(30, 400);
    await served(async () => {
      for (let i = 0; i < times; i++) {
        await kube.create(vms, vm("vm-a", { red: "red" }) as never);
        const name = await virt.start("vm-a");
        await until(() => gates(name), 0);
        const there = (await kube.get<Any>(vms, "vm-a", "default")) as Any;
        expect(asBag(asList((await claim("vm-a.red"))?.ownerReferences)[0])?.uid).toBe(asBag(there.metadata)?.uid);
        expect(await told(name)).toEqual(["10.0.0.1/24"]);
        await kube.delete(vms, there as never);
        await virt.stop("vm-a");
      }
      await until(() => claim("vm-a.red"), undefined);
    });
  });

  it("C13: with the roles switched off by the commands of the pages, pods start, and nothing keeps claims and VMs", async () => {
    await served(async () => {
      await create(vm("vm-a", { red: "red" }));
      const name = await virt.start("vm-a");
      await until(() => gates(name), 0);
    });
    await create(vm("vm-b", { red: "red" }));
    const waiting = await virt.start("vm-b");
    for (const page of ["vm-addresses", "vm-claims", "ipam-claims"]) await typeInto(cluster(), uninstallOf(page));
    expect(await gates(waiting)).toBe(0);
    const later = await virt.launch("vm-b");
    expect(await gates(later)).toBe(0);
    expect((await claim("vm-a.red"))?.finalizers).toBeUndefined();
    await kubectl("delete virtualmachine vm-a vm-b --wait=false");
    for (const name of ["vm-a", "vm-b"]) await virt.stop(name);
    await until(() => claim("vm-a.red"), undefined);
  });
});

const roles = { ipamClaims: true, vmClaims: true, vmAddresses: true };
const vms = { apiVersion: "kubevirt.io/v1", plural: "virtualmachines" };
