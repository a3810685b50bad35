import { IpamError } from "../core/index.ts";
import type { Access } from "./access.ts";
import type { Clock } from "./clock.ts";
import { ipamError, JSON_PATCH, pauseBeforeRepeat, Refusal, refusalOf } from "./refusal.ts";
import { isPage, pathOf, type Resource, selectorsOf, type Where } from "./resource.ts";
import { type RetryOptions, retry } from "./retry.ts";
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
 *
 * | after `unknown-outcome`, the same write once more |
 * |---|---|
 * | create, put, delete, or a patch that names or tests a version | does nothing if it has happened: `conflict`, or false |
 * | apply, or a merge patch that names no version | gives the same; an apply may bring back what was deleted since |
 * | a JSON patch that tests nothing | may do it twice: read first |
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
  /** Asks whether the server would take an object, as `put` if it names a version, else as `create`, and changes nothing. Throws as these do. */
  dryRun(resource: Resource, object: KubeObject): Promise<void>;
  /** Deletes that version of the object, or nothing; false if there is none of its name. */
  delete(resource: Resource, object: Stored): Promise<boolean>;
  /**
   * Changes what the body says. It meets whatever version is there, but that a merge patch may name one in its metadata,
   * and a JSON patch may test it: `conflict` if the object is another, or is gone.
   */
  patch<T extends KubeObject>(
    resource: Resource,
    name: string,
    namespace: string | undefined,
    body: object,
    kind: PatchKind,
  ): Promise<Stored<T>>;
  /** Server-side apply of the fields given, as their owner. It makes the object if there is none; name no version. */
  apply<T extends KubeObject>(resource: Resource, object: T, owner: FieldOwner): Promise<Stored<T>>;
  /** Ends idle connections. */
  close(): void;
}

export interface PatchKind {
  /** `merge`: fields, null for one that is to go, lists as a whole. `json`: operations, all of them or none. */
  readonly type: "merge" | "json";
  readonly subresource?: "status";
}

export interface FieldOwner {
  readonly manager: string;
  /** Whether to take fields from other owners. */
  readonly force?: boolean;
  readonly subresource?: "status";
}

export interface ObjectsOptions {
  /** How long to go on trying what has not happened, in milliseconds. */
  readonly budget?: number;
  /** How long one request may take. */
  readonly timeout?: number;
  /** How many objects a list asks for at once. */
  readonly page?: number;
  /** The way to the server, if others use it, too; `timeout` is then theirs. */
  readonly server?: Transport;
  /** The time in which requests are tried again. */
  readonly clock?: Clock;
  /** From 0 to 1, as Math.random. */
  readonly random?: () => number;
}

export function objectsOf(access: Access, options: ObjectsOptions = {}): Objects {
  const { budget = 20_000, timeout = 30_000, page = 500, server = transport(access, timeout), clock, random } = options;
  const often: RetryOptions = { budget, ...(clock && { clock }), ...(random && { random }) };
  const request: Requester = (one) => persist(server, one, often, access.server.host);
  return {
    name: `${access.name} (${access.server.host})`,
    namespace: access.namespace,
    close: () => server.close(),
    get: async (resource, name, namespace) =>
      unlessGone(request({ method: "GET", path: pathOf(resource, namespace, name) }), name),
    // Where the server has forgotten what comes next: from the beginning, as it is now.
    list: (resource, where = {}) =>
      retry(
        () => allPages(request, pathOf(resource, where.namespace), where, page),
        (error) => (refusalOf(error)?.status === 410 ? 0 : undefined),
        often,
      ),
    create: async (resource, object) => request(createOf(resource, object)),
    put: async (resource, object) => request(putOf(resource, object)),
    dryRun: async (resource, object) => {
      const one = isVersioned(object) ? putOf(resource, object) : createOf(resource, object);
      await request({ ...one, path: `${one.path}?dryRun=All` });
    },
    delete: async (resource, object) => {
      const { name, uid, resourceVersion } = versioned(object).metadata;
      const body = JSON.stringify({ preconditions: { uid, resourceVersion } });
      const gone = await unlessGone(request({ method: "DELETE", path: objectPath(resource, object), body }), name);
      return gone !== undefined;
    },
    patch: async (resource, name, namespace, body, kind) => request(patchOf(resource, name, namespace, body, kind)),
    apply: async (resource, object, owner) => request(applyOf(resource, object, owner)),
  };
}

function createOf(resource: Resource, object: KubeObject): ApiRequest {
  return { method: "POST", path: pathOf(resource, object.metadata.namespace), body: JSON.stringify(object) };
}

function putOf(resource: Resource, object: Stored): ApiRequest {
  const { name } = object.metadata;
  return { method: "PUT", path: objectPath(resource, object), body: JSON.stringify(versioned(object)), name };
}

function patchOf(
  resource: Resource,
  name: string,
  namespace: string | undefined,
  body: object,
  { type, subresource }: PatchKind,
): ApiRequest {
  const path = pathOf(resource, namespace, name, subresource);
  const contentType = type === "json" ? JSON_PATCH : "application/merge-patch+json";
  return { method: "PATCH", path, body: JSON.stringify(body), contentType, name };
}

function applyOf(
  resource: Resource,
  object: KubeObject,
  { manager, force = false, subresource }: FieldOwner,
): ApiRequest {
  const { name, namespace } = object.metadata;
  const query = new URLSearchParams({ fieldManager: manager, force: String(force) });
  const path = `${pathOf(resource, namespace, name, subresource)}?${query}`;
  return { method: "PATCH", path, body: JSON.stringify(object), contentType: "application/apply-patch+yaml", name };
}

/** What the server says to a request that succeeds, whatever that is. */
type Requester = <T>(request: ApiRequest) => Promise<T>;

/** Sends a request until it is answered, or must not be sent again, or the budget is spent. */
async function persist<T>(server: Transport, request: ApiRequest, often: RetryOptions, host: string): Promise<T> {
  const attempt = async () => {
    const reply = await server.send(request);
    if (reply.status >= 300) throw new Refusal(reply);
    return parseReply(reply.body) as T;
  };
  try {
    return await retry(attempt, (error) => pauseBeforeRepeat(request, error), often);
  } catch (error) {
    throw ipamError(request, error, host);
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
  const { kind, metadata } = object;
  if (isVersioned(object)) return object;
  throw new IpamError("invalid", `${kind} ${metadata.name} has no uid or no resourceVersion`);
}

/** Reports whether an object names the version that it is to replace. */
export function isVersioned<T extends KubeObject>(object: T): object is Stored<T> {
  const { uid, resourceVersion } = object.metadata as Partial<Stored["metadata"]>;
  return Boolean(uid && resourceVersion);
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
