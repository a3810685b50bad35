import { formatPrefix, IpamError, type PoolRecord, shellWord } from "../../core/index.ts";
import { indexName, kindOfMap, recordLabel } from "./record-map.ts";
import { emptyIndex, encodeIndex } from "./subnet-index.ts";

/** Returns what messages call a ConfigMap. */
export function labelOf(name: string, namespace: string): string {
  return `ConfigMap ${namespace}/${name}`;
}

/** The error for a part that the index of this name lists, and that is not there. */
export function lostPart(pool: PoolRecord, part: string, index: string): IpamError {
  return new IpamError("corrupt", `${part} is gone, or has lost its label: it holds pool ${pool.name}`, {
    hint: `Put the label back, or take the object from a backup. If there is none, the page on recovery says what to do ("Where a subnet is lost"). If no node has an address of ${formatPrefix(pool.prefix)} any more, take the line of pool ${pool.name} out of ${index}.`,
  });
}

/** The error for parts without an index. What they hold tells all of it but which moves it was in, and had seen. */
export function lostIndex(recorded: readonly PoolRecord[], namespace: string): IpamError {
  const pools = shellWord(encodeIndex({ ...emptyIndex, pools: recorded }).pools?.trimEnd() ?? "");
  return new IpamError("corrupt", `${labelOf(indexName, namespace)} is gone: it lists the subnets that are in use`, {
    hint: [
      "Stop all writers. Take it from a backup; or see to the moves that it knew of, as the page on recovery",
      `says ("Where the index is lost"), and make it anew:`,
      `kubectl create configmap ${indexName} --from-literal=pools=${pools} --dry-run=client -o yaml |`,
      `kubectl label --local -f - ${recordLabel}=${kindOfMap(indexName)} -o yaml | kubectl -n ${namespace} create -f -`,
    ].join("\n  "),
  });
}

/** The error for an object of the record that has lost its label, or is somebody else's. */
export function unlabelled(name: string, namespace: string): IpamError {
  return new IpamError("corrupt", `${labelOf(name, namespace)} has lost its label ${recordLabel}`, {
    hint: `Put it back: kubectl -n ${namespace} label configmap ${name} ${recordLabel}=${kindOfMap(name)}\n  If another program made this ConfigMap, delete it instead, or move it to another name.`,
  });
}
