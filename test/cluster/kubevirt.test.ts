import { join } from "node:path";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { formatBlock } from "../../core/index.ts";
import { type Access, findAccess, type Objects, objectsOf } from "../../kube/index.ts";
import { asBag, asList, type Bag } from "../../schema/objects.ts";
import { kubernetes } from "../../state/kubernetes/backend.ts";
import { installIpamClaims } from "../support/cluster/kinds.ts";
import { clusterOfFile } from "../support/cluster/of-file.ts";
import { root } from "../support/console.ts";
import { ownAccess, prepareController, servedAs } from "../support/controller/rights.ts";
import { type VmTrial, vmScript, writtenIn } from "../support/controller/vm-trial.ts";
import { vmsHistory } from "../support/controller/vms-chaos.ts";
import { tries } from "../support/long.ts";
import { pool } from "../support/objects/ipam-claims.ts";
import { machine, podsOfVm, realVm } from "../support/objects/kubevirt-vms.ts";
import { macvlanNetwork } from "../support/objects/vm-objects.ts";
import { startVirtController } from "../support/real/kubevirt.ts";
import { KubevirtNodes } from "../support/real/kubevirt-node.ts";
import { SimVmTrial } from "../support/sim/vm-trial.ts";

const networksKey = "k8s.v1.cni.cncf.io/networks";
const roles = { ipamClaims: true, vmClaims: true, vmAddresses: true };

