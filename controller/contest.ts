import type { WatchedKind } from "../integrations/in-cluster.ts";
import { objectKey } from "../integrations/object-key.ts";
import { asBag } from "../schema/objects.ts";
import type { Observer } from "./ground.ts";
import { changedFields, fieldPath, isOnlyDropped } from "./superset.ts";
import type { World } from "./world.ts";
import type { Contested, Write } from "./write-limit.ts";

/** So many fields are named. */
const most = 5;

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
  return fields.slice(0, most).join(", ") + (fields.length > most ? " and others" : "");
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
    const { apiVersion, plural } = write.resource;
    const kindIn = (world: World) =>
      world.allKinds().find((one) => one.plural === plural && one.apiVersion === apiVersion);
    const world = worlds().find((one) => kindIn(one) !== undefined);
    const kind = world && kindIn(world);
    const about = world && kind ? aboutWrite(write, kind, world) : write.name;
    observer.wrong(about, "ChangedBack", contestMessage(write, answer, kind?.fixed !== undefined));
  };
}
