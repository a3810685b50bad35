import { randomUUID } from "node:crypto";
import { IpamError, type PoolRecord, type Snapshot } from "../../core/index.ts";
import { type Objects, refusalOf, type Stored } from "../../kube/index.ts";
import { BlockedParts } from "./blocked-parts.ts";
import { changedParts, firstThenOthers, poolsOfPart, withBase } from "./changed-parts.ts";
import { labelOf, lostIndex, lostPart, unlabelled } from "./lost-maps.ts";
import { Parts } from "./parts.ts";
import {
  bodyOf,
  configMaps,
  contentOf,
  indexName,
  type RecordMap,
  recordLabel,
  recordMap,
  versionOf,
} from "./record-map.ts";
import { begin, decodeIndex, emptyIndex, encodeIndex, faultsOf, type Index, isSame } from "./subnet-index.ts";
import { decodePart, emptyPart, encodePart, partName, split } from "./subnet-records.ts";

/** All that is stored, at one moment. */
export interface Held {
  readonly snapshot: Snapshot;
  readonly index: Index;
  /** Every object, the index among them, at the version that was read. */
  readonly maps: ReadonlyMap<string, Stored<RecordMap>>;
  /** What tells this record from all others, once it has begun. */
  readonly indexUid: string | undefined;
  /** Parts that cannot be read, each with why: the snapshot has them as they were read last. */
  readonly unreadable: ReadonlyMap<string, IpamError>;
}

/** The objects of one record. A write replaces the version that was read, or nothing. */
export class Store {
  readonly name: string;
  private readonly objects: Objects;
  private readonly namespace: string;
  /** Has somebody said this namespace? A context's changes hands, and what is not there yet would begin in it unseen. */
  private readonly isNamed: boolean;
  /** What parts hold, by uid and version: most of them are as they were. */
  private read = new Map<string, Snapshot>();
  /** Parts as they were read last, by their names, for a reader that goes on where one of them cannot be read. */
  private readonly lastRead: Map<string, Snapshot> | undefined;
  private readonly blocked = new BlockedParts();
  /** Names that could not be made because there was such an object, each with the pools that were to begin there. */
  private readonly taken = new Map<string, readonly PoolRecord[]>();

  constructor(objects: Objects, namespace: string | undefined, goesOn = false) {
    this.lastRead = goesOn ? new Map() : undefined;
    this.objects = objects;
    this.namespace = namespace ?? objects.namespace;
    this.isNamed = namespace !== undefined;
    this.name = `namespace ${this.namespace} of ${objects.name}`;
  }

  /** Reads everything, at one revision of the server. Throws IpamError `corrupt` for what cannot have come about by itself. */
  async load(): Promise<Held> {
    const { namespace } = this;
    const found = await this.objects.list<RecordMap>(configMaps, { namespace, labels: recordLabel });
    const maps = new Map(found.map((map) => [map.metadata.name, map]));
    await this.forgetFreed(maps);
    const index = maps.get(indexName);
    if (maps.size === 0) await this.checkAbsence();
    const held = { ...this.decode(maps), maps, indexUid: index?.metadata.uid };
    const isBegun = held.snapshot.pools.length + held.unreadable.size > 0;
    if (index === undefined && isBegun)
      throw (await this.find(indexName)) === undefined
        ? lostIndex(held.snapshot.pools, this.namespace)
        : unlabelled(indexName, this.namespace);
    return held;
  }

  /** A name that was taken is free once there is no such object, or one with the label. */
  private async forgetFreed(maps: ReadonlyMap<string, unknown>): Promise<void> {
    for (const name of this.taken.keys())
      if (maps.has(name) || (await this.find(name)) === undefined) this.taken.delete(name);
    if (this.taken.has(indexName)) throw unlabelled(indexName, this.namespace);
  }