describe("VMs of the real virt-controller", () => {
  const cluster = clusterOfFile(async (started) => {
    await startVirtController(started);
    await prepareController(started, [installIpamClaims], "ipam-claims");
    for (const file of ["vm-claims/rbac.yaml", "vm-addresses/rbac.yaml", "vm-addresses/admission.yaml"])
      await started.kubectl(["apply", "-f", join(root, "deploy", file)]);
    await started.startControllers("garbage-collector-controller");
  });
  let kube: Objects;
  let user: Access;
  let nodes: KubevirtNodes;
  beforeAll(async () => {
    kube = objectsOf(findAccess({ kubeconfig: cluster().kubeconfig }));
    user = await ownAccess(cluster());
    nodes = new KubevirtNodes(cluster(), kube);
    await create(pool("lan", "10.0.0.0/24", "10.0.0.60"), pool("lan2", "10.0.2.0/24", "10.0.2.60"));
    await create(macvlanNetwork("red", "lan"), macvlanNetwork("green", "lan2"));
    return async () => {
      await nodes.stop();
      kube.close();
    };
  });
  beforeEach(() => nodes.hanging.clear());

  const kubectl = (args: string, input?: string) => cluster().kubectl(args.split(" "), input);
  const create = (...objects: readonly Bag[]) =>
    kubectl("create -f -", objects.map((one) => JSON.stringify(one)).join("\n---\n"));
  const until = (what: () => Promise<unknown>, expected: unknown) =>
    expect.poll(what, { timeout: 30_000, interval: 100 }).toEqual(expected);
  const annotation = (pod: Bag | undefined, key: string) =>
    JSON.parse(`${asBag(asBag(pod?.metadata)?.annotations)?.[key] ?? "[]"}`) as Bag[];
  /** What Multus is told for the youngest pod of a VM, once its instance runs. */
  const told = async (name: string) => {
    const [pod] = (await podsOfVm(nodes, name)).slice(-1);
    const instance = (await nodes.all("instances")).find(({ metadata }) => metadata.name === name);
    if (asBag(instance?.status)?.phase !== "Running") return "starts";
    return annotation(pod, networksKey).flatMap(({ ips }) => asList(ips));
  };
  const change = (name: string, spec: Bag) => nodes.patch("vms", name, { spec });
  const stop = async (name: string) => {
    await change(name, { runStrategy: "Halted" });
    await until(async () => (await podsOfVm(nodes, name)).length, 0);
  };
  const claims = async () =>
    (await nodes.all("claims")).map(({ metadata, status }) => [metadata.name, ...asList(asBag(status)?.ips)].join(" "));
  const gone = async (...names: readonly string[]) => {
    await kubectl(`delete virtualmachines ${names.join(" ")} --wait=false`);
    await until(async () => (await nodes.all("instances")).length + (await claims()).length, 0);
  };

  const hang = (name: string, isHanging: boolean) =>
    void (isHanging ? nodes.hanging.add(name) : nodes.hanging.delete(name));
  const written = async () => {
    const kinds = ["vms", "instances", "pods", "claims"] as const;
    const [vms = [], instances = [], pods = [], of = []] = await Promise.all(kinds.map((kind) => nodes.all(kind)));
    const { allocations, releasing } = await kubernetes(kube, "nodeippool").read();
    const lines = [
      ...allocations.map((one) => `${formatBlock(one)} ${one.claim}`),
      ...releasing.map((one) => `${formatBlock(one)} ${one.claim} releasing`),
    ];
    return writtenIn({ vms, instances, pods, claims: of, lines });
  };

  it("start, stop, migrate, are deleted and made again, and are plugged into networks, as the stand-in of the simulators has it, step by step", async () => {
    const both = { red: "red", more: "green" };
    const trial: VmTrial = {
      create: (name) => create(realVm(name, { red: "red" })),
      start: (name) => change(name, { runStrategy: "Always" }),
      stop: (name) => change(name, { runStrategy: "Halted" }),
      migrate: (name) => create(migrationOf(name)),
      plug: (name) => change(name, { template: { spec: machine(both) } }),
      unplug: (name) => change(name, { template: { spec: machine(both, ["more"]) } }),
      delete: (name) => kubectl(`delete virtualmachine ${name} --wait=false`),
      hang,
    };
    const played = new SimVmTrial();
    await servedAs(
      user,
      async () => {
        for (const [step, act] of vmScript) {
          await Promise.all([act(played), act(trial)]);
          await expect.poll(written, { message: step, timeout: 30_000, interval: 100 }).toEqual(await played.written());
        }
        await gone("vm-1", "vm-2");
      },
      roles,
    );
  });

  it("run with claims that ipam-extensions made, under its names, and of an instance as the owner", async () => {
    await servedAs(
      user,
      async () => {
        const make = async (vm: string, network: string, kind: "vms" | "instances") => {
          const find = async () => (await nodes.all(kind)).find(({ metadata }) => metadata.name === vm);
          await until(async () => (await find())?.metadata.name, vm);
          await create(claimOf((await find()) as Bag, network));
        };
        await create(realVm("vm-3", { net_1: "red" }));
        await make("vm-3", "vm-3.net.1", "vms");
        await create(realVm("vm-4", { red: "red" }));
        await make("vm-4", "vm-4.red", "instances");
        await until(async () => [asList(await told("vm-3")).length, asList(await told("vm-4")).length], [1, 1]);
        const before = await told("vm-4");
        await stop("vm-4");
        await until(async () => (await nodes.all("claims")).filter(isEnding).length, 1);
        await change("vm-4", { runStrategy: "Always" });
        await until(() => told("vm-4"), before);
        await kubectl("delete virtualmachines vm-3 vm-4 --wait=false");
        for (const name of ["vm-3", "vm-4"]) await until(async () => (await podsOfVm(nodes, name)).length, 0);
        for (const { metadata } of await nodes.all("claims"))
          await nodes.patch("claims", metadata.name, {
            metadata: { finalizers: asList(asBag(metadata)?.finalizers).filter((one) => one !== extensions) },
          });
        await until(claims, []);
      },
      { ipamClaims: true, vmAddresses: true },
    );
  });

  const rounds = tries(3, 100);
  it(`keep their addresses to themselves in ${rounds} rounds of claims deleted by force, a lost record and a restart`, {
    timeout: tries(200_000, 3_000_000),
  }, async () => {
    const served = (work: () => Promise<void>) => servedAs(user, work, roles);
    const ipOf = new Map<string, unknown>();
    const serve = async (name: string) => {
      await create(realVm(name, { red: "red" }));
      await until(async () => asList(await told(name)).length, 1);
      ipOf.set(name, await told(name));
    };
    await served(async () => {
      for (const name of ["vm-5", "vm-6"]) await serve(name);
    });
    for (let round = 0; round < rounds; round++) {
      // No controller runs: claims go by force, and the record with them.
      for (const name of ["vm-5.red", "vm-6.red"]) {
        await nodes.patch("claims", name, { metadata: { finalizers: null } });
        await kubectl(`delete ipamclaim ${name} --wait=false --ignore-not-found`);
      }
      if (round % 2 === 1) await kubectl("delete configmaps --all -n nodeippool");
      await served(async () => {
        const other = `vm-${10 + round}`;
        await serve(other);
        for (const name of ["vm-5", "vm-6"]) await until(() => told(name), ipOf.get(name));
        await create(migrationOf("vm-5"));
        await until(async () => (await podsOfVm(nodes, "vm-5")).length, 2);
        await until(async () => (await podsOfVm(nodes, "vm-5")).length, 1);
        await until(() => told("vm-5"), ipOf.get("vm-5"));
        await kubectl(`delete virtualmachine ${other} --wait=false`);
        await until(async () => (await podsOfVm(nodes, other)).length, 0);
      });
    }
    expect((await vmsHistory(cluster())).wrong).toEqual([]);
  });
});

const extensions = "kubevirt.io/persistent-ipam";

function isEnding({ metadata }: { readonly metadata: Bag }): boolean {
  return metadata.deletionTimestamp !== undefined;
}

function migrationOf(vmiName: string): Bag {
  return {
    apiVersion: "kubevirt.io/v1",
    kind: "VirtualMachineInstanceMigration",
    metadata: { generateName: `${vmiName}-`, namespace: "default", finalizers: ["kubevirt.io/migrationJobFinalize"] },
    spec: { vmiName },
  };
}

/** A claim as ipam-extensions makes it. */
function claimOf({ kind, metadata }: Bag, name: string): Bag {
  const { name: vm, uid } = asBag(metadata) ?? {};
  const owner = { apiVersion: "kubevirt.io/v1", kind, name: vm, uid, controller: true, blockOwnerDeletion: true };
  return {
    apiVersion: "k8s.cni.cncf.io/v1alpha1",
    kind: "IPAMClaim",
    metadata: {
      name,
      namespace: "default",
      labels: { "kubevirt.io/vm": vm },
      finalizers: [extensions],
      ownerReferences: [owner],
    },
    spec: { network: "red", interface: "" },
  };
}
