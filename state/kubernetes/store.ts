import { randomUUID } from "node:crypto";
import { IpamError, type PoolRecord, type Snapshot, shellWord } from "../../core/index.ts";
import { type KubeObject, type Objects, refusalOf, type Stored } from "../../kube/index.ts";
import type { Content } from "../codec.ts";
import { Parts } from "./parts.ts";
import {
  begin,
  checkIndex,
  decodeIndex,
  emptyIndex,
  encodeIndex,
  type Index,
  isSame,
  lostPart,
} from "./subnet-index.ts";
import { type Body, decodePart, emptyPart, encodePart, partName, split } from "./subnet-records.ts";

/** A ConfigMap that holds a part of the record, or the index of the parts. */
interface RecordMap extends KubeObject {
  readonly data?: { readonly [key: string]: string };
  readonly binaryData?: { readonly [key: string]: string };
}

const configMaps = { apiVersion: "v1", plural: "configmaps" };
const label = "nodeippool.nmstate.io/record";
const indexName = "ippool.index";
/** How many parts are written at once. */
const parallel = 16;

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
  /** Names that could not be made because there was such an object. */
  private readonly taken = new Set<string>();

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
    const found = await this.objects.list<RecordMap>(configMaps, { namespace, labels: label });
    const maps = new Map(found.map((map) => [map.metadata.name, map]));
    for (const name of this.taken) if (!maps.has(name)) throw this.unlabelled(name);
    this.taken.clear();
    const index = maps.get(indexName);
    if (maps.size === 0) await this.checkAbsence();
    const held = { ...this.decode(maps), maps, indexUid: index?.metadata.uid };
    if (index === undefined && held.snapshot.pools.length > 0) throw await this.indexless(held.snapshot.pools);
    return held;
  }

  private decode(maps: ReadonlyMap<string, Stored<RecordMap>>): Pick<Held, "snapshot" | "index" | "unreadable"> {
    const stored = maps.get(indexName);
    const index = stored === undefined ? emptyIndex : decodeIndex(stored.data, this.label(indexName));
    const found = this.decodeParts(maps);
    for (const pool of index.pools)
      found.miss(partName(pool), () => lostPart(pool, this.label(partName(pool)), this.label(indexName)));
    const snapshot = found.join();
    const lacksPart = (pool: PoolRecord) => (found.has(partName(pool)) ? undefined : this.label(partName(pool)));
    if (stored !== undefined) checkIndex(index, snapshot.pools, lacksPart, this.label(indexName));
    found.keep();
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
    const index = await this.findIndex();
    // One with its label is new: somebody began just now.
    if (index !== undefined && index.metadata.labels?.[label] === undefined) throw this.unlabelled(indexName);
    if (index === undefined && !this.isNamed)
      throw new IpamError("stale", `there is no record in ${this.name}, which is the namespace of the context`, {
        hint: "Name the namespace that has it; or this one, to begin one here.",
      });
  }

  /** The index, with its label or without. */
  private async findIndex(): Promise<Stored | undefined> {
    const { namespace } = this;
    const [index] = await this.objects.list(configMaps, { namespace, fields: `metadata.name=${indexName}` });
    return index;
  }

  /** The error for parts without an index. What they hold tells all of it but which moves it was in, and had seen. */
  private async indexless(recorded: readonly PoolRecord[]): Promise<IpamError> {
    if ((await this.findIndex()) !== undefined) return this.unlabelled(indexName);
    const pools = shellWord(encodeIndex({ ...emptyIndex, pools: recorded }).pools?.trimEnd() ?? "");
    return new IpamError("corrupt", `${this.label(indexName)} is gone: it lists the subnets that are in use`, {
      hint: [
        "Stop all writers. Take it from a backup; or see to the moves that it knew of, as the page on recovery",
        `says ("Where the index is lost"), and make it anew:`,
        `kubectl create configmap ${indexName} --from-literal=pools=${pools} --dry-run=client -o yaml |`,
        `kubectl label --local -f - ${label}=${kindOf(indexName)} -o yaml | kubectl -n ${this.namespace} create -f -`,
      ].join("\n  "),
    });
  }

  private unlabelled(name: string): IpamError {
    return new IpamError("corrupt", `${this.label(name)} has lost its label ${label}`, {
      hint: `Put it back: kubectl -n ${this.namespace} label configmap ${name} ${label}=${kindOf(name)}`,
    });
  }

  /**
   * Makes the parts be those of another record, each as a whole: the first by name alone, so that of two writers of the same
   * parts one has all of them, and then the others at once. `written` is told which pools have changed, or may have. After
   * a write that failed no other one begins.
   */
  async replace(held: Held, next: Snapshot, written: (pools: Iterable<string>) => void = () => {}): Promise<void> {
    const changed = changedParts(held.snapshot, next);
    for (const name of changed.keys()) if (held.unreadable.has(name)) throw held.unreadable.get(name);
    const after = split(next);
    // All of them are encoded before the first is written: one that is too large must leave nothing half done.
    const parts = [...changed].map(([name, touched]) => {
      const part = after.get(name) ?? emptyPart();
      const pools = part.pools.map((pool) => pool.name);
      return { name, part, pools, touched, body: encodePart(part, this.label(name)) };
    });
    const maps = new Map(held.maps);
    await this.begin(held, next, maps);
    const failures = await firstThenOthers(parts, async ({ name, pools, touched, body }) => {
      try {
        maps.set(name, await this.save(maps.get(name), this.map(name, contentOf(body), pools)));
        written(touched);
      } catch (error) {
        if (isLost(error)) written(touched);
        throw error;
      }
    });
    // Of several the one whose outcome nobody knows: it takes another look.
    if (failures.length > 0) throw failures.find(isLost) ?? failures[0];
    for (const { name, part } of parts) this.read.set(versionOf(maps.get(name) as Stored), withBase(part, next));
  }

  /** Before the first line of a pool: subnet-index.ts says what and why. Parts are there before they are listed. */
  private async begin(held: Held, next: Snapshot, maps: Map<string, Stored<RecordMap>>): Promise<void> {
    const isIn = (pools: readonly PoolRecord[], pool: PoolRecord) => pools.some((one) => isSame(one, pool));
    const fresh = next.pools.filter((pool) => !isIn(held.snapshot.pools, pool) || !isIn(held.index.pools, pool));
    if (fresh.length === 0) return;
    const { index, fence } = begin(held.index, held.snapshot.pools, fresh);
    for (const name of new Set(fresh.map(partName)))
      if (!maps.has(name))
        maps.set(name, await this.save(undefined, this.map(name, contentOf(encodePart(emptyPart(), name)))));
    if (index !== held.index) maps.set(indexName, await this.storeIndex(maps.get(indexName), index));
    await this.fence(new Set(fence.map(partName)), maps);
  }

  /** Replaces the index that was read. */
  async saveIndex({ maps }: Held, index: Index): Promise<void> {
    await this.storeIndex(maps.get(indexName), index);
  }

  private storeIndex(old: Stored<RecordMap> | undefined, index: Index): Promise<Stored<RecordMap>> {
    return this.save(old, this.map(indexName, { data: encodeIndex(index) }));
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
    if (old === undefined) return this.create(map);
    const labels = { ...old.metadata.labels, ...map.metadata.labels };
    const annotations = { ...old.metadata.annotations, ...map.metadata.annotations };
    return this.objects.put(configMaps, { ...map, metadata: { ...old.metadata, labels, annotations } });
  }

  private async create(map: RecordMap): Promise<Stored<RecordMap>> {
    try {
      return await this.objects.create(configMaps, map);
    } catch (error) {
      if (refusalOf(error)?.reason === "AlreadyExists") this.taken.add(map.metadata.name);
      throw error;
    }
  }

  private map(name: string, content: Pick<RecordMap, "data" | "binaryData">, pools: readonly string[] = []): RecordMap {
    const listed = pools.join(" ");
    const shown = listed.length > 1000 ? `${listed.slice(0, 1000)}...` : listed;
    const annotations = name === indexName ? {} : { annotations: { "nodeippool.nmstate.io/pools": shown } };
    const metadata = { name, namespace: this.namespace, labels: { [label]: kindOf(name) }, ...annotations };
    return { apiVersion: "v1", kind: "ConfigMap", metadata, ...content };
  }

  /** For messages. */
  private label(name: string): string {
    return `ConfigMap ${this.namespace}/${name}`;
  }
}