  private decode(maps: ReadonlyMap<string, Stored<RecordMap>>): Pick<Held, "snapshot" | "index" | "unreadable"> {
    const stored = maps.get(indexName);
    const label = this.label(indexName);
    const index = stored === undefined ? emptyIndex : decodeIndex(stored.data, label);
    const found = this.decodeParts(maps);
    const version = (name: string) => maps.get(name) && versionOf(maps.get(name) as Stored);
    const full = this.blocked.mark(found, version, (name) => this.label(name));
    for (const [name, pools] of this.taken) found.fail(name, unlabelled(name, this.namespace), pools);
    for (const pool of index.pools) found.miss(partName(pool), () => lostPart(pool, this.label(partName(pool)), label));
    if (stored !== undefined)
      for (const [pool, why] of faultsOf(index, found.pools(), label)) found.fail(partName(pool), why, [pool]);
    const joined = found.join([...index.pools, ...index.left]);
    found.keep();
    const snapshot = full.length === 0 ? joined : { ...joined, full };
    return { snapshot, index, unreadable: found.unreadable };
  }

  private decodeParts(maps: ReadonlyMap<string, Stored<RecordMap>>) {
    const read = new Map<string, Snapshot>();
    const found = new Parts(this.lastRead);
    for (const [name, map] of maps) {
      if (name === indexName) continue;
      const version = versionOf(map);
      const part = found.take(name, () => this.read.get(version) ?? decodePart(bodyOf(map), this.label(name)));
      if (part !== undefined) read.set(version, part);
    }
    this.read = read;
    return found;
  }

  /** An empty list is also what a server shows of a namespace that is not there, and of objects without their labels. */
  private async checkAbsence(): Promise<void> {
    const { namespace } = this;
    const resource = { apiVersion: "v1", plural: "namespaces" };
    const isThere = await this.objects.get(resource, namespace).catch((error) => {
      if (refusalOf(error)?.status === 403) return true; // who may not look cannot know
      throw error;
    });
    if (!isThere)
      throw new IpamError("invalid", `there is no namespace ${namespace} in ${this.objects.name}`, {
        hint: "Make it, or name the one that has the record.",
      });
    const index = await this.find(indexName);
    // One with its label is new: somebody began just now.
    if (index !== undefined && index.metadata.labels?.[recordLabel] === undefined)
      throw unlabelled(indexName, this.namespace);
    if (index === undefined && !this.isNamed)
      throw new IpamError("stale", `there is no record in ${this.name}, which is the namespace of the context`, {
        hint: "Name the namespace that has it; or this one, to begin one here.",
      });
  }

  /** An object, with its label or without. */
  private async find(name: string): Promise<Stored | undefined> {
    const { namespace } = this;
    const [found] = await this.objects.list(configMaps, { namespace, fields: `metadata.name=${name}` });
    return found;
  }

  /**
   * Makes the parts be those of another record, each as a whole: the first by name alone, so that of two writers of the same
   * parts one has all of them, and then the others at once. `written` is told which pools have changed, or may have. After
   * a write that failed no other one begins. Throws PoolsRefused for parts that cannot be written.
   */
  async replace(held: Held, next: Snapshot, written: (pools: Iterable<string>) => void = () => {}): Promise<void> {
    const parts = this.encode(held, next);
    const maps = new Map(held.maps);
    await this.begin(held, next, maps);
    const failures = await firstThenOthers(parts, async ({ name, part, pools, touched, body }) => {
      const old = maps.get(name);
      try {
        const map = await this.save(old, recordMap(this.namespace, name, contentOf(body), pools));
        written(touched);
        this.note(name, versionOf(map), withBase(part, next));
      } catch (error) {
        if (isUnfit(error)) this.block(name, old, error, poolsOfPart(name, held, next));
        if (isLost(error)) {
          written(touched);
          this.lastRead?.delete(name);
        }
        throw error;
      }
    });
    // Of several the one whose outcome nobody knows: it takes another look.
    if (failures.length > 0) throw failures.find(isLost) ?? failures[0];
  }

  /** The parts that change. All are encoded before the first is written: one that is too large must leave nothing half done. */
  private encode(held: Held, next: Snapshot) {
    const after = split(next);
    const failures: IpamError[] = [];
    const parts = [...changedParts(held.snapshot, next)].flatMap(([name, touched]) => {
      const part = after.get(name) ?? emptyPart();
      const pools = part.pools.map((pool) => pool.name);
      try {
        const why = held.unreadable.get(name);
        if (why !== undefined) throw why;
        return [{ name, part, pools, touched, body: encodePart(part, this.label(name)) }];
      } catch (error) {
        if (!(error instanceof IpamError)) throw error;
        this.block(name, held.maps.get(name), error, poolsOfPart(name, held, next));
        failures.push(error);
        return [];
      }
    });
    if (failures.length > 0) throw failures[0];
    return parts;
  }

