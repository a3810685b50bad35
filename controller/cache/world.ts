import { kindOf, nameOfKind } from "../../integrations/contract/object-key.ts";
import type { Concern } from "../../integrations/contract/watched-kind.ts";
import { resetAnnotation } from "../../schema/node-ip-pool.ts";
import type { Bag } from "../../schema/objects.ts";
import type { Cache, CacheReader } from "./cache.ts";
import type { Seen } from "./seen.ts";
import type { CachedKind, WorldKind } from "./world-kind.ts";

/**
 * One reader's index of the cache: the objects of the kinds that it watches, by kind, by owner and by source. It reports whom each
 * change concerns, and decides nothing.
 */
export class World implements CacheReader {
  readonly cache: Cache;
  private readonly kinds: ReadonlyMap<string, WorldKind>;
  /** The kinds that owners are, by the names that the record has for them. */
  private readonly ownerKinds: ReadonlyMap<string, string>;
  private readonly changed: (concern: Concern, key: string) => void;
  private readonly byOwner = new Map<string, Map<string, Seen>>();
  private readonly bySource = new Map<string, Map<string, Seen>>();
  private readonly asking = new Set<string>();
  /** The kinds of reports that are not followed: what owners have may be otherwise by now. */
  private readonly lost = new Set<string>();

  /** Each kind once. */
  constructor(cache: Cache, kinds: readonly WorldKind[], changed: (concern: Concern, key: string) => void) {
    this.cache = cache;
    this.kinds = new Map(kinds.map((kind) => [nameOfKind(kind), kind]));
    this.changed = changed;
    this.ownerKinds = new Map(kinds.filter(({ isOwner }) => isOwner).map((kind) => [kind.kind, nameOfKind(kind)]));
    cache.read(this);
  }

  listed(kind: string): void {
    if (this.hasKind(kind)) this.changed({ owners: "all", sources: [] }, `${kind}/`);
  }

  followed(kind: string, isFollowed: boolean): void {
    const isReport = this.kinds.get(kind)?.shows !== undefined;
    if (!isFollowed && this.isListed(kind) && isReport) this.lost.add(kind);
    else if (this.lost.delete(kind) && this.isReporting()) this.changed({ owners: "all", sources: [] }, `${kind}/`);
  }

  /** Returns whether a kind was ever listed. If not, a missing object proves nothing. */
  isListed(kind: string): boolean {
    return this.cache.isListed(kind);
  }

  /** Returns whether the reports of all owners are watched. If not, an owner may have an address that neither the record nor the cache shows. */
  isReporting(): boolean {
    return this.lost.size === 0;
  }

  /** All kinds that are watched. */
  allKinds(): WorldKind[] {
    return [...this.kinds.values()];
  }

  /** Returns whether a kind is watched. */
  hasKind(kind: string): boolean {
    return this.kinds.has(kind);
  }

  /** How to ask the server for objects of a kind, and what they are to this reader. */
  kind(name: string): WorldKind {
    return this.kinds.get(name) as WorldKind;
  }

  /** The same for an object. */
  kindFor(object: { readonly apiVersion: string; readonly kind: string }): WorldKind {
    return this.kind(nameOfKind(object));
  }

  /** The key of the object that an owner is; undefined where owners of its kind are no objects here. */
  keyOfOwner(owner: string): string | undefined {
    const kind = this.ownerKinds.get(kindOf(owner));
    return kind && kind + owner.slice(owner.indexOf("/"));
  }

  /** The object that an owner is. */
  owner(owner: string): Seen | undefined {
    return this.get(this.keyOfOwner(owner) ?? "");
  }

  /** Returns whether an owner is an object, and that object is missing. */
  isGone(owner: string): boolean {
    return this.keyOfOwner(owner) !== undefined && this.owner(owner) === undefined;
  }

  /** An object as the server has answered. */
  take({ apiVersion, kind }: Pick<CachedKind, "apiVersion" | "kind">, stored: object): Seen {
    return this.cache.take(this.cache.kindFor({ apiVersion, kind }), stored);
  }

  /** The server has it no more. */
  delete(key: string): void {
    this.cache.delete(key);
  }

