import { randomUUID } from "node:crypto";
import { IpamError } from "../../../core/errors.ts";
import { isVersioned, type KubeObject, type Objects, type Stored } from "../../../kube/index.ts";
import { Refusal } from "../../../kube/refusal.ts";

type Map1 = KubeObject & { readonly data?: Record<string, string>; readonly binaryData?: Record<string, string> };

/** What a request does to the objects, and when: before and after it, a test can wait, look or throw. */
export type Around = (request: string, run: () => unknown) => Promise<unknown>;

/** ConfigMaps of one namespace, as an API server keeps them, for what a real one cannot be made to do on command. */
export class MemoryCluster {
  readonly maps = new Map<string, Stored<Map1>>();
  private revision = 0;

  /** A client of it. */
  objects(around: Around = async (_, run) => run()): Objects {
    const call = <T>(request: string, run: () => T) => around(request, run) as Promise<T>;
    return {
      name: "memory",
      namespace: "net",
      close() {},
      get: (_, name) => call(`get ${name}`, () => ({ metadata: { name } }) as never),
      list: (_, where = {}) =>
        call("list", () => [...this.maps.values()].filter((map) => isSelected(map, where)) as never),
      create: (_, object) => call(`create ${object.metadata.name}`, () => this.create(object as never) as never),
      put: (_, object) => call(`put ${object.metadata.name}`, () => this.put(object as never) as never),
      dryRun: async (resource, object) => {
        const copy = new MemoryCluster();
        for (const [name, map] of this.maps) copy.maps.set(name, map);
        const { put, create } = copy.objects(around);
        await (isVersioned(object) ? put(resource, object) : create(resource, object));
      },
      delete: () => Promise.reject(new Error("nobody deletes")),
      patch: () => Promise.reject(new Error("nobody patches")),
      apply: () => Promise.reject(new Error("nobody applies")),
    };
  }

  /** Somebody edits the record in an object by hand, or deletes it. */
  edit(name: string, change: (record: string) => string | undefined): void {
    const there = this.maps.get(name) as Stored<Map1>;
    const record = change(`${there.data?.record}`);
    if (record === undefined) this.maps.delete(name);
    else this.keep({ ...there, data: { ...there.data, record } });
  }

  private create(object: Map1): Stored<Map1> {
    const { name } = object.metadata;
    if (this.maps.has(name)) throw refusal("AlreadyExists");
    return this.keep({ ...object, metadata: { ...object.metadata, uid: randomUUID(), resourceVersion: "" } });
  }

  private put(object: Stored<Map1>): Stored<Map1> {
    const old = this.maps.get(object.metadata.name)?.metadata;
    if (old?.uid !== object.metadata.uid || old.resourceVersion !== object.metadata.resourceVersion)
      throw refusal("Conflict");
    return this.keep(object);
  }

  private keep(object: Stored<Map1>): Stored<Map1> {
    const metadata = { ...object.metadata, resourceVersion: `${++this.revision}` };
    const kept = structuredClone({ ...object, metadata });
    this.maps.set(metadata.name, kept);
    return kept;
  }
}

function isSelected({ metadata }: Map1, { labels, fields }: { labels?: string; fields?: string }): boolean {
  return (
    (labels === undefined || metadata.labels?.[labels] !== undefined) &&
    (fields === undefined || fields === `metadata.name=${metadata.name}`)
  );
}

function refusal(reason: string): IpamError {
  const body = JSON.stringify({ kind: "Status", reason, message: reason });
  return new IpamError("conflict", reason, { cause: new Refusal({ status: 409, headers: {}, body }) });
}
