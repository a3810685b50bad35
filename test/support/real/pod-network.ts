import { command } from "../tools/tools.ts";
import { createLab, type LabNode, runIn } from "./lab.ts";

/**
 * A pod, another host and a gateway, with the MAC addresses 02:00:00:00:00:01, 02 and 03 on net1. A switch connects net1 and
 * net2 of all: they are one segment.
 */
export interface PodNetwork {
  readonly pod: LabNode;
  readonly other: LabNode;
  readonly gateway: LabNode;
  close(): Promise<void>;
}

export async function createPodNetwork(): Promise<PodNetwork> {
  for (const name of ["arping", "ndisc6"]) command(name);
  const nics = ["net1", "net2"];
  const { nodes, close } = await createLab(["pod", "other", "gateway", "switch"], nics);
  const [pod, other, gateway, connecting] = nodes as [LabNode, LabNode, LabNode, LabNode];
  for (const node of [pod, other, gateway])
    await ip(node, "link", "set", "net1", "address", `02:00:00:00:00:0${node.number}`);
  await ip(connecting, "link", "add", "both", "type", "bridge", "mcast_snooping", "0");
  for (const nic of nics) await ip(connecting, "link", "set", nic, "master", "both");
  await ip(connecting, "link", "set", "both", "up");
  return { pod, other, gateway, close };
}

/** Gives net1 of a host, or the NIC named, exactly these addresses and a link-local one, and lets it forget its neighbours. */
export async function giveAddresses(host: LabNode, addresses: readonly string[], nic = "net1"): Promise<void> {
  await ip(host, "link", "set", nic, "up");
  await ip(host, "address", "flush", "dev", nic);
  for (const address of [linkLocalOf(host, nic), ...addresses]) await ip(host, "address", "add", address, "dev", nic);
  await ip(host, "neighbour", "flush", "all");
}

/** A host's link-local address on net1, or the NIC named. */
export function linkLocalOf({ number }: LabNode, nic = "net1"): string {
  return `fe80::${nic.slice(3)}:${number}/64`;
}

export function ip(host: LabNode, ...args: readonly string[]): Promise<string> {
  return runIn(host, command("ip"), args);
}
