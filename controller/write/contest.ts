import { isManaged } from "../../integrations/contract/managed-by.ts";
import { objectKey } from "../../integrations/contract/object-key.ts";
import type { WatchedKind } from "../../integrations/contract/watched-kind.ts";
import { asBag, asList } from "../../schema/objects.ts";
import type { World } from "../cache/world.ts";
import type { Observer } from "../dependencies.ts";
import { changedFields, fieldPath, isOnlyDropped } from "./superset.ts";
import type { Contested, Refused, Write } from "./write-limit.ts";

/** So many fields are named. */
const maxFields = 5;

/** What can change an object as it is written. */
const changers = "kubectl get mutatingwebhookconfigurations and kubectl get mutatingadmissionpolicies";

/**
 * Returns the message of the Event about a write that another program undoes: what it undoes, and what to look at. `isFixed`: an object of
 * this kind cannot be changed once it is created.
 */
export function contestMessage(write: Write, answer: unknown, isFixed = false): string {
  const { verb, resource, name, written, subresource } = write;
  const { plural } = resource;
  const pause = "The controller tries again, with growing pauses of up to a minute.";
  const lost = verb === "delete" ? [] : changedFields(written, answer);
  const part = subresource === undefined ? "" : ` (${subresource})`;
  const what = `of ${plural} ${name}${part}`;
  if (lost.length > 0) {
    const remake = isFixed ? `, then delete ${plural} ${name}: the controller creates it again` : "";
    return isPruned(write, answer, lost)
      ? `the API server drops ${listed(lost)} ${what} when the controller writes it: the CRD of ${plural} may be older than the controller. Next: ${newCrd(resource)}${remake}. If that changes nothing, see ${changers}.`
      : `an admission webhook or policy changes ${listed(lost)} ${what} when the controller writes it. Next: see ${changers}${remake}.`;
  }
  if (verb === "create")
    return `another program deletes ${plural} ${name} each time the controller has made it. ${pause} Next: look for what prunes it, such as kubectl apply, Argo CD or Flux.`;
  if (verb === "delete")
    return `another program makes ${plural} ${name} again each time the controller has deleted it. ${pause} Next: see in its metadata.managedFields which.`;
  return `another program changes ${listed(leavesOf(written))} ${what} back each time the controller has written it. ${pause} Next: see in its metadata.managedFields which program writes it.`;
}

/** Reports whether the API server drops fields that the CRD of an object does not have: it never drops metadata. */
function isPruned({ resource, written }: Write, answer: unknown, lost: readonly string[]): boolean {
  const isCustom = resource.apiVersion.includes(".");
  return isCustom && !lost.some((path) => path.startsWith("metadata.")) && isOnlyDropped(written, answer);
}

function newCrd({ apiVersion, plural }: Write["resource"]): string {
  return apiVersion.startsWith("nmstate.io/") && plural === "nodeippools"
    ? "apply the CRD of this release"
    : `update the CRD of ${plural}`;
}

function listed(fields: readonly string[]): string {
  return fields.slice(0, maxFields).join(", ") + (fields.length > maxFields ? " and others" : "");
}

/** Returns the key of the object that users look at for a write: what the written one was made of, if it is there, or that itself. */
function aboutWrite({ name, namespace, written }: Write, kind: WatchedKind, world: World): string {
  const { apiVersion } = kind;
  const id = { apiVersion, kind: kind.kind, metadata: { name, ...(namespace !== undefined && { namespace }) } };
  const key = objectKey(id);
  const [source] = world.concerns(world.get(key) ?? { ...id, ...written }).sources;
  return source !== undefined && world.get(source) !== undefined ? source : key;
}

function leavesOf(written: unknown, path = ""): string[] {
  const fields = asBag(written);
  if (fields === undefined) return [path];
  return Object.entries(fields).flatMap(([name, value]) => leavesOf(value, fieldPath(path, name)));
}

/** Tells, on the object that users look at, of writes that another program undoes. */
export function tellContest(worlds: () => readonly World[], observer: Pick<Observer, "wrong">): Contested {
  return (write, answer) => {
    const { about, kind } = objectOf(write, worlds());
    const isFixed = kind?.fixed !== undefined && isManaged(asBag(answer) ?? {});
    observer.wrong(about, "ChangedBack", contestMessage(write, answer, isFixed));
  };
}

/** Tells of writes that the API server refuses, also on the owner of an object that cannot be created. */
export function tellRefused(worlds: () => readonly World[], observer: Pick<Observer, "wrong">): Refused {
  return (write, why) => observer.wrong(objectOf(write, worlds()).about, "Refused", refusedMessage(write, why));
}

/** Returns the message of the Event about a write that the API server refuses, with the next step. */
export function refusedMessage({ verb, resource, name, subresource }: Write, why: string): string {
  const part = subresource === undefined ? "" : ` (${subresource})`;
  const [, next] = refusals.find(([pattern]) => pattern.test(why)) ?? [];
  return `the API server refuses to ${verb} ${resource.plural} ${name}${part}: ${why.slice(0, 500)}. Next: ${next ?? "change what refuses it, as the message says"}. The controller tries again.`;
}

/** What an API server says, and the next step. */
const refusals: readonly (readonly [RegExp, string])[] = [
  [/\bcannot \w+ resource\b/, "apply the roles of this release: the controller lacks this right"],
  [/exceeded quota/, "raise the quota of the namespace, or delete what uses it up"],
  [/admission webhook|ValidatingAdmissionPolicy/, "let that admission webhook or policy admit the controller's write"],
];

/** Returns the key of the object that users look at for a write, and its kind, as far as it is watched. */
function objectOf(write: Write, worlds: readonly World[]) {
  const { apiVersion, plural } = write.resource;
  const kindIn = (one: World) =>
    one.allKinds().find((kind) => kind.plural === plural && kind.apiVersion === apiVersion);
  const world = worlds.find((one) => kindIn(one) !== undefined);
  const kind = world && kindIn(world);
  const about = world && kind ? aboutWrite(write, kind, world) : write.name;
  const keys = [about, ...ownersIn(write)];
  return { about: keys.find((key) => worlds.some((one) => one.get(key) !== undefined)) ?? about, kind };
}

/** The keys of the objects that a written one is to belong to. */
function ownersIn({ namespace, written }: Write): string[] {
  return asList(asBag(written.metadata)?.ownerReferences).flatMap((one) => {
    const { apiVersion, kind, name } = asBag(one) ?? {};
    const id = { apiVersion: `${apiVersion}`, kind: `${kind}` };
    const metadata = { name: `${name}` };
    return [objectKey({ ...id, metadata: { ...metadata, namespace } }), objectKey({ ...id, metadata })];
  });
}
