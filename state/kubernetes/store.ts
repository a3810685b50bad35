import { randomUUID } from "node:crypto";
import { IpamError, type PoolRecord, type Snapshot } from "../../core/index.ts";
import { isVersioned, type Objects, refusalOf, type Stored } from "../../kube/index.ts";
import { type Blocked, BlockedParts } from "./blocked-parts.ts";
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
import { isRefused, isTaken, refusedWrite } from "./refused-write.ts";
import { begin, decodeIndex, emptyIndex, encodeIndex, faultsOf, type Index, isSame } from "./subnet-index.ts";
import { countLines, decodePart, emptyPart, encodePart, partName, split } from "./subnet-records.ts";

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

/** How a record is replaced. */
interface Replacing {
  /** Gets the pools that changed, or may have changed. */
  readonly written?: (pools: Iterable<string>) => void;
  /** Whether it was planned on top of what is held, and so with what was blocked then. */
  readonly isPlannedOn?: boolean;
}

/** The objects of one record. A write replaces the version that was read, or nothing. */
export class Store {
  readonly name: string;
  private readonly objects: Objects;
  private readonly namespace: string;
  /** Whether the user named this namespace. The namespace of a kubeconfig context may change, and a new record would begin there unnoticed. */
  private readonly isNamed: boolean;
  /** What parts hold, by uid and version: most of them are as they were. */
  private read = new Map<string, Snapshot>();
  /** Parts as they were read last, by their names, for a reader that goes on where one of them cannot be read. */
  private readonly lastRead: Map<string, Snapshot> | undefined;
  private readonly blocked = new BlockedParts();

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
    await this.blocked.retry((write, why) => this.trial(write, why));
    const found = await this.objects.list<RecordMap>(configMaps, { namespace, labels: recordLabel });
    const maps = new Map(found.map((map) => [map.metadata.name, map]));
    const index = maps.get(indexName);
    if (maps.size === 0) await this.checkAbsence();
    const held = { ...this.decode(maps), maps, indexUid: index?.metadata.uid };
    const isBegun = held.snapshot.pools.length > 0 || [...held.unreadable.keys()].some((name) => maps.has(name));
    if (index === undefined && isBegun)
      throw (await this.find(indexName)) === undefined
        ? lostIndex(held.snapshot.pools, this.namespace)
        : unlabelled(indexName, this.namespace);
    return held;
  }

  private decode(maps: ReadonlyMap<string, Stored<RecordMap>>): Pick<Held, "snapshot" | "index" | "unreadable"> {
    const stored = maps.get(indexName);
    const label = this.label(indexName);
    const index = stored === undefined ? emptyIndex : decodeIndex(stored.data, label);
    const found = this.decodeParts(maps);
    const version = (name: string) => maps.get(name) && versionOf(maps.get(name) as Stored);
    for (const pool of index.pools) found.miss(partName(pool), () => lostPart(pool, this.label(partName(pool)), label));
    const full = this.blocked.mark(found, version, (name) => this.label(name));
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
   * parts one has all of them, and then the others at once. After a write that failed no other one begins, unless the
   * server refused it: that says nothing of the others.
   */
  async replace(held: Held, next: Snapshot, { written = () => {}, isPlannedOn }: Replacing = {}): Promise<void> {
    const parts = this.encode(held, next, isPlannedOn);
    const maps = new Map(held.maps);
    await this.begin(held, next, maps);
    const refused: unknown[] = [];
    const failures = await firstThenOthers(parts, async ({ name, part, pools, touched, body }) => {
      try {
        const map = recordMap(this.namespace, name, contentOf(body), pools);
        const stored = await this.save(maps.get(name), map, poolsOfPart(name, held, next));
        written(touched);
        this.note(name, versionOf(stored), withBase(part, next));
      } catch (error) {
        if (isRefused(error)) return void refused.push(error);
        if (isLost(error)) {
          written(touched);
          this.lastRead?.delete(name);
        }
        throw error;
      }
    });
    // Of several the one whose outcome nobody knows: it takes another look.
    for (const error of [failures.find(isLost), ...failures, ...refused]) if (error !== undefined) throw error;
  }

  /** The parts that change. All are encoded before the first is written: one that is too large must leave nothing half done. */
  private encode(held: Held, next: Snapshot, isPlannedOn = false) {
    const [before, after] = [split(held.snapshot), split(next)];
    const failures: IpamError[] = [];
    const parts = [...changedParts(held.snapshot, next)].flatMap(([name, touched]) => {
      const part = after.get(name) ?? emptyPart();
      const pools = part.pools.map((pool) => pool.name);
      const grows = countLines(part) > countLines(before.get(name) ?? emptyPart());
      const unread = held.unreadable.get(name);
      try {
        if (unread !== undefined) throw unread;
        return [{ name, part, pools, touched, body: encodePart(part, this.label(name), grows) }];
      } catch (why) {
        if (!(why instanceof IpamError)) throw why;
        const isKnown = unread !== undefined || (isPlannedOn && this.blocked.isFull(name));
        const isFull = grows && why.code === "exhausted" && !isKnown;
        if (this.lastRead) this.block(name, held.maps.get(name), { why, pools: poolsOfPart(name, held, next), isFull });
        failures.push(why);
        return [];
      }
    });
    if (failures.length > 0) throw failures[0];
    return parts;
  }

  /** Whoever goes on plans without this part from now on. */
  private block(name: string, map: RecordMap | undefined, blocked: Blocked): void {
    this.blocked.add(name, map !== undefined && isVersioned(map) ? versionOf(map) : undefined, blocked);
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
    const refused: unknown[] = [];
    for (const [name, pools] of Map.groupBy(fresh, partName)) {
      if (maps.has(name)) continue;
      const made = await this.write(this.emptyMap(name), pools).catch((error) => {
        if (!isRefused(error)) throw error;
        refused.push(error);
      });
      if (made) maps.set(name, made);
    }
    if (refused.length > 0) throw refused[0];
    if (index !== held.index) maps.set(indexName, await this.storeIndex(maps.get(indexName), index, fresh));
    await this.fence(new Set(fence.map(partName)), maps);
  }

  /** Replaces the index that was read. */
  async saveIndex({ maps }: Held, index: Index): Promise<void> {
    await this.storeIndex(maps.get(indexName), index);
  }

  private storeIndex(
    old: Stored<RecordMap> | undefined,
    index: Index,
    pools: readonly PoolRecord[] = [],
  ): Promise<Stored<RecordMap>> {
    return this.save(old, recordMap(this.namespace, indexName, { data: encodeIndex(index) }), pools);
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
      maps.set(name, await this.write({ ...old, metadata: { ...old.metadata, annotations } }, []));
    }
  }

  /** Replaces the version, keeping what others have written beside the content: labels, annotations, owners. */
  private save(old: Stored<RecordMap> | undefined, map: RecordMap, pools: readonly PoolRecord[]) {
    if (old === undefined) return this.write(map, pools);
    const labels = { ...old.metadata.labels, ...map.metadata.labels };
    const annotations = { ...old.metadata.annotations, ...map.metadata.annotations };
    return this.write({ ...map, metadata: { ...old.metadata, labels, annotations } }, pools);
  }

  /** Creates an object, or replaces the version that it names. If the server refuses that, these pools wait. */
  private async write(map: RecordMap, pools: readonly PoolRecord[]): Promise<Stored<RecordMap>> {
    try {
      return await (isVersioned(map) ? this.objects.put(configMaps, map) : this.objects.create(configMaps, map));
    } catch (error) {
      const { name } = map.metadata;
      if (isTaken(error) || (this.lastRead && isRefused(error)))
        this.block(name, map, { why: refusedWrite(name, this.namespace, error), pools, refused: map });
      throw error;
    }
  }

  /** Returns why the server refuses a write still, or undefined. An error that says nothing of the write changes nothing. */
  private async trial(map: RecordMap, before: IpamError): Promise<IpamError | undefined> {
    try {
      await this.objects.dryRun(configMaps, map);
    } catch (error) {
      if (isRefused(error)) return refusedWrite(map.metadata.name, this.namespace, error);
      const isOther = error instanceof IpamError && error.code === "conflict";
      return isOther ? undefined : before;
    }
    return undefined;
  }

  private emptyMap(name: string): RecordMap {
    return recordMap(this.namespace, name, contentOf(encodePart(emptyPart(), name)));
  }

  private label(name: string): string {
    return labelOf(name, this.namespace);
  }
}

/** Returns whether the outcome of a write is unknown. */
export function isLost(error: unknown): error is IpamError {
  return error instanceof IpamError && error.code === "unknown-outcome";
}
