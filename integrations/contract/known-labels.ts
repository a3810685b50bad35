import { IpamError, placed } from "../../core/index.ts";
import { type ClusterNode, hostnameLabel } from "../../schema/node.ts";

/** Throws IpamError `invalid` where nodes are selected by labels, and one is known by its name alone. */
export function refuseUnknownLabels(asker: string, keys: readonly string[], nodes: readonly ClusterNode[]): void {
  const other = keys.find((key) => key !== hostnameLabel);
  const bare = nodes.find((node) => node.bare);
  if (other === undefined || bare === undefined) return;
  throw new IpamError("invalid", [
    {
      message: `${asker} selects nodes by ${other}, but only the name of ${bare.name} is known`,
      ...placed(bare.at),
      hint: "Give the nodes with their labels: kubectl get nodes -o json, or NAME kubernetes.io/hostname=NAME,label=value in the list.",
    },
  ]);
}
