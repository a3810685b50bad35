import type { Issue } from "../core/index.ts";
import { didYouMean } from "./nearest.ts";
import { ownPrefix } from "./node.ts";
import { resetAnnotation } from "./node-ip-pool.ts";
import { asBag, asList, type Bag, issueIn, type LocatedObject } from "./objects.ts";

type Place = "label" | "annotation";

/** A label or annotation with our prefix, and the objects that may have it. */
interface OwnKey {
  /** What follows the prefix. */
  readonly name: string;
  readonly place: Place;
  readonly on: readonly string[];
  /** The values that a label may have; absent where others check it, or any is right. */
  readonly values?: readonly string[];
}

const template = "pod template";
const pods = ["Pod", template];
/** Only its labels are checked here: its parser checks its annotations. */
const policy = "NodeNetworkConfigurationPolicy";

/** The labels and annotations with our prefix that users write, or may copy. */
const userKeys: readonly OwnKey[] = [
  { name: "addresses", place: "label", on: pods, values: ["gated", "planned"] },
  { name: "addresses", place: "label", on: ["StatefulSet", "Deployment"], values: ["planned"] },
  { name: "pool", place: "annotation", on: [...pods, "NetworkAttachmentDefinition"] },
  { name: "detect", place: "annotation", on: pods },
  { name: "node-selector", place: "annotation", on: ["NetworkAttachmentDefinition"] },
  { name: "addresses", place: "annotation", on: ["IPAMClaim"] },
  { name: "nodes-per-sync-wave", place: "annotation", on: [policy] },
];

/** Those that plans and the controller write into objects that users write, too. */
const writtenKeys: readonly OwnKey[] = [
  ...["allocated", "freed", "gateways", "pod-index"].map((name) => ({ name, place: "annotation", on: pods }) as const),
  ...["vm", "vm-uid"].map((name) => ({ name, place: "annotation", on: ["IPAMClaim"] }) as const),
  { name: "planned", place: "label", on: ["IPAMClaim"] },
  { name: "host", place: "label", on: ["BareMetalHost"] },
  { name: "network-data", place: "annotation", on: ["BareMetalHost"] },
  { name: "conflicts", place: "annotation", on: ["NodeIPPool"] },
  ...["policy", "node"].map((name) => ({ name, place: "label", on: [policy] }) as const),
];

const [resetPrefix, resetName] = resetAnnotation.split(/(?<=\/)/) as [string, string];

/** `mac-<NIC>` on a BareMetalHost. */
const macKey = /^mac-./;

const withTemplate = ["StatefulSet", "Deployment", "DaemonSet", "Job"];

/** The kinds that are looked at. A ReplicaSet has the labels of its Deployment's template. */
const kinds = new Set([
  ...["Node", "Pod", ...withTemplate, "NodeIPPool", policy],
  ...["NetworkAttachmentDefinition", "IPAMClaim", "VirtualMachine", "BareMetalHost"],
]);

/** On these a newer controller may write keys of its own: of what is not known there, only what resembles a key of users is wrong. */
const writtenByControllers = new Set(["Node", "Pod", "IPAMClaim"]);

/**
 * Returns what is wrong with the labels and annotations of an object that have our prefix, also with those of its pod template.
 *
 *  the key                                  | what is wrong
 *  -----------------------------------------+---------------------------------------------
 *  one that the object may have             | its value, if it is none of the known ones
 *  one that users write elsewhere           | its place: where it belongs
 *  any other; on an object that controllers | it is unknown
 *   write, it also resembles a known one    |
 *  nmstate.io/..., and resembles the        | it is unknown
 *   annotation that asks for a reset        |
 *  that annotation, as a label              | its place
 *
 * A pod that a workload of apps/v1 has made has its keys of the template, where they are told.
 */
export function wrongKeys(object: Bag): Issue[] {
  const kind = `${object.kind}`;
  const metadata = asBag(object.metadata);
  if (!kinds.has(kind) || (kind === "Pod" && isMade(metadata))) return [];
  const inner = asBag(asBag(asBag(object.spec)?.template)?.metadata);
  const isOfPods = kind !== "VirtualMachine";
  return [
    ...wrongIn(metadata, kind, ["metadata"]),
    ...(isOfPods ? wrongIn(inner, template, ["spec", "template", "metadata"]) : []),
  ];
}

