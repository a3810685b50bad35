import { IpamError } from "../core/index.ts";
import type { Access } from "./access.ts";
import { ipamError, pauseBeforeRepeat, Refusal, refusalOf } from "./refusal.ts";
import { isPage, pathOf, type Resource, selectorsOf, type Where } from "./resource.ts";
import { retry } from "./retry.ts";
import { type ApiRequest, type Transport, transport, Unanswered } from "./transport.ts";

export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    /** Absent for kinds that have none. */
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
}

/** An object as the server has it, or had it. */
export type Stored<T extends KubeObject = KubeObject> = T & {
  readonly metadata: {
    readonly uid: string;
    readonly resourceVersion: string;
    /** When who last wrote it, by the server's clock. */
    readonly managedFields?: readonly { readonly time?: string }[];
  };
};

/**
 * The objects of one cluster. Nothing is cached. Every function throws IpamError: `conflict` (it exists already; it is
 * another one or another version than the caller knows), `unavailable` (nothing happened; try later),
 * `unknown-outcome` (a write may or may not have happened; read again) and `invalid` (trying again cannot help). What
 * cannot have happened yet is tried again here until `budget` is spent. A Refusal is the `cause` where the server said why.
 */
export interface Objects {
  /** For messages: the context and the server. */
  readonly name: string;
  /** The namespace that the context names. */
  readonly namespace: string;
  get<T extends KubeObject>(resource: Resource, name: string, namespace?: string): Promise<Stored<T> | undefined>;
  list<T extends KubeObject>(resource: Resource, where?: Where): Promise<Stored<T>[]>;
  create<T extends KubeObject>(resource: Resource, object: T): Promise<Stored<T>>;
  /** Replaces the version that the object names, or nothing: a server that gets no version replaces any. */
  put<T extends KubeObject>(resource: Resource, object: Stored<T>): Promise<Stored<T>>;
  /** Deletes that version of the object, or nothing; false if there is none of its name. */
  delete(resource: Resource, object: Stored): Promise<boolean>;
  /** Server-side apply of the fields given, as their owner. It makes the object if there is none; name no version. */
  apply<T extends KubeObject>(
    resource: Resource,
    object: T,
    owner: { manager: string; force?: boolean },
  ): Promise<Stored<T>>;
  /**
   * Changes an object by a merge patch or a JSON patch. A resourceVersion in a merge patch, or a `test` of one in a JSON
   * patch, that is not the object's is `conflict`.
   */
  patch<T extends KubeObject>(
    resource: Resource,
    name: string,
    namespace: string | undefined,
    body: unknown,
    options: { type: "merge" | "json"; subresource?: "status" },
  ): Promise<Stored<T>>;
  /** Ends idle connections. */
  close(): void;
}

export interface ObjectsOptions {
  /** How long to go on trying what has not happened, in milliseconds. */
  readonly budget?: number;
  /** How long one request may take. */
  readonly timeout?: number;
  /** How many objects a list asks for at once. */
  readonly page?: number;
}

export function objectsOf(access: Access, options: ObjectsOptions = {}): Objects {
  const { budget = 20_000, timeout = 30_000, page = 500 } = options;
  const { send, close } = transport(access, timeout);
  const request: Requester = (one) => persist(send, one, budget, access.server.host);
  return {
    name: `${access.name} (${access.server.host})`,
    namespace: access.namespace,
    close,
    get: async (resource, name, namespace) =>
      unlessGone(request({ method: "GET", path: pathOf(resource, namespace, name) }), name),
    // Where the server has forgotten what comes next: from the beginning, as it is now.
    list: (resource, where = {}) =>
      retry(
        () => allPages(request, pathOf(resource, where.namespace), where, page),
        (error) => (refusalOf(error)?.status === 410 ? 0 : undefined),
        { budget },
      ),
    create: async (resource, object) =>
      request({ method: "POST", path: pathOf(resource, object.metadata.namespace), body: JSON.stringify(object) }),
    put: async (resource, object) =>
      request({ method: "PUT", path: objectPath(resource, object), body: JSON.stringify(versioned(object)) }),
    delete: async (resource, object) => {
      const { name, uid, resourceVersion } = versioned(object).metadata;
      const body = JSON.stringify({ preconditions: { uid, resourceVersion } });
      const gone = await unlessGone(request({ method: "DELETE", path: objectPath(resource, object), body }), name);
      return gone !== undefined;
    },
    patch: async (resource, name, namespace, body, { type, subresource }) => {
      const path = pathOf(resource, namespace, name) + (subresource === undefined ? "" : `/${subresource}`);
      const contentType = `application/${type === "json" ? "json-patch" : "merge-patch"}+json`;
      return request({ method: "PATCH", path, body: JSON.stringify(body), contentType });
    },
    apply: async (resource, object, { manager, force = false }) => {
      const path = `${objectPath(resource, object)}?${new URLSearchParams({ fieldManager: manager, force: String(force) })}`;
      const contentType = "application/apply-patch+yaml";
      return request({ method: "PATCH", path, body: JSON.stringify(object), contentType });
    },
  };
}

/** What the server says to a request that succeeds, whatever that is. */
type Requester = <T>(request: ApiRequest) => Promise<T>;

/** Sends a request until it is answered, or must not be sent again, or the budget is spent. */
async function persist<T>(send: Transport["send"], request: ApiRequest, budget: number, server: string): Promise<T> {
  const attempt = async () => {
    const reply = await send(request);
    if (reply.status >= 300) throw new Refusal(reply);
    return parseReply(reply.body) as T;
  };
  try {
    return await retry(attempt, (error) => pauseBeforeRepeat(request, error), { budget });
  } catch (error) {
    throw ipamError(request, error, server);
  }
}

async function allPages<T>(request: Requester, path: string, where: Where, page: number): Promise<T[]> {
  const found: T[] = [];
  const query = new URLSearchParams({ limit: String(page), ...selectorsOf(where) });
  for (;;) {
    const reply = await request<unknown>({ method: "GET", path: `${path}?${query}` });
    if (!isPage<T>(reply)) throw new IpamError("invalid", `what answers ${path} is no API server of Kubernetes`);
    found.push(...reply.items);
    if (!reply.metadata?.continue) return found;
    query.set("continue", reply.metadata.continue);
  }
}

function parseReply(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch (error) {
    throw new Unanswered(true, new Error(`the reply is not JSON: ${(error as Error).message}`));
  }
}

function objectPath(resource: Resource, { metadata }: KubeObject): string {
  return pathOf(resource, metadata.namespace, metadata.name);
}

/** Without a version the server would overwrite whatever is there. */
function versioned(object: Stored): Stored {
  const { uid, resourceVersion } = object.metadata;
  if (uid && resourceVersion) return object;
  throw new IpamError("invalid", `${object.kind} ${object.metadata.name} has no uid or no resourceVersion`);
}

/** undefined where there is no object of that name; a kind that does not exist stays an error. */
async function unlessGone<T>(request: Promise<T>, name: string): Promise<T | undefined> {
  try {
    return await request;
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal?.status === 404 && refusal.about.name === name) return undefined;
    throw error;
  }
}
