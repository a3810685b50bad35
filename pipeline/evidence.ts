import { emptySnapshot, IpamError } from "../core/index.ts";
import { isCsv, readCsv } from "../schema/csv.ts";
import { type Evidence, emptyFindings, type Findings } from "../schema/findings.ts";
import { readNetworkStates } from "../schema/network-states.ts";
import type { ClusterNode } from "../schema/node.ts";
import { objectsIn } from "../schema/objects-in-text.ts";
import { type SourceFile, splitDocuments } from "../schema/yaml.ts";
import { readersOfUses, usesOf } from "./desired.ts";
import { integrations, tellingKinds, tellsAddresses } from "./integrations.ts";
import { OwnerNames } from "./owner-names.ts";

/**
 * Reads NodeNetworkStates and NodeNetworkConfigurationPolicies with literal addresses (JSON or YAML, Lists, several
 * documents), or CSV: `node,interface,address`, or where there is none of these, a ConfigMap of network states as Metal3's
 * IPAM study has it. `nodes` tells whose a policy is; without it a hostname is a node's name. `names` tells whom a name means.
 * Link-local and loopback addresses are left out. Throws IpamError `invalid` with every issue: a text that shows
 * neither, an address that is none, a NodeNetworkState that may hide one, a policy whose nodes are not known.
 */
export function readEvidence(
  file: SourceFile,
  nodes: readonly ClusterNode[] = [],
  names = OwnerNames.of(emptySnapshot),
): Evidence {
  const found = emptyFindings();
  if (isCsv(file)) readCsv(file, found);
  else readObjects(file, nodes, found);
  const label = file.label ?? file.path;
  const uses = found.uses.map(names.resolve);
  for (const { owner, at } of uses)
    if (isObject(owner))
      found.issues.push({
        message: "this address is configured, but for whom is not known",
        at,
        hint: "For whom a policy is, nodes with their labels tell (kubectl get nodes -o json); of network data, its label.",
      });
  found.issues.push(...found.unreadable);
  if (!found.speaks && found.issues.length === 0)
    found.issues.push({
      message: `${label} shows nobody's addresses`,
      hint: "Give it kubectl get nns -o json, policies with literal addresses, or CSV: node,interface,address.",
    });
  if (found.issues.length > 0) throw new IpamError("invalid", found.issues);
  return { uses, nodes: names.reports(found.nodes), names: found.names };
}

/** Returns whether an object has an address, and does not name its owner. Some objects are owners themselves. */
function isObject(owner = ""): boolean {
  if (integrations.some(({ isClaim }) => isClaim(`${owner}/any`))) return false;
  return tellingKinds().some((kind) => owner.startsWith(`${kind}/`));
}

function readObjects(file: SourceFile, nodes: readonly ClusterNode[], found: Findings): void {
  const chunks = splitDocuments(file);
  const telling = chunks.filter((chunk) => tellsAddresses(chunk.text));
  const states = telling.length > 0 ? [] : chunks.filter((chunk) => /\bConfigMap\b/.test(chunk.text));
  const readers = readersOfUses(integrations, nodes);
  for (const chunk of [...telling, ...states]) {
    const objects = objectsIn(chunk);
    found.issues.push(...(objects.issues ?? []));
    for (const located of objects.value ?? [])
      if (telling.length > 0) found.uses.push(...usesOf(located, readers, found));
      else if (located.object.kind === "ConfigMap") readNetworkStates(located, found);
  }
}
