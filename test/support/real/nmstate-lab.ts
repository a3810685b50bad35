import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { auditFlags } from "../cluster/audit.ts";
import { type Cluster, startCluster } from "../cluster/cluster.ts";
import { type Daemon, removeAtEnd } from "../cluster/daemon.ts";
import { installAll } from "../cluster/kinds.ts";
import { addNodes } from "../cluster/nodes.ts";
import { createManagedNodes, gateway, type ManagedNodes } from "../objects/managed-nodes.ts";
import { addresses, ip, type LabNode } from "./lab.ts";
import { startHandler, startSwitchDaemons } from "./nmstate-daemons.ts";
import { handlerKubeconfig, handlerPod, installNmstateRights, installNmstateWebhook } from "./nmstate-installation.ts";

/**
 * A cluster with kubernetes-nmstate as it is installed: on each node NetworkManager and the handler, and for all of them
 * the webhook and the ValidatingAdmissionPolicy. It ends with this process at the latest.
 */
export class NmstateLab {
  readonly nodes = new Map<string, LabNode>();
  readonly cluster: Cluster;
  /** Holds the logs and the audit log; removed by `stop`. */
  readonly folder: string;
  private readonly machines: ManagedNodes;
  private readonly ends: Ends;
  private readonly handlers = new Map<string, Daemon>();
  private kubeconfig = "";
  private webhookPort = 0;

  static async start(names: readonly string[]): Promise<NmstateLab> {
    const folder = mkdtempSync(join(tmpdir(), "nodeippool-lab-"));
    const ends: Ends = [removeAtEnd(folder)];
    try {
      const machines = await createManagedNodes(folder);
      ends.push(() => machines.close());
      const cluster = await startCluster({ flags: auditFlags(folder) });
      ends.push(() => cluster.stop());
      const lab = new NmstateLab(cluster, machines, folder, ends);
      await lab.install();
      for (const joined of await Promise.allSettled(names.map((name) => lab.join(name))))
        if (joined.status === "rejected") throw joined.reason;
      return lab;
    } catch (error) {
      await end(ends);
      throw error;
    }
  }

  private constructor(cluster: Cluster, machines: ManagedNodes, folder: string, ends: Ends) {
    this.cluster = cluster;
    this.machines = machines;
    this.folder = folder;
    this.ends = ends;
  }

  private async install(): Promise<void> {
    await installAll(this.cluster);
    await installNmstateRights(this.cluster);
    this.kubeconfig = await handlerKubeconfig(this.cluster, `https://${gateway}:6443`);
    const folder = join(this.folder, "switch");
    mkdirSync(folder);
    writeFileSync(join(folder, "kubeconfig"), this.kubeconfig);
    const daemons = await startSwitchDaemons(this.cluster, this.machines.switchPid, folder);
    this.ends.push(() => daemons.stop());
    this.webhookPort = daemons.webhookPort;
    await this.serveWebhook(this.cluster);
    await this.cluster.startControllers("garbage-collector-controller", "namespace-controller");
  }

  /** The webhook of the lab serves a cluster, this or another one. */
  serveWebhook(cluster: Cluster): Promise<void> {
    return installNmstateWebhook(cluster, this.webhookPort, this.cluster.certificates.authority.certificate);
  }

  /** A new node with its handler. */
  async join(name: string): Promise<LabNode> {
    const node = await this.machines.add(name);
    this.nodes.set(name, node);
    writeFileSync(join(this.folder, name, "kubeconfig"), this.kubeconfig);
    await addNodes(this.cluster, name);
    await this.cluster.kubectl(["create", "-f", "-"], JSON.stringify(handlerPod(name)));
    await this.startHandler(name);
    return node;
  }

  /** The machine of a node ends, and its Node is deleted. */
  async leave(name: string): Promise<void> {
    await this.killHandler(name);
    await this.machines.remove(this.node(name));
    this.nodes.delete(name);
    await this.cluster.kubectl(["delete", "--wait=false", "node", name]);
    const now = ["--force", "--grace-period=0", "--namespace=nmstate"];
    await this.cluster.kubectl(["delete", "pod", ...now, handlerPod(name).metadata.name]);
  }

  async startHandler(name: string): Promise<void> {
    this.handlers.set(name, await startHandler(this.node(name)));
  }

  async killHandler(name: string): Promise<void> {
    await this.handlers.get(name)?.stop();
  }

  /** Takes a NIC out of a node. Its report says so at once, and not within a minute. */
  async pull(name: string, nic: string): Promise<void> {
    await ip(this.node(name).pid, [`link delete ${nic}`]);
    await this.refreshReport(name);
  }

  /** Plugs it in again; returns once it is up. */
  async plug(name: string, nic: string): Promise<void> {
    await this.machines.plug(this.node(name), nic);
    await this.refreshReport(name);
  }

  /** As a handler does after it has changed something. */
  private async refreshReport(name: string): Promise<void> {
    const label = `nmstate.io/force-nns-refresh=${Date.now()}`;
    await this.cluster.kubectl(["label", "--overwrite", "nodenetworkstate", name, label]);
  }

  private node(name: string): LabNode {
    const node = this.nodes.get(name);
    if (node === undefined) throw new Error(`the lab has no node ${name}`);
    return node;
  }

  /** What the first two NICs of each node really have, in the order of the nodes. */
  onNodes(): Promise<string[]> {
    return this.everywhere(async (node) => `${await addresses(node, "eth1")} ${await addresses(node, "eth2")}`);
  }

  everywhere<T>(look: (node: LabNode) => Promise<T>): Promise<T[]> {
    return Promise.all([...this.nodes.values()].sort((a, b) => a.number - b.number).map(look));
  }

  /** `work` is done when the lab ends, before anything of it does. */
  onStop(work: () => Promise<unknown>): void {
    this.ends.push(work);
  }

  async stop(): Promise<void> {
    for (const name of this.nodes.keys()) await this.killHandler(name);
    await end(this.ends);
  }
}

/** What ends it, last one first. */
type Ends = (() => Promise<unknown>)[];

async function end(ends: Ends): Promise<void> {
  for (const one of ends.splice(0).reverse()) await one();
}
