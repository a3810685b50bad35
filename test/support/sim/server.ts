import { IpamError } from "../../../core/index.ts";
import { type KubeObject, type Objects, type Resource, refusalOf, type Stored } from "../../../kube/index.ts";
import { Refusal } from "../../../kube/refusal.ts";
import { asBag, type Bag } from "../../../schema/objects.ts";

/** A change that a watch tells of. */
export interface SimEvent {
  readonly type: "set" | "delete";
  readonly object: Stored & Bag;
}

/** What happens around each request of a client: a simulator decides when it runs, and whether it fails. */
export type Around = <T>(verb: string, run: () => T) => Promise<T>;

/**
 * An API server in memory, as far as controllers can tell: versions, generations, uids, status apart from the rest, owner
 * references and finalizers. What it does was read off a real one, against which test/cluster/sim.test.ts holds it.
 */
export class SimServer {
  readonly objects = new Map<string, Stored & Bag>();
  /** Every change there was, in order: what a watch tells of, sooner or later. */
  readonly events: SimEvent[] = [];
  /** A mutating admission webhook: what it makes of each object that is written. */
  webhook: (object: Stored & Bag) => Stored & Bag = (object) => object;
  private revision = 0;
  private uids = 0;

  client(around: Around): Objects {
    const all = (resource: Resource) =>
      [...this.objects.entries()].filter(([key]) => key.startsWith(`${resource.plural}/`));
    return {
      name: "sim",
      namespace: "nodeippool",
      close() {},
      get: (resource, name, namespace) =>
        around(`get ${resource.plural}`, () => copy(this.objects.get(path(resource, name, namespace))) as never),
      list: (resource) =>
        around(`list ${resource.plural}`, () => all(resource).map(([, object]) => copy(object)) as never),
      create: (resource, object) => around(`create ${resource.plural}`, () => this.create(resource, object) as never),
      put: (resource, object) => around(`put ${resource.plural}`, () => this.put(resource, object) as never),
      dryRun: () => Promise.reject(new Error("nobody asks")),
      delete: (resource, object) => around(`delete ${resource.plural}`, () => this.remove(resource, object)),
      apply: (resource, object, { force = false }) =>
        around(`apply ${resource.plural}`, () => this.apply(resource, object, force) as never),
      patch: (resource, name, namespace, body, options) =>
        around(`patch ${resource.plural}`, () => this.patch(path(resource, name, namespace), body, options) as never),
    };
  }

  create(resource: Resource, object: KubeObject): Stored {
    const { name, namespace } = object.metadata;
    const key = path(resource, name, namespace);
    if (this.objects.has(key)) throw refused(409, "AlreadyExists", name);
    const metadata = { ...object.metadata, uid: `uid-${++this.uids}`, generation: 1, resourceVersion: "" };
    return this.keep(key, { ...object, metadata } as Stored & Bag);
  }

  /** Changes an object as anybody may: what it becomes of what it is. */
  change(resource: Resource, name: string, update: (object: Stored & Bag) => Bag, namespace?: string): Stored {
    const key = path(resource, name, namespace);
    return this.keep(key, update(copy(this.found(key))) as Stored & Bag);
  }

  remove(
    resource: Resource,
    { metadata }: KubeObject & { metadata: { uid?: string; resourceVersion?: string } },
  ): boolean {
    const key = path(resource, metadata.name, metadata.namespace);
    const there = this.objects.get(key);
    if (there === undefined) return false;
    if (metadata.uid !== undefined && metadata.uid !== there.metadata.uid)
      throw refused(409, "Conflict", metadata.name);
    if (metadata.resourceVersion !== undefined && metadata.resourceVersion !== there.metadata.resourceVersion)
      throw refused(409, "Conflict", metadata.name);
    this.end(key, there);
    return true;
  }

  private put(resource: Resource, object: Stored): Stored {
    const key = path(resource, object.metadata.name, object.metadata.namespace);
    const there = this.found(key);
    if (there.metadata.resourceVersion !== object.metadata.resourceVersion)
      throw refused(409, "Conflict", object.metadata.name);
    return this.keep(key, copy(object) as Stored & Bag);
  }

  /** Without force, whatever is there is somebody else's. */
  private apply(resource: Resource, object: KubeObject, force: boolean): Stored {
    const { name, namespace, uid } = object.metadata as KubeObject["metadata"] & { uid?: string };
    const key = path(resource, name, namespace);
    const there = this.objects.get(key);
    if (there === undefined && uid === undefined) return this.create(resource, object);
    if (there === undefined || (uid !== undefined && uid !== there.metadata.uid)) throw refused(409, "Conflict", name);
    const { metadata: _, ...content } = object as KubeObject & Bag;
    if (!force && isOtherwise(there, content)) throw refused(409, "Conflict", name);
    return this.keep(key, merged(there, content) as Stored & Bag);
  }

