import { join } from "node:path";
import { type Access, findAccess, type KubeObject, objectsOf, realClock, transport, watch } from "../kube/index.ts";
import { asBag, asList, type Bag } from "../schema/objects.ts";
import { type Cluster, startCluster } from "../test/support/cluster/cluster.ts";
import { installIpamClaims, installKubevirt, installNodeIPPool } from "../test/support/cluster/kinds.ts";
import { root } from "../test/support/console.ts";
import { pool } from "../test/support/objects/ipam-claims.ts";
import { macvlanNetwork, vm } from "../test/support/objects/vm-objects.ts";
import { instanceOf, launcherOf } from "../test/support/real/virt-controller.ts";
import { controllerKubeconfig, inParallel, quiet, writesOf } from "./cluster-work.ts";
import { ControllerProcess } from "./controller-process.ts";
import { Made } from "./made.ts";
import { figures, type Result } from "./measure.ts";

const pools = { apiVersion: "nmstate.io/v1", plural: "nodeippools" };
const definitions = { apiVersion: "k8s.cni.cncf.io/v1", plural: "network-attachment-definitions" };
const claims = { apiVersion: "k8s.cni.cncf.io/v1alpha1", plural: "ipamclaims" };
const vms = { apiVersion: "kubevirt.io/v1", plural: "virtualmachines" };
const instances = { apiVersion: "kubevirt.io/v1", plural: "virtualmachineinstances" };
const pods = { apiVersion: "v1", plural: "pods" };
const written = ["configmaps", "events", "nodeippools", "ipamclaims"];
const gate = "nodeippool.nmstate.io/addresses";
const networks = ["red", "green", "blue"];

/** VMs with three networks, and a controller with all roles for them, on a real API server whose etcd waits for the disk. */
export async function run(short: boolean): Promise<Result[]> {
  const [count, starts] = short ? [100, 10] : [1_000, 100];
  const cluster = await startCluster({ fsync: true });
  try {
    for (const install of [installNodeIPPool, installIpamClaims, installKubevirt]) await install(cluster);
    await cluster.kubectl(["apply", "-k", join(root, "deploy")]);
    for (const folder of ["ipam-claims", "vm-claims", "vm-addresses"])
      await cluster.kubectl(["apply", "-f", join(root, "deploy", folder, "rbac.yaml")]);
    return await started(cluster, count, starts);
  } finally {
    await cluster.stop();
  }
}

async function started(cluster: Cluster, count: number, starts: number): Promise<Result[]> {
  const admin = findAccess({ kubeconfig: cluster.kubeconfig });
  const kube = objectsOf(admin);
  const kubeconfig = await controllerKubeconfig(cluster);
  const addressed = new Made(
    admin,
    claims,
    ({ status }: KubeObject & { readonly status?: unknown }) => asList(asBag(status)?.ips).length > 0,
  );
  const flags = ["--ipam-claims", "--vm-claims", "--vm-addresses"];
  const controller = await ControllerProcess.start(kubeconfig, join(cluster.folder, "vms.log"), flags);
  try {
    await controller.ready();
    for (const [i, name] of networks.entries()) {
      await kube.create(pools, pool(name, `10.${i}.0.0/16`));
      await kube.create(definitions, macvlanNetwork(name, name) as unknown as KubeObject);
    }
    const before = await writesOf(admin, written);
    const machine = (i: number) => vm(`vm-${i}`, Object.fromEntries(networks.map((name) => [name, name])));
    const all = [...Array(count).keys()];
    const create = () => inParallel(all, (i) => kube.create(vms, machine(i) as unknown as KubeObject));
    const ms = await addressed.timed(count * networks.length, create);
    await quiet(() => writesOf(admin, written));
    const writes = ((await writesOf(admin, written)) - before) / (count * networks.length);
    const lifted = new Lifted(admin);
    const waits: number[] = [];
    for (let i = 0; i < starts; i++) {
      const of = (await kube.get<KubeObject & Bag>(vms, `vm-${i}`, "default")) ?? {};
      const instance = await kube.create(instances, instanceOf(of) as unknown as KubeObject);
      const pod = launcherOf(instance as unknown as Bag, "x", [gate]);
      waits.push(await lifted.timed(`default/virt-launcher-vm-${i}-x`, () => kube.create(pods, pod as never)));
    }
    lifted.stop();
    const title = `${count.toLocaleString("en")} VMs x ${networks.length} networks`;
    return [
      { name: `${title}: until all claims have their address`, ...figures([ms]), unit: "ms" },
      { name: "the same: writes for each claim", ...figures([writes]), unit: "writes", goal: 4 },
      { name: "a start: until its pod is scheduled", ...figures(waits), unit: "ms" },
      { name: `the same, the slowest of ${starts}`, ...figures([Math.max(...waits)]), unit: "ms", goal: 200 },
    ];
  } finally {
    await controller.stop();
    addressed.stop();
    kube.close();
  }
}

/** Pods whose gate is lifted. */
class Lifted {
  private readonly waiting = new Map<string, () => void>();
  private readonly stopped = new AbortController();

  constructor(access: Access) {
    const isLifted = ({ spec }: KubeObject & Bag) => asList(asBag(spec)?.schedulingGates).length === 0;
    const tell = (key: string, isDone: boolean) => void (isDone && this.waiting.get(key)?.());
    const sink = {
      replace: (all: Map<string, boolean>) => {
        for (const [key, isDone] of all) tell(key, isDone);
      },
      set: tell,
      delete: () => {},
      state: () => {},
    };
    const options = { signal: this.stopped.signal, clock: realClock, random: Math.random };
    void watch(transport(access, 30_000), { resource: pods, project: isLifted as never }, sink as never, options);
  }

  /** Milliseconds from when a pod was created. */
  async timed(pod: string, create: () => Promise<unknown>): Promise<number> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.waiting.set(pod, resolve);
    const begun = performance.now();
    await Promise.all([create(), promise]);
    this.waiting.delete(pod);
    return performance.now() - begun;
  }

  stop(): void {
    this.stopped.abort();
  }
}