/** Works on the first alone, and then on the others, some at once; after a failure on none that has not begun. Returns all failures. */
async function firstThenOthers<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<unknown[]> {
  const failures: unknown[] = [];
  const attempt = (one: T) => work(one).catch((error) => failures.push(error));
  const left = all.slice(1).values();
  const lane = async () => {
    for (const one of left) if (failures.length === 0) await attempt(one);
  };
  for (const one of all.slice(0, 1)) await attempt(one);
  await Promise.all(Array.from({ length: parallel }, lane));
  return failures;
}

/** May a write have gone through, and nobody knows? */
export function isLost(error: unknown): error is IpamError {
  return error instanceof IpamError && error.code === "unknown-outcome";
}

function kindOf(name: string): string {
  return name === indexName ? "index" : "subnet";
}

function versionOf({ metadata }: Stored): string {
  return `${metadata.uid} ${metadata.resourceVersion}`;
}

function bodyOf({ data, binaryData }: RecordMap): { text?: string; gzip?: string } {
  const [text, gzip] = [data?.record, binaryData?.record];
  return { ...(text === undefined ? {} : { text }), ...(gzip === undefined ? {} : { gzip }) };
}

function contentOf(body: Body): Pick<RecordMap, "data" | "binaryData"> {
  return "text" in body ? { data: { record: body.text } } : { binaryData: { record: body.gzip } };
}

function withBase(part: Content, { base }: Snapshot): Snapshot {
  return { ...part, base: new Map(part.pools.map(({ name }) => [name, base.get(name) as string])) };
}

/** The parts in which something is different, sorted, and the pools that are. */
function changedParts(before: Snapshot, after: Snapshot): Map<string, Set<string>> {
  const changed = [...before.pools, ...after.pools].filter(
    ({ name }) => before.base.get(name) !== after.base.get(name),
  );
  const parts = Map.groupBy(changed, partName);
  return new Map([...parts.keys()].sort().map((name) => [name, new Set(parts.get(name)?.map((pool) => pool.name))]));
}