  private patch(key: string, body: unknown, { type, subresource }: { type: string; subresource?: string }): Stored {
    const there = this.found(key);
    if (type === "json") return this.keep(key, jsonPatched(there, body as JsonPatch) as Stored & Bag);
    const { metadata, status, ...rest } = asBag(body) ?? {};
    const { uid, resourceVersion, ...marks } = asBag(metadata) ?? {};
    if (uid !== undefined && uid !== there.metadata.uid) throw refused(409, "Conflict", there.metadata.name);
    if (resourceVersion !== undefined && resourceVersion !== there.metadata.resourceVersion)
      throw refused(409, "Conflict", there.metadata.name);
    const part = subresource === "status" ? { status } : { ...rest, metadata: marks };
    return this.keep(key, merged(there, part as Bag) as Stored & Bag);
  }

  private found(key: string): Stored & Bag {
    const there = this.objects.get(key);
    if (there === undefined) throw refused(404, "NotFound", key.slice(key.lastIndexOf("/") + 1), "invalid");
    return there;
  }

  private keep(key: string, written: Stored & Bag): Stored {
    const object = this.webhook(written);
    const there = this.objects.get(key);
    const isSame = there !== undefined && JSON.stringify(there) === JSON.stringify(object);
    if (isSame) return copy(there);
    const isNewSpec = there !== undefined && JSON.stringify(there.spec) !== JSON.stringify(object.spec);
    const generation = Number((object.metadata as Bag).generation ?? 1) + (isNewSpec ? 1 : 0);
    const kept = copy({
      ...object,
      metadata: { ...object.metadata, generation, resourceVersion: `${++this.revision}` },
    });
    const { deletionTimestamp, finalizers = [] } = kept.metadata as {
      deletionTimestamp?: string;
      finalizers?: string[];
    };
    this.objects.set(key, kept);
    if (deletionTimestamp !== undefined && finalizers.length === 0) this.end(key, kept);
    else this.events.push({ type: "set", object: copy(kept) });
    return copy(kept);
  }

  private end(key: string, there: Stored & Bag): void {
    const { finalizers = [], deletionTimestamp } = there.metadata as {
      finalizers?: string[];
      deletionTimestamp?: string;
    };
    if (finalizers.length > 0) {
      const metadata = { ...there.metadata, deletionTimestamp: deletionTimestamp ?? "2026-01-01T00:00:00Z" };
      this.keep(key, { ...there, metadata } as Stored & Bag);
      return;
    }
    this.objects.delete(key);
    const metadata = { ...there.metadata, resourceVersion: `${++this.revision}` };
    this.events.push({ type: "delete", object: copy({ ...there, metadata }) as Stored & Bag });
  }

  /** The garbage collector: what belongs to an object that is gone goes, too. */
  collect(): void {
    const uids = new Set([...this.objects.values()].map(({ metadata }) => metadata.uid));
    for (const [key, object] of this.objects) {
      const owners = (object.metadata as { ownerReferences?: { uid: string }[] }).ownerReferences ?? [];
      if (owners.length > 0 && owners.every(({ uid }) => !uids.has(uid))) this.end(key, object);
    }
  }
}

type JsonPatch = readonly { readonly op: string; readonly path: string; readonly value?: unknown }[];

/** Only what controllers send: test, add and remove of fields. */
function jsonPatched(object: Bag, patch: JsonPatch): Bag {
  const result = copy(object) as Record<string, unknown>;
  for (const { op, path, value } of patch) {
    const fields = path
      .slice(1)
      .split("/")
      .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
    const last = fields.pop() as string;
    let parent = result;
    for (const field of fields) parent = parent[field] as Record<string, unknown>;
    if (op === "test" && JSON.stringify(parent[last]) !== JSON.stringify(value))
      throw refused(409, "Conflict", "json patch");
    if (op === "add" || op === "replace") parent[last] = copy(value);
    if (op === "remove") delete parent[last];
  }
  return result;
}

function merged(there: Bag, part: Bag): Bag {
  const result: Record<string, unknown> = { ...there };
  for (const [field, value] of Object.entries(part)) {
    const old = asBag(result[field]);
    const next = asBag(value);
    if (value === null) delete result[field];
    else if (value !== undefined) result[field] = next === undefined ? copy(value) : merged(old ?? {}, next);
  }
  return result;
}

/** Has an object one of these fields with another value? */
function isOtherwise(there: Bag, part: Bag): boolean {
  return Object.entries(part).some(([field, value]) => {
    const [old, next] = [asBag(there[field]), asBag(value)];
    if (old !== undefined && next !== undefined) return isOtherwise(old, next);
    return there[field] !== undefined && JSON.stringify(there[field]) !== JSON.stringify(value);
  });
}

function path({ plural }: Resource, name: string, namespace?: string): string {
  return namespace === undefined ? `${plural}/${name}` : `${plural}/${namespace}:${name}`;
}

/** A copy of JSON, in a fifth of the time that structuredClone takes. */
export function copy<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(copy) as T;
  const fields = { ...(value as Record<string, unknown>) };
  for (const field in fields) fields[field] = copy(fields[field]);
  return fields as T;
}

/** The error that a client makes of a refusal. */
export function refused(
  status: number,
  reason: string,
  name: string,
  code: "conflict" | "invalid" = "conflict",
): IpamError {
  const body = JSON.stringify({ kind: "Status", reason, message: `${reason}: ${name}`, details: { name } });
  const error = new IpamError(code, `${reason}: ${name}`, { cause: new Refusal({ status, headers: {}, body }) });
  if (refusalOf(error) === undefined) throw new Error("a refusal without its cause");
  return error;
}
