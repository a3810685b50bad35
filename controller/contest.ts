import { objectKey } from "../integrations/object-key.ts";
import { asBag } from "../schema/objects.ts";
import type { Observer } from "./ground.ts";
import { changedFields, fieldPath } from "./superset.ts";
import type { World } from "./world.ts";
import type { Contested, Write } from "./write-limit.ts";

/** So many fields are named. */
const most = 5;

/** Returns what is said of a write that another program undoes: what it undoes, and what to look at. */
export function contestMessage({ verb, resource, name, written, subresource }: Write, answer: unknown): string {
  const { plural } = resource;
  const pause = "The controller tries again, with growing pauses of up to a minute.";
  const lost = verb === "delete" ? [] : changedFields(written, answer);
  const part = subresource === undefined ? "" : ` (${subresource})`;
  const what = `of ${plural} ${name}${part}`;
  if (lost.length > 0)
    return `an admission webhook changes ${listed(lost)} ${what} when the controller writes it. Next: see kubectl get mutatingwebhookconfigurations.`;
  if (verb === "create")
    return `another program deletes ${plural} ${name} each time the controller has made it. ${pause} Next: look for what prunes it, such as kubectl apply, Argo CD or Flux.`;
  if (verb === "delete")
    return `another program makes ${plural} ${name} again each time the controller has deleted it. ${pause} Next: see in its metadata.managedFields which.`;
  return `another program changes ${listed(leavesOf(written))} ${what} back each time the controller has written it. ${pause} Next: see in its metadata.managedFields which program writes it.`;
}

function listed(fields: readonly string[]): string {
  return fields.slice(0, most).join(", ") + (fields.length > most ? " and others" : "");
}

/** Returns the key of the object that users look at for a write: what the written one was made of, if it is there, or that itself. */
function aboutWrite({ resource, name, namespace, written }: Write, worlds: readonly World[]): string {
  for (const world of worlds) {
    const { apiVersion, plural } = resource;
    const kind = world.allKinds().find((one) => one.plural === plural && one.apiVersion === apiVersion);
    if (kind === undefined) continue;
    const id = { apiVersion, kind: kind.kind, metadata: { name, ...(namespace !== undefined && { namespace }) } };
    const key = objectKey(id);
    const [source] = world.concerns(world.get(key) ?? { ...id, ...written }).sources;
    return source !== undefined && world.get(source) !== undefined ? source : key;
  }
  return name;
}

function leavesOf(written: unknown, path = ""): string[] {
  const fields = asBag(written);
  if (fields === undefined) return [path];
  return Object.entries(fields).flatMap(([name, value]) => leavesOf(value, fieldPath(path, name)));
}

/** Tells, on the object that users look at, of writes that another program undoes. */
export function tellContest(worlds: () => readonly World[], observer: Pick<Observer, "wrong">): Contested {
  return (write, answer) => observer.wrong(aboutWrite(write, worlds()), "ChangedBack", contestMessage(write, answer));
}
