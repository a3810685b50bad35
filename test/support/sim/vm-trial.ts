import type { Bag } from "../../../schema/objects.ts";
import { type VmTrial, writtenIn } from "../controller/vm-trial.ts";
import { vm } from "../objects/vm-objects.ts";
import { VmRoles } from "../objects/vm-roles.ts";
import { SimVirt } from "./virt.ts";

/** The stand-in for KubeVirt of the simulators, and the controller, on a server in memory. */
export class SimVmTrial implements VmTrial {
  private readonly all = new VmRoles();
  private readonly virt = new SimVirt(this.all.server, () => {});

  async create(name: string): Promise<void> {
    this.virt.create(vm(name, { red: "red" }));
    await this.start(name);
  }

  async start(name: string): Promise<void> {
    this.virt.wanted.add(name);
  }

  async stop(name: string): Promise<void> {
    this.virt.wanted.delete(name);
    this.virt.remove("VirtualMachineInstance", name);
  }

  async migrate(name: string): Promise<void> {
    const instance = this.virt.find("VirtualMachineInstance", name);
    if (instance !== undefined) this.virt.launch(instance);
  }

  async plug(name: string): Promise<void> {
    this.virt.plugIn(name, "more", "green");
  }

  async unplug(name: string): Promise<void> {
    this.virt.unplug(name, "more");
  }

  async delete(name: string): Promise<void> {
    this.virt.wanted.delete(name);
    this.virt.remove("VirtualMachine", name);
  }

  hang(name: string, isHanging: boolean): void {
    if (isHanging) this.virt.stuck.add(name);
    else this.virt.stuck.delete(name);
  }

  /** What is there once nothing happens any more. */
  async written() {
    for (let i = 0; i < 100; i++) {
      const [next] = this.virt.steps();
      next?.();
      await this.all.pass(next === undefined ? 60_000 : 1000);
      if (next === undefined && this.virt.steps().length === 0) break;
    }
    const of = (kind: Parameters<SimVirt["all"]>[0]) => this.virt.all(kind) as unknown as Bag[];
    const [vms, instances] = [of("VirtualMachine"), of("VirtualMachineInstance")];
    return writtenIn({ vms, instances, pods: of("Pod"), claims: of("IPAMClaim"), lines: this.all.engine.lines() });
  }
}
