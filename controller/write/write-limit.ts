import { hash } from "node:crypto";
import { IpamError } from "../../core/index.ts";
import { type Clock, type KubeObject, Later, type Objects, type Resource, refusalOf } from "../../kube/index.ts";
import { asBag, asList, type Bag } from "../../schema/objects.ts";
import { changedFields } from "./superset.ts";

/** A write of one object: its fields, without the version that it is for. */
export interface Write {
  readonly verb: "create" | "change" | "delete";
  readonly resource: Resource;
  readonly name: string;
  readonly namespace?: string | undefined;
  /** Of the object that it is for: one that was made anew is another one. */
  readonly uid?: unknown;
  readonly subresource?: string | undefined;
  readonly written: Bag;
}

/** What is told of a write that another program undoes, at once or again and again; `answer` is the object as the API server took it. */
export type Contested = (write: Write, answer: unknown) => void;

/** What is told of a write that the API server has refused for long; `why` is its message. */
export type Refused = (write: Write, why: string) => void;

/**
 * How many milliseconds after the last write of a decision it may be written once more, given how often it was: at most
 * eight times in the first minute, and then once a minute.
 *
 *  written | 1, 2 | 3 | 4 | 5 | 6 | 7  | 8  | 9 or more
 *  --------+------+---+---+---+---+----+----+----------
 *  seconds | 0    | 1 | 2 | 4 | 8 | 16 | 32 | 60
 */
export function pauseAfterWrites(count: number): number {
  return count < 3 ? 0 : Math.min(1000 * 2 ** (count - 3), 60_000);
}

/** After so many writes of one decision, seven seconds at the earliest, an Event says so, and again after so many more. */
const contestedAfter = 6;
const contestedAgain = 30;
/**
 * The same of a status, a minute at the earliest: several programs may write one, and come to an end. The handlers of
 * kubernetes-nmstate write that of a policy that was parked a moment before.
 */
const statusContestedAfter = 9;
/** A decision that was not written for so many milliseconds is forgotten: nobody undoes it. */
const remembered = 3 * 60_000;

/** A write that is refused for so many milliseconds has an Event: kubernetes-nmstate refuses changes while a policy progresses. */
const refusedAfter = 30_000;

interface FirstRefusal {
  readonly decision: string;
  readonly since: number;
  /** When it was refused last. */
  readonly at: number;
}

interface Last {
  readonly decision: string;
  readonly count: number;
  readonly at: number;
}

/**
 * The same objects, but one decision about an object is written with growing pauses: an admission webhook, or another
 * controller, may undo it each time. A decision is the values of the fields that are written; another value is written at once.
 * In a pause the write throws Later. One that the API server refuses for half a minute is told, too.
 */
export function limitWrites(
  objects: Objects,
  clock: Clock,
  contested: Contested,
  refused: Refused = () => {},
): Objects {
  const limit = new WriteLimit(clock, contested, refused);
  return {
    ...objects,
    create: (resource, object) =>
      limit.run({ verb: "create", resource, ...namesIn(object), ...withoutVersion(object) }, () =>
        objects.create(resource, object),
      ),
    put: (resource, object) =>
      limit.run({ verb: "change", resource, ...namesIn(object), ...withoutVersion(object) }, () =>
        objects.put(resource, object),
      ),
    delete: (resource, object) => {
      // What belongs to another object is another one, whatever its name.
      const { ownerReferences } = object.metadata as Bag;
      return limit.run({ verb: "delete", resource, ...namesIn(object), written: { ownerReferences } }, () =>
        objects.delete(resource, object),
      );
    },
    patch: (resource, name, namespace, body, kind) => {
      const what = Array.isArray(body) ? ofPatch(body) : withoutVersion(body);
      return limit.run({ verb: "change", resource, name, namespace, subresource: kind.subresource, ...what }, () =>
        objects.patch(resource, name, namespace, body, kind),
      );
    },
    apply: (resource, object, owner) => {
      const { subresource } = owner;
      return limit.run({ verb: "change", resource, ...namesIn(object), subresource, ...withoutVersion(object) }, () =>
        objects.apply(resource, object, owner),
      );
    },
  };
}

