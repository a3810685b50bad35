import type { RenderedObject } from "../../integrations/contract/integration.ts";
import { isManaged, marked } from "../../integrations/contract/managed-by.ts";
import type { Stored } from "../../kube/index.ts";
import { asBag, type Bag } from "../../schema/objects.ts";
import type { Seen } from "../cache/seen.ts";
import type { World } from "../cache/world.ts";
import { type Dependencies, timeOf } from "../dependencies.ts";
import { fingerprint } from "./change.ts";
import { appliedTest, wasApplied, withAppliedDigest } from "./compared.ts";
import { replacement } from "./replacement.ts";
import { type Status, type Style, statusPatch } from "./status.ts";

/** While it is on a NodeIPPool, the API server does not delete the pool: it is there for as long as lines of the pool are on record. */
export const poolFinalizer = "nmstate.io/nodeippool-in-use";

type WriterDependencies = Pick<Dependencies, "objects" | "clock" | "timing" | "today">;

/**
 * Sends all writes of the controller, but for Events. Each returns the object as the API server has it then, and as it is seen from
 * now on; each throws as the API server refuses. An object is changed only if it is still as it was seen.
 */
export class Writer {
  private readonly deps: WriterDependencies;
  private readonly world: World;

  constructor(deps: WriterDependencies, world: World) {
    this.deps = deps;
    this.world = world;
  }

  /** Returns whether a record that was read at `readAt` is too old to create or delete an object (see timing.ts). */
  isTooOld(readAt: number | undefined): boolean {
    return readAt === undefined || this.deps.clock.now() - readAt > this.deps.timing.send;
  }

  /** `read` gets the whole of what the server has, before it is seen. */
  async create(object: RenderedObject, read: (stored: Stored) => void = () => {}): Promise<Seen> {
    const kind = this.world.kindFor(object);
    const isOfStatus = kind.statusPart !== undefined;
    const { status, ...rest } = object;
    const stored = await this.deps.objects.create(kind, isOfStatus ? rest : object);
    read(stored);
    const seen = this.world.take(kind, stored);
    return isOfStatus ? this.merge(seen, { status }, "status") : seen;
  }

  /** Sees to it that an object of the controller says this. What others, such as webhooks, have changed in it since stays. */
  async put(object: RenderedObject, there: Seen | undefined): Promise<Seen> {
    const mark = fingerprint(object, this.world.kindFor(object));
    if (there !== undefined && wasApplied(there, mark)) return there;
    const whole = withAppliedDigest(marked(object), mark);
    if (there === undefined) return this.create(whole);
    // Its status, which others write all the time, may be another one meanwhile.
    const kind = this.world.kindFor(object);
    const isOfVersion = (one: Bag) => one.path === "/metadata/resourceVersion";
    const patch = [appliedTest(there), ...replacement(whole, there, kind).filter((one) => !isOfVersion(one))];
    const { name, namespace } = there.metadata;
    return this.world.take(kind, await this.deps.objects.patch(kind, name, namespace, patch, { type: "json" }));
  }

  /** Puts what the controller says in the place of what an object says. `read` as for a creation. */
  async replace(there: Seen, object: RenderedObject, read: (stored: Stored) => void): Promise<Seen> {
    const kind = this.world.kindFor(object);
    const { name, namespace } = there.metadata;
    if (kind.statusPart !== undefined && isManaged(there))
      return this.merge(there, { status: withoutOthers(asBag(object.status), asBag(there.status)) }, "status");
    const patch = replacement(object, there, kind);
    const stored = await this.deps.objects.patch(kind, name, namespace, patch, { type: "json" });
    read(stored);
    return this.world.take(kind, stored);
  }

  /** Changes fields; null takes one away. */
  async change(object: Seen, { metadata, ...fields }: Bag): Promise<Seen> {
    return this.merge(object, { ...fields, metadata: asBag(metadata) });
  }

  /** Sees to it that an object has this finalizer, or has not. */
  async finalizer(object: Seen, name: string, isWanted: boolean): Promise<Seen> {
    const { finalizers = [] } = object.metadata;
    if (finalizers.includes(name) === isWanted) return object;
    const wanted = isWanted ? [...finalizers, name] : finalizers.filter((one) => one !== name);
    return this.change(object, { metadata: { finalizers: wanted } });
  }

  /** Sees to it that a status says this. */
  async status(object: Seen, status: Status, style: Style): Promise<Seen> {
    const patch = statusPatch(asBag(object.status), status, style, timeOf(this.deps));
    return patch === undefined ? object : this.merge(object, { status: patch }, "status");
  }

  /** Sets fields of a spec beside the user's, or takes them by force. The uid sees to it that a deleted object is not created anew. */
  async apply(object: Seen, spec: Bag, force: boolean): Promise<Seen> {
    const { apiVersion, kind, metadata } = object;
    const { name, namespace, uid } = metadata;
    const part = { apiVersion, kind, metadata: { name, ...(namespace && { namespace }), uid }, spec };
    const watched = this.world.kindFor(object);
    return this.world.take(watched, await this.deps.objects.apply(watched, part, { manager: "nodeippool", force }));
  }

  async delete(object: Seen): Promise<void> {
    await this.deps.objects.delete(this.world.kindFor(object), object as unknown as Stored);
  }

  private async merge(object: Seen, { metadata, ...fields }: Bag, subresource?: "status"): Promise<Seen> {
    const { name, namespace, uid, resourceVersion } = object.metadata;
    const kind = this.world.kindFor(object);
    const body = { ...fields, metadata: { ...asBag(metadata), uid, resourceVersion } };
    const how = { type: "merge", ...(subresource && { subresource }) } as const;
    return this.world.take(kind, await this.deps.objects.patch(kind, name, namespace, body, how));
  }
}

/** Returns a merge patch of these fields that takes away what else the mappings in them have. */
function withoutOthers(fields: Bag = {}, there: Bag = {}): Bag {
  const nothing = (value: unknown) => Object.fromEntries(Object.keys(asBag(value) ?? {}).map((key) => [key, null]));
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, { ...nothing(there[name]), ...asBag(value) }]),
  );
}
