import type { Cluster } from "./cluster.ts";

/** One change of one object, and all of them after it. */
export interface Revision {
  /** Of etcd: the object's resourceVersion. */
  readonly number: number;
  readonly key: string;
  /** As etcd keeps it; undefined if it was deleted. */
  readonly object: unknown;
  /** Every object below the prefix at this revision, by key. One map, which goes on changing. */
  readonly objects: ReadonlyMap<string, unknown>;
}

/** The revision that the next change of anything has. */
export async function nextRevision({ etcd }: Cluster): Promise<number> {
  const { header } = await call<{ header: { revision: string } }>(etcd, "range", { key: base64("/"), limit: 1 });
  return Number(header.revision) + 1;
}

/**
 * Replays all that ever happened to the objects of one kind, from a revision until now, in order. `kind` is the folder of
 * the kind in etcd, `configmaps` or `nmstate.io/nodeippools`; `visit` throws if it sees what must never be. Returns the
 * number of revisions.
 */
export async function replay(
  { etcd }: Cluster,
  kind: string,
  visit: (revision: Revision) => void,
  since = 1,
): Promise<number> {
  const folder = `/registry/${kind}`;
  // The last event to come: written now, outside the folder and next to it.
  const end = `${folder}0`;
  const { header } = await call<{ header: { revision: string } }>(etcd, "put", { key: base64(end), value: "" });

  const create_request = { key: base64(`${folder}/`), range_end: base64(`${end}\0`), start_revision: `${since}` };
  const objects = new Map<string, unknown>();
  let revisions = 0;
  for await (const line of lines(await post(etcd, "watch", { create_request }))) {
    const { result, error } = JSON.parse(line);
    if (error || result.canceled) throw new Error(`etcd: ${line}`);
    for (const { type, kv } of result.events ?? []) {
      const number = Number(kv.mod_revision);
      if (number >= Number(header.revision)) return revisions;
      const key = text(kv.key);
      if (key === end) continue; // of another replay
      const object = type === "DELETE" ? undefined : JSON.parse(text(kv.value));
      if (object === undefined) objects.delete(key);
      else objects.set(key, object);
      revisions++;
      visit({ number, key, object, objects });
    }
  }
  throw new Error("etcd ended the replay");
}

/** Leaving the loop over them ends the connection. */
async function* lines({ body }: Response): AsyncGenerator<string> {
  const parts: string[] = [];
  for await (const chunk of (body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream())) {
    const [first, ...rest] = chunk.split("\n");
    parts.push(first as string);
    for (const part of rest) {
      yield parts.splice(0).join("");
      parts.push(part);
    }
  }
}

async function call<T>(etcd: string, method: string, body: unknown): Promise<T> {
  return (await post(etcd, `kv/${method}`, body)).json() as Promise<T>;
}

async function post(etcd: string, path: string, body: unknown): Promise<Response> {
  const response = await fetch(`${etcd}/v3/${path}`, {
    method: "POST",
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`etcd ${path}: ${response.status} ${await response.text()}`);
  return response;
}

const base64 = (plain: string) => Buffer.from(plain).toString("base64");
const text = (encoded: string) => Buffer.from(encoded, "base64").toString();
