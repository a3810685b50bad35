import type { Concern, WatchedKind } from "../../integrations/in-cluster.ts";
import { kindOf, nameOfKind, objectKey } from "../../integrations/object-key.ts";
import { resetAnnotation } from "../../schema/node-ip-pool.ts";
import type { Bag } from "../../schema/objects.ts";
import { keep, type Seen } from "./seen.ts";

/** A kind that is watched, and whom its objects concern. */
export interface WorldKind extends WatchedKind {
  /** Where several watch it, what each of them selects; absent where `where` says it. */
  readonly selections?: readonly NonNullable<WatchedKind["where"]>[];
  concerns(object: Bag): Concern;
}

/** What is watched of a kind: all that any of these selects. */
export function selectionsOf({
  where = {},
  selections = [where],
}: WorldKind): readonly NonNullable<WorldKind["where"]>[] {
  return selections;
}

/** So many objects that are gone are remembered. */
const remembered = 10_000;

/**
 * What the watches show of the cluster, found by kind, by owner and by source. It says whom each change concerns and
 * decides nothing.
 */
export class World {
  private readonly kinds: ReadonlyMap<string, WorldKind>;
  /** The kinds that owners are, by the names that the record has for them. */
  private readonly ownerKinds: ReadonlyMap<string, string>;
  private readonly changed: (concern: Concern, key: string) => void;
  private readonly objects = new Map<string, Map<string, Seen>>();
  private readonly byOwner = new Map<string, Map<string, Seen>>();
  private readonly bySource = new Map<string, Map<string, Seen>>();
  private readonly asking = new Set<string>();
  private readonly kindsListed = new Set<string>();
  /** The kinds of reports that are not followed: what owners have may be otherwise by now. */
  private readonly lost = new Set<string>();
  /** The uids of objects that are gone, the last ones, each with its last version: a late answer must not bring one back. */
  private readonly ended = new Map<string, string>();

  constructor(kinds: readonly WorldKind[], changed: (concern: Concern, key: string) => void) {
    this.kinds = new Map(kinds.map((kind) => [nameOfKind(kind), kind]));
    this.changed = changed;
    for (const kind of this.kinds.keys()) this.objects.set(kind, new Map());
    this.ownerKinds = new Map(kinds.filter(({ isOwner }) => isOwner).map((kind) => [kind.kind, nameOfKind(kind)]));
  }

  /**
   * All objects of a kind, as a list shows them: what is not among them is gone, and what has an older version is so again,
   * as after a restore of etcd.
   */
  replace(kind: string, all: readonly Seen[]): void {
    const isFirst = !this.kindsListed.has(kind);
    this.kindsListed.add(kind);
    const listed = new Set(all.map(objectKey));
    for (const key of [...this.of(kind).keys()]) if (!listed.has(key)) this.delete(key);
    for (const object of all) this.set(object, true);
    if (isFirst) this.changed({ owners: "all", sources: [] }, `${kind}/`);
  }

  /** Was this kind ever listed? Else it says nothing that no object of it is here. */
  isListed(kind: string): boolean {
    return this.kindsListed.has(kind);
  }

  /** Is a kind followed, so that it is known what changes in it? */
  follow(kind: string, isFollowed: boolean): void {
    if (!isFollowed && this.isListed(kind) && this.kind(kind).isReport) this.lost.add(kind);
    else if (this.lost.delete(kind) && this.isReporting()) this.changed({ owners: "all", sources: [] }, `${kind}/`);
  }

  /** Do owners report what they have? Else somebody may have an address that neither the record nor a report shows here. */
  isReporting(): boolean {
    return this.lost.size === 0;
  }

  set(object: Seen, isListed = false): void {
    const key = objectKey(object);
    const objects = this.of(nameOfKind(object));
    const before = objects.get(key);
    if (before !== undefined && (isListed ? isSame(object, before) : isOlder(object, before))) return;
    if (before !== undefined) this.unlink(key, before);
    if (before !== undefined && before.metadata.uid !== object.metadata.uid) this.end(before);
    objects.set(key, object);
    this.ended.delete(object.metadata.uid);
    this.link(key, object);
    this.tell(key, before, object);
  }

  /** An object as the server has answered: so it is known before the watch tells of it. Its last finalizer was its end. */
  take(kind: WorldKind, stored: object): Seen {
    const seen = keep(kind, stored);
    if (isEnded(seen)) this.endOf(seen);
    else if (!this.isOver(seen, kind)) this.set(seen);
    return seen;
  }

  /** One that was made under its name since stays. */
  private endOf(ended: Seen): void {
    const key = objectKey(ended);
    if (this.get(key)?.metadata.uid === ended.metadata.uid) this.delete(key);
  }

  /** Is it gone since? Where labels select what a watch shows, one that lost its label is gone there, and has a new version. */
  private isOver({ metadata }: Seen, kind: WorldKind): boolean {
    const last = this.ended.get(metadata.uid);
    const isNewer = last !== undefined && BigInt(metadata.resourceVersion) > BigInt(last);
    const isSelected = selectionsOf(kind).some(({ labels }) => labels !== undefined);
    return last !== undefined && !(isNewer && isSelected);
  }

