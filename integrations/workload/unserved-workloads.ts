import { formatOwner, isCalled, ownerOfKey } from "../../core/index.ts";
import { ownPrefix } from "../../schema/node.ts";
import { type Bag, issueIn } from "../../schema/objects.ts";
import type { Facts } from "../contract/facts.ts";
import { nameOf, namespaceOf } from "../contract/object-metadata.ts";
import type { UnreadObject, Unserved } from "../contract/unserved.ts";
import { isOfSpiderpool, namesPools } from "./named-pools.ts";
import { networkAnnotations, readPodNetworks } from "./pod-networks.ts";
import { type PoolSources, servedNetworks } from "./pools-of-workload.ts";
import type { WorkloadModel } from "./workload-model.ts";
import { kindOfWorkload, metadataOfPods, ownerOfWorkload } from "./workload-object.ts";

/** Returns the workloads whose pods get no addresses because something is wrong with the workload or its networks. */
export function unservedWorkloads(model: WorkloadModel, facts: Facts): Unserved[] {
  const wrong = model.workloads.flatMap(({ value, source }): UnreadObject[] => {
    const { issues: [issue] = [] } = servedNetworks(value, model, facts);
    return issue === undefined ? [] : [{ source, issues: [issueIn(source, issue)] }];
  });
  return [...model.unread, ...wrong].map(({ source: { object }, issues }) => {
    const [kind, namespace, name] = [kindOfWorkload(object), namespaceOf(object), nameOf(object)];
    const owner = formatOwner(ownerOfWorkload({ kind, namespace, name }));
    return { issues, asks: asksPools(object, model, facts), mayHave: (claim) => ownerOfKey(claim) === owner };
  });
}

/**
 * Returns whether a workload asks NodeIPPools for addresses, also where it cannot be read.
 *
 *  its pod template, or its namespace                      | asks
 *  --------------------------------------------------------+------
 *  has a label or annotation with our prefix               | yes
 *  is on a network whose definition names pools            | yes
 *  names pools as Spiderpool does, one of them a NodeIPPool | yes
 *  the same, none of them a NodeIPPool, and is on a network | yes
 *   that takes addresses, without `ips`                    |
 *  anything else: networks and pools of other programs     | no
 */
function asksPools(object: Bag, { networks, namespaces }: PoolSources, { pools }: Facts): boolean {
  const { labels, annotations } = metadataOfPods(object);
  if ([labels, annotations].some((one) => Object.keys(one).some((key) => key.startsWith(ownPrefix)))) return true;
  const namespace = namespaceOf(object);
  const read = readPodNetworks(annotations, namespace);
  const definitions = new Set(read.map(({ definition }) => definition));
  const text = networkAnnotations.map((one) => `${annotations[one] ?? ""}`).join(" ");
  const isOn = (title: string) =>
    definitions.size > 0 ? definitions.has(title) : text.includes(title.slice(title.indexOf("/") + 1));
  if ([...networks.values()].some(({ title, named }) => Object.keys(named).length > 0 && isOn(title))) return true;
  const needsAddresses = read.some(
    ({ definition, element: { ips } }) => !ips && networks.get(definition)?.takesIps === true,
  );
  if (needsAddresses && namesPools(annotations)) return true;
  const byPod = Object.entries(annotations).flatMap(([name, value]) =>
    isOfSpiderpool(name) ? namesInText(`${value}`) : [],
  );
  const byNamespace = Object.values(namespaces.get(namespace)?.named.value ?? {}).flat();
  const isOurs = (name: string) => [...pools.keys()].some((pool) => isCalled(pool, name));
  return [...byPod, ...byNamespace].some(isOurs);
}

/** Returns the texts in JSON that are no keys. */
function namesInText(json: string): string[] {
  return [...json.matchAll(/"([^"]+)"(?!\s*:)/g)].map(([, name = ""]) => name);
}