/** The same of an object of a text, each with its place. */
export function wrongKeysIn(source: LocatedObject): Issue[] {
  return wrongKeys(source.object).map((issue) => issueIn(source, issue));
}

function isMade(metadata: Bag | undefined): boolean {
  return asList(metadata?.ownerReferences).some((one) => `${asBag(one)?.apiVersion}`.startsWith("apps/"));
}

function wrongIn(metadata: Bag | undefined, on: string, path: readonly string[]): Issue[] {
  return (["label", "annotation"] as const).flatMap((place) =>
    Object.entries(asBag(metadata?.[`${place}s`]) ?? {}).flatMap(([key, value]) => {
      const isChecked = key.startsWith(ownPrefix) && !(on === policy && place === "annotation");
      const wrong = isChecked ? wrongWith(key, `${value}`, place, on) : wrongReset(key, place);
      return wrong === undefined ? [] : [{ hint, ...wrong, ...hints[on], path: [...path, `${place}s`, key] }];
    }),
  );
}

const hint = "It has no effect: correct it, or remove it.";
const hints: Readonly<Record<string, { readonly hint: string }>> = {
  VirtualMachine: {
    hint: "It has no effect: a VM asks for addresses by annotation network.kubevirt.io/addresses of its template.",
  },
};

function wrongWith(key: string, value: string, place: Place, on: string): Issue | undefined {
  const name = key.slice(ownPrefix.length);
  const known = [...userKeys, ...writtenKeys].filter((one) => one.place === place && one.on.includes(on));
  const same = known.find((one) => one.name === name);
  if (same !== undefined) return wrongValue(key, value, same, on);
  if (on === "BareMetalHost" && macKey.test(name)) return undefined;
  const elsewhere = userKeys.find((one) => one.name === name);
  if (elsewhere !== undefined)
    return { message: `${place} ${key} has no effect on a ${on}`, hint: whereTo(elsewhere, place, on) };
  const near = suggestion(
    name,
    known.map((one) => one.name),
    place,
  );
  return near === "" && writtenByControllers.has(on) ? undefined : { message: `unknown ${place} ${key}${near}` };
}

/** The annotation that asks for a reset is the only one that users write with another prefix. */
function suggestion(name: string, known: readonly string[], place: Place): string {
  const near = didYouMean(name, new Set(place === "annotation" ? [...known, resetName] : known));
  return near.replace("mean ", `mean ${ownPrefix}`).replace(`${ownPrefix}${resetName}`, resetAnnotation);
}

/** Other keys with the prefix of the annotation that asks for a reset are those of kubernetes-nmstate. */
function wrongReset(key: string, place: Place): Issue | undefined {
  if (key === resetAnnotation)
    return place === "annotation"
      ? undefined
      : { message: `label ${key} has no effect`, hint: "Make it an annotation." };
  const near = key.startsWith(resetPrefix) ? didYouMean(key.slice(resetPrefix.length), [resetName]) : "";
  return near === "" ? undefined : { message: `unknown ${place} ${key}; did you mean ${resetAnnotation}?` };
}

function wrongValue(key: string, value: string, { name, place, values }: OwnKey, on: string): Issue | undefined {
  if (values === undefined || values.includes(value)) return undefined;
  const elsewhere = userKeys.find((one) => one.name === name && one.values?.includes(value));
  const meant =
    elsewhere === undefined ? didYouMean(value, values) : `, which is a ${elsewhere.place} of a ${anyOf(elsewhere.on)}`;
  return { message: `${place} ${key} of a ${on} must be ${values.join(" or ")}, not "${value}"${meant}` };
}

/** Returns where to put a key that is on an object of a kind, as what it was there. */
function whereTo({ place, on }: OwnKey, was: Place, kind: string): string {
  const kindOfKey = place === "label" ? "a label" : "an annotation";
  if (on.includes(kind)) return `Make it ${kindOfKey}.`;
  const there = on.includes(template) && withTemplate.includes(kind) ? `the ${template}` : `a ${anyOf(on)}`;
  return `Set it on ${there}${place === was ? "" : `, as ${kindOfKey}`}.`;
}

function anyOf(kinds: readonly string[]): string {
  return kinds.join(", a ").replace(/, a (?=[^,]*$)/, " or a ");
}