  delete(key: string): void {
    const objects = this.of(kindOf(key));
    const before = objects.get(key);
    if (before === undefined) return;
    objects.delete(key);
    this.end(before);
    this.unlink(key, before);
    this.tell(key, before);
  }

  private end({ metadata }: Seen): void {
    this.ended.set(metadata.uid, metadata.resourceVersion);
    const [oldest] = this.ended.keys();
    if (this.ended.size > remembered) this.ended.delete(`${oldest}`);
  }

  /** All kinds that are watched. */
  allKinds(): WorldKind[] {
    return [...this.kinds.values()];
  }

  /** Is a kind watched? */
  hasKind(kind: string): boolean {
    return this.kinds.has(kind);
  }

  /** How to ask the server for objects of a kind. */
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

  /** Is an owner an object, and not there? */
  isGone(owner: string): boolean {
    return this.keyOfOwner(owner) !== undefined && this.owner(owner) === undefined;
  }

  get(key: string): Seen | undefined {
    return this.of(kindOf(key)).get(key);
  }

  all(kind: string): Seen[] {
    return [...this.of(kind).values()];
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

  /** Does it bear the annotation that asks for a reset? */
  asksReset(key: string): boolean {
    return this.asking.has(key);
  }

  /** Is an object another one than it was, as far as anything is decided by it? */
  isChanged(before: Seen | undefined, now: Seen | undefined): boolean {
    const one = before ?? now;
    if (one !== undefined && this.kindFor(one).hasMereStatus) return !isSameButStatus(before, now);
    return contentOf(before) !== contentOf(now);
  }

  /** The objects that do. */
  resetting(): Seen[] {
    return [...this.asking].flatMap((key) => this.get(key) ?? []);
  }

  private of(kind: string): Map<string, Seen> {
    return this.objects.get(kind) ?? new Map();
  }

  /** Whom an object concerns, be it here or not. */
  concerns(object: Bag): Concern {
    const { apiVersion, kind } = object;
    return (
      this.kindFor({ apiVersion: `${apiVersion}`, kind: `${kind}` })?.concerns(object) ?? { owners: [], sources: [] }
    );
  }

  private link(key: string, object: Seen): void {
    const { owners, sources } = this.concerns(object);
    if (owners !== "all") for (const owner of owners) put(this.byOwner, owner, key, object);
    for (const source of sources) if (source !== key) put(this.bySource, source, key, object);
    if (object.metadata.annotations?.[resetAnnotation] !== undefined) this.asking.add(key);
  }

  private unlink(key: string, object: Seen): void {
    const { owners, sources } = this.concerns(object);
    if (owners !== "all") for (const owner of owners) drop(this.byOwner, owner, key);
    for (const source of sources) drop(this.bySource, source, key);
    this.asking.delete(key);
  }

  /** Says whom it concerns, and whom it did before: most often these are the same, and are told once. */
  private tell(key: string, before: Seen | undefined, now?: Seen): void {
    const concerns = [before, now].flatMap((object) => {
      if (object === undefined) return [];
      const concern = this.concerns(object);
      // One that is gone shows nothing any more: that may be what an owner was waiting for, whatever it is.
      const told = now === undefined ? { ...concern, isEvidence: false } : concern;
      return this.kindFor(object).hasMereStatus && isSameButStatus(before, now) ? { ...told, owners: [] } : told;
    });
    for (const concern of new Map(concerns.map((one) => [JSON.stringify(one), one])).values())
      this.changed(concern, key);
  }
}

/** Does nothing keep an object that is being deleted? The watch may have told of its end already. */
function isEnded({ metadata }: Seen): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers = [] } = metadata;
  return deletionTimestamp !== undefined && finalizers.length === 0 && deletionGracePeriodSeconds === 0;
}

/** Is it a version that was overtaken, or the same? We hear of our own writes twice. */
function isOlder(a: Seen, b: Seen): boolean {
  return a.metadata.uid === b.metadata.uid && BigInt(a.metadata.resourceVersion) <= BigInt(b.metadata.resourceVersion);
}

/** Are these two the same object with the same spec, of which a server counts the changes, and the same marks? */
function isSameButStatus(before: Seen | undefined, now: Seen | undefined): boolean {
  const [had, has] = [before, now].map((object) => {
    const { uid, generation, labels, annotations, deletionTimestamp, finalizers } = object?.metadata ?? {};
    return JSON.stringify([uid, generation, labels, annotations, deletionTimestamp, finalizers]);
  });
  return had === has;
}

/** What is kept of an object, whatever its version: nodes tell every few minutes that they are alive. */
function contentOf(object: Seen | undefined): string {
  return JSON.stringify(object, (field, value) => (field === "resourceVersion" ? undefined : value)) ?? "";
}

function isSame(a: Seen, b: Seen): boolean {
  return a.metadata.uid === b.metadata.uid && a.metadata.resourceVersion === b.metadata.resourceVersion;
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