  /** Whoever goes on plans without this part from now on. */
  private block(name: string, map: Stored | undefined, why: IpamError, pools: readonly PoolRecord[]): void {
    if (this.lastRead !== undefined && map !== undefined) this.blocked.add(name, versionOf(map), why, pools);
  }

  /** A part is known as it was written. */
  private note(name: string, version: string, part: Snapshot): void {
    this.read.set(version, part);
    this.lastRead?.set(name, part);
  }

  /** Before the first line of a pool: subnet-index.ts says what and why. Parts are there before they are listed. */
  private async begin(held: Held, next: Snapshot, maps: Map<string, Stored<RecordMap>>): Promise<void> {
    const isIn = (pools: readonly PoolRecord[], pool: PoolRecord) => pools.some((one) => isSame(one, pool));
    const known = next.pools.filter((pool) => !held.unreadable.has(partName(pool)));
    const fresh = known.filter((pool) => !isIn(held.snapshot.pools, pool) || !isIn(held.index.pools, pool));
    if (fresh.length === 0) return;
    const unread = held.snapshot.unreadable?.flatMap(({ pools }) => pools) ?? [];
    const { index, fence } = begin(held.index, [...held.snapshot.pools, ...unread], fresh);
    for (const [name, pools] of Map.groupBy(fresh, partName))
      if (!maps.has(name)) maps.set(name, await this.create(this.emptyMap(name), pools));
    if (index !== held.index) maps.set(indexName, await this.storeIndex(maps.get(indexName), index));
    await this.fence(new Set(fence.map(partName)), maps);
  }

  /** Replaces the index that was read. */
  async saveIndex({ maps }: Held, index: Index): Promise<void> {
    await this.storeIndex(maps.get(indexName), index);
  }

  private storeIndex(old: Stored<RecordMap> | undefined, index: Index): Promise<Stored<RecordMap>> {
    return this.save(old, recordMap(this.namespace, indexName, { data: encodeIndex(index) }));
  }

  /** Fences every part: whatever was decided on what was read before will not be written. */
  fenceAll({ maps }: Held): Promise<void> {
    return this.fence(
      [...maps.keys()].filter((name) => name !== indexName),
      new Map(maps),
    );
  }

  /** Changes parts without changing what they hold, so that nobody replaces what they read before. */
  private async fence(names: Iterable<string>, maps: Map<string, Stored<RecordMap>>): Promise<void> {
    for (const name of names) {
      const old = maps.get(name);
      if (old === undefined) continue;
      const annotations = { ...old.metadata.annotations, "nodeippool.nmstate.io/fence": randomUUID() };
      maps.set(name, await this.objects.put(configMaps, { ...old, metadata: { ...old.metadata, annotations } }));
    }
  }

  /** Replaces the version, keeping what others have written beside the content: labels, annotations, owners. */
  private async save(old: Stored<RecordMap> | undefined, map: RecordMap): Promise<Stored<RecordMap>> {
    if (old === undefined) return this.create(map, []);
    const labels = { ...old.metadata.labels, ...map.metadata.labels };
    const annotations = { ...old.metadata.annotations, ...map.metadata.annotations };
    return this.objects.put(configMaps, { ...map, metadata: { ...old.metadata, labels, annotations } });
  }

  private async create(map: RecordMap, pools: readonly PoolRecord[]): Promise<Stored<RecordMap>> {
    try {
      return await this.objects.create(configMaps, map);
    } catch (error) {
      if (refusalOf(error)?.reason === "AlreadyExists") this.taken.set(map.metadata.name, pools);
      throw error;
    }
  }

  private emptyMap(name: string): RecordMap {
    return recordMap(this.namespace, name, contentOf(encodePart(emptyPart(), name)));
  }

  private label(name: string): string {
    return labelOf(name, this.namespace);
  }
}

/** May a write have gone through, and nobody knows? */
export function isLost(error: unknown): error is IpamError {
  return error instanceof IpamError && error.code === "unknown-outcome";
}

/** Does the server refuse what an object is to be, whoever writes it? One that was made immutable, say. */
function isUnfit(error: unknown): error is IpamError {
  return refusalOf(error)?.status === 422;
}
