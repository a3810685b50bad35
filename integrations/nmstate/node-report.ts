import { type Family, nodeOwner, type Use } from "../../core/index.ts";
import type { Findings } from "../../schema/findings.ts";
import { nameIssue } from "../../schema/names.ts";
import type { Bag, LocatedObject } from "../../schema/objects.ts";
import { raw } from "../../schema/shape.ts";
import { entriesOf, type ListedAddress, readAddress, useIn } from "./listed-address.ts";
import { otherNames, reportedName } from "./nic-names.ts";
import { asNic, asReport, type Nic } from "./objects.ts";
import { doubtsAbout, listsAddresses } from "./reported.ts";
import { asTruth } from "./truth.ts";

/** Adds the addresses that a NodeNetworkState reports for its node. */
export function readReport({ object, at }: LocatedObject, found: Findings): void {
  found.speaks = true;
  const { metadata, status } = asReport(object);
  const { name } = metadata;
  const reported = raw(status.currentState).interfaces ?? [];
  const path = ["status", "currentState", "interfaces"];
  if (!Array.isArray(reported)) {
    found.issues.push({ message: "the interfaces of a NodeNetworkState must be a list", at: at(path, "interfaces") });
    return;
  }
  if (reported.length === 0) return;
  const issue = nameIssue(name);
  if (issue !== undefined) {
    found.issues.push({ message: `the name of a NodeNetworkState ${issue}`, at: at(["metadata"], "metadata") });
    return;
  }
  const owner = nodeOwner(`${name}`);
  const isHeard = !status.conditions.some(({ type, status }) => type === "Failing" && status === "True");
  const shown = (isHeard ? found.nodes.get(owner) : undefined) ?? new Map<string, Set<Family>>();
  if (isHeard) found.nodes.set(owner, shown);
  at(["status"], "interfaces");
  reported.forEach((item, i) => {
    for (const { message, path: inside } of doubtsAbout(item))
      found.issues.push({
        message: `node ${name}: ${message}`,
        at: at([...path, i, ...inside], `${inside.findLast((field) => typeof field === "string") ?? "interfaces"}`),
        hint: whole,
      });
    for (const entry of entriesOf(asNic(item), [...path, i])) {
      const use = useIn(entry, at, readAddress, found.issues);
      if (use !== undefined) found.uses.push({ ...use, owner, ...lifeOf(entry) });
    }
    show(shown, asNic(item));
  });
  for (const [other, nic] of otherNames(reported)) {
    found.names.add(owner, other, nic);
    const families = shown.get(nic);
    if (families !== undefined && !shown.has(other)) shown.set(other, families);
  }
}

/**
 * Two interfaces of one name (an OVS bridge and its port) are one NIC here. One that is down, or that nmstate ignores, is
 * reported without addresses whatever its profile gives it: only the report of one that is up counts.
 */
function show(shown: Map<string, Set<Family>>, nic: Nic): void {
  const { state = "up", ipv4, ipv6 } = nic;
  if (state !== "up") return;
  const name = `${reportedName(nic)}`;
  const families = shown.get(name) ?? new Set();
  if (listsAddresses(ipv4)) families.add(4);
  if (listsAddresses(ipv6)) families.add(6);
  shown.set(name, families);
}

const whole = "Give the dump as it came: kubectl get nns -o json.";

/** Returns how long a node has an address. A report has a lifetime for each address, `forever` for static ones; older reports have none. */
function lifeOf({ item, section }: ListedAddress): Pick<Use, "isTemporary" | "mayBeTemporary"> {
  const fields: Bag = raw(item);
  const left = lifeTimes.map((field) => fields[field] ?? undefined).find((value) => value !== undefined);
  if (left !== undefined) return left === "forever" ? {} : { isTemporary: true };
  return asTruth(section.dhcp) === true || asTruth(section.autoconf) === true ? { mayBeTemporary: true } : {};
}

/** All names that nmstate has for it. */
const lifeTimes = ["valid", "preferred"].flatMap((one) => [`${one}-life-time`, `${one}-left`, `${one}-lft`]);