  get(key: string): Seen | undefined {
    return this.hasKind(kindOf(key)) ? this.cache.get(key) : undefined;
  }

  all(kind: string): Seen[] {
    return this.hasKind(kind) ? this.cache.all(kind) : [];
  }

  /** What concerns this owner by name. */
  ofOwner(owner: string): Seen[] {
    return [...(this.byOwner.get(owner)?.values() ?? [])];
  }

  /** Every owner that an object concerns. */
  owners(): Iterable<string> {
    return this.byOwner.keys();
  }

  /** The objects that were made of a source, or tell about it. */
  ofSource(source: string): Seen[] {
    return [...(this.bySource.get(source)?.values() ?? [])];
  }

  /** Returns whether an object has the annotation that asks for a reset. */
  asksReset(key: string): boolean {
    return this.asking.has(key);
  }

  /** Returns whether an object changed in anything that a decision depends on. */
  isChanged(before: Seen | undefined, now: Seen | undefined): boolean {
    const one = before ?? now;
    if (one !== undefined && this.kindFor(one).ignoresStatus) return !isSameButStatus(before, now);
    return contentOf(before) !== contentOf(now);
  }

  /** The objects that do. */
  resetting(): Seen[] {
    return [...this.asking].flatMap((key) => this.get(key) ?? []);
  }

  /** Whom an object concerns, be it here or not. */
  concerns(object: Bag): Concern {
    const { apiVersion, kind } = object;
    return this.kinds.get(nameOfKind({ apiVersion: `${apiVersion}`, kind: `${kind}` }))?.concerns(object) ?? noConcern;
  }

  link(key: string, object: Seen): void {
    if (!this.hasKind(kindOf(key))) return;
    const { owners, sources } = this.concerns(object);
    if (owners !== "all") for (const owner of owners) put(this.byOwner, owner, key, object);
    for (const source of sources) if (source !== key) put(this.bySource, source, key, object);
    if (object.metadata.annotations?.[resetAnnotation] !== undefined) this.asking.add(key);
  }

  unlink(key: string, object: Seen): void {
    const { owners, sources } = this.concerns(object);
    if (owners !== "all") for (const owner of owners) drop(this.byOwner, owner, key);
    for (const source of sources) drop(this.bySource, source, key);
    this.asking.delete(key);
  }

  /** Says whom it concerns, and whom it did before: most often these are the same, and are told once. */
  tell(key: string, before: Seen | undefined, now?: Seen): void {
    // Nodes tell every few minutes that they are alive.
    if (!this.hasKind(kindOf(key)) || contentOf(before) === contentOf(now)) return;
    const concerns = [before, now].flatMap((object) => {
      if (object === undefined) return [];
      const concern = this.concerns(object);
      // One that is gone shows nothing any more: that may be what an owner was waiting for, whatever it is.
      const told = now === undefined ? { ...concern, isEvidence: false } : concern;
      return this.kindFor(object).ignoresStatus && isSameButStatus(before, now) ? { ...told, owners: [] } : told;
    });
    for (const concern of new Map(concerns.map((one) => [JSON.stringify(one), one])).values())
      this.changed(concern, key);
  }
}

const noConcern: Concern = { owners: [], sources: [] };

/** Returns whether two objects have the same uid, generation, labels and annotations. */
function isSameButStatus(before: Seen | undefined, now: Seen | undefined): boolean {
  const [had, has] = [before, now].map((object) => {
    const { uid, generation, labels, annotations, deletionTimestamp, finalizers } = object?.metadata ?? {};
    return JSON.stringify([uid, generation, labels, annotations, deletionTimestamp, finalizers]);
  });
  return had === has;
}

/** What is kept of an object, whatever its version. */
function contentOf(object: Seen | undefined): string {
  return JSON.stringify(object, (field, value) => (field === "resourceVersion" ? undefined : value)) ?? "";
}

function put(index: Map<string, Map<string, Seen>>, at: string, key: string, object: Seen): void {
  const found = index.get(at);
  if (found === undefined) index.set(at, new Map([[key, object]]));
  else found.set(key, object);
}

function drop(index: Map<string, Map<string, Seen>>, at: string, key: string): void {
  const found = index.get(at);
  found?.delete(key);
  if (found?.size === 0) index.delete(at);
}
