import { kindOf, nameOfKind, objectKey } from "../../integrations/contract/object-key.ts";
import { mergedKinds } from "./kinds.ts";
import { keep, type Seen } from "./seen.ts";
import { type CachedKind, selectionsOf, type WorldKind } from "./world-kind.ts";

/** So many objects that are gone are remembered. */
const remembered = 10_000;

/** A reader of the cache: unlinks an object as it was, links it as it is now, and hears of the change once all readers have linked it. */
export interface CacheReader {
  /** A kind was listed for the first time. */
  listed(kind: string): void;
  /** A kind is followed again, or is not. */
  followed(kind: string, isFollowed: boolean): void;
  unlink(key: string, before: Seen): void;
  link(key: string, object: Seen): void;
  tell(key: string, before: Seen | undefined, now?: Seen): void;
}

/** What the watches show of the cluster: each object once, whoever reads it. It decides nothing. */
export class Cache {
  private readonly kinds: ReadonlyMap<string, CachedKind>;
  private readonly readers: CacheReader[] = [];
  private readonly objects = new Map<string, Map<string, Seen>>();
  private readonly kindsListed = new Set<string>();
  /** The uids of objects that are gone, the last ones, each with its last version: a late answer must not bring one back. */
  private readonly ended = new Map<string, string>();

  /** Of kinds that several readers watch, what each of them keeps is kept. */
  constructor(kinds: readonly WorldKind[]) {
    this.kinds = new Map(mergedKinds(kinds).map((kind) => [nameOfKind(kind), kind]));
    for (const kind of this.kinds.keys()) this.objects.set(kind, new Map());
  }

  read(by: CacheReader): void {
    this.readers.push(by);
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
    if (isFirst) for (const one of this.readers) one.listed(kind);
  }

  /** Returns whether a kind was ever listed. If not, a missing object proves nothing. */
  isListed(kind: string): boolean {
    return this.kindsListed.has(kind);
  }

  /** Returns whether the watch of a kind is connected. */
  follow(kind: string, isFollowed: boolean): void {
    for (const one of this.readers) one.followed(kind, isFollowed);
  }

  set(object: Seen, isListed = false): void {
    const key = objectKey(object);
    const objects = this.of(nameOfKind(object));
    const before = objects.get(key);
    if (before !== undefined && (isListed ? isSame(object, before) : isOlder(object, before))) return;
    if (before !== undefined) for (const one of this.readers) one.unlink(key, before);
    if (before !== undefined && before.metadata.uid !== object.metadata.uid) this.end(before);
    objects.set(key, object);
    this.ended.delete(object.metadata.uid);
    for (const one of this.readers) one.link(key, object);
    for (const one of this.readers) one.tell(key, before, object);
  }

  /** An object as the server has answered: so it is known before the watch tells of it. Its last finalizer was its end. */
  take(kind: CachedKind, stored: object): Seen {
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

  /** Returns whether an object is gone since. A watch by labels reports an object that lost its label as deleted, with a new version. */
  private isOver({ metadata }: Seen, kind: CachedKind): boolean {
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
    for (const one of this.readers) one.unlink(key, before);
    for (const one of this.readers) one.tell(key, before);
  }

  private end({ metadata }: Seen): void {
    this.ended.set(metadata.uid, metadata.resourceVersion);
    const [oldest] = this.ended.keys();
    if (this.ended.size > remembered) this.ended.delete(`${oldest}`);
  }

  /** All kinds that are watched. */
  allKinds(): CachedKind[] {
    return [...this.kinds.values()];
  }

  /** How to ask the server for objects of a kind. */
  kind(name: string): CachedKind {
    return this.kinds.get(name) as CachedKind;
  }

  /** The same for an object. */
  kindFor(object: { readonly apiVersion: string; readonly kind: string }): CachedKind {
    return this.kind(nameOfKind(object));
  }

  get(key: string): Seen | undefined {
    return this.of(kindOf(key)).get(key);
  }

  all(kind: string): Seen[] {
    return [...this.of(kind).values()];
  }

  private of(kind: string): Map<string, Seen> {
    return this.objects.get(kind) ?? new Map();
  }
}

/** Returns whether an object is being deleted and has no finalizer. The watch may have reported its end already. */
function isEnded({ metadata }: Seen): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers = [] } = metadata;
  return deletionTimestamp !== undefined && finalizers.length === 0 && deletionGracePeriodSeconds === 0;
}

/** Returns whether a version is not newer than the cached one. The watch repeats the controller's own writes. */
function isOlder(a: Seen, b: Seen): boolean {
  return a.metadata.uid === b.metadata.uid && BigInt(a.metadata.resourceVersion) <= BigInt(b.metadata.resourceVersion);
}

function isSame(a: Seen, b: Seen): boolean {
  return a.metadata.uid === b.metadata.uid && a.metadata.resourceVersion === b.metadata.resourceVersion;
}