class WriteLimit {
  private readonly clock: Clock;
  private readonly contested: Contested;
  /** The last write of these fields of an object, the oldest first. */
  private readonly last = new Map<string, Last>();
  private readonly refused: Refused;
  /** Writes that were refused, the one that was refused last at the end. */
  private readonly refusals = new Map<string, FirstRefusal>();

  constructor(clock: Clock, contested: Contested, refused: Refused) {
    this.clock = clock;
    this.contested = contested;
    this.refused = refused;
  }

  async run<T>(write: Write, send: () => Promise<T>): Promise<T> {
    const { verb, resource, namespace, name, uid, subresource, written } = write;
    const { apiVersion, plural } = resource;
    const slot = shortHash([verb, apiVersion, plural, namespace, name, subresource, fieldsIn(written)]);
    const decision = shortHash([uid, written]);
    const last = this.last.get(slot);
    const now = this.clock.now();
    const count = last?.decision === decision && now - last.at < remembered ? last.count : 0;
    const left = (last?.at ?? now) + pauseAfterWrites(count) - now;
    if (left > 0) throw new Later(left);
    const answer = await send().catch((error) => this.fail(slot, decision, write, error));
    this.refusals.delete(slot);
    // There was nothing to delete.
    if (answer !== false) remember(this.last, slot, { decision, count: count + 1, at: this.clock.now() });
    // What an admission webhook changes may never be written again, so an Event says so at once.
    const isChanged = count === 0 && verb !== "delete" && changedFields(written, answer).length > 0;
    const first = subresource === "status" ? statusContestedAfter : contestedAfter;
    if (isChanged || (count + 1 - first) % contestedAgain === 0) this.contested(write, answer);
    return answer;
  }

  private fail(slot: string, decision: string, write: Write, error: unknown): never {
    const why = error instanceof IpamError && error.code === "invalid" ? refusalOf(error)?.message : undefined;
    if (why === undefined) throw error;
    const at = this.clock.now();
    const before = this.refusals.get(slot);
    const since = before?.decision === decision ? before.since : at;
    remember(this.refusals, slot, { decision, since, at });
    if (at - since >= refusedAfter) this.refused(write, why);
    throw error;
  }
}

/** Puts one at the end, and forgets the old ones. */
function remember<One extends { readonly at: number }>(all: Map<string, One>, slot: string, one: One): void {
  all.delete(slot);
  all.set(slot, one);
  for (const [old, { at }] of all) {
    if (one.at - at < remembered) break;
    all.delete(old);
  }
}

/** Times of conditions are no part of a decision. */
function shortHash(value: unknown): string {
  const text = JSON.stringify(value, (field, one) =>
    /^last(Transition|Heartbeat)Time$/.test(field) ? undefined : one,
  );
  return hash("sha256", text, "base64").slice(0, 16);
}

function namesIn({ metadata: { name, namespace } }: KubeObject) {
  return { name, namespace };
}

function withoutVersion(object: object): Pick<Write, "uid" | "written"> {
  const { metadata, ...rest } = object as Bag;
  const { uid, resourceVersion: _, ...others } = asBag(metadata) ?? {};
  return { uid, written: Object.keys(others).length === 0 ? rest : { ...rest, metadata: others } };
}

/** The fields that a JSON patch sets, as an object has them; what it tests is the version that it is for. */
function ofPatch(operations: readonly unknown[]): Pick<Write, "uid" | "written"> {
  const fields: Record<string, unknown> = {};
  let uid: unknown;
  for (const { op, path, value } of asList(operations) as readonly { op: string; path: string; value?: unknown }[]) {
    if (op === "test" && path === "/metadata/uid") uid = value;
    if (op === "test") continue;
    const names = path
      .slice(1)
      .split("/")
      .map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));
    const last = names.pop() as string;
    let at = fields;
    for (const name of names) {
      at[name] = { ...asBag(at[name]) };
      at = at[name] as Record<string, unknown>;
    }
    at[last] = value;
  }
  return { uid, written: fields };
}

/** The names of all fields in it; a list is one. */
function fieldsIn(value: unknown): unknown {
  const bag = asBag(value);
  return bag === undefined ? "" : Object.entries(bag).map(([name, field]) => [name, fieldsIn(field)]);
}
