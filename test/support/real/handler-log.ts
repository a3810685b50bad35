import {
  type Access,
  type KubeObject,
  objectsOf,
  realClock,
  type Stored,
  transport,
  watch,
} from "../../../kube/index.ts";
import { asBag, asList, type Bag } from "../../../schema/objects.ts";

const kinds = [
  { apiVersion: "nmstate.io/v1", plural: "nodenetworkconfigurationpolicies" },
  { apiVersion: "nmstate.io/v1beta1", plural: "nodenetworkconfigurationenactments" },
];

type Content = Stored<KubeObject & { readonly status?: Bag }>;

/** What handlers write, as texts without times: each state of a policy's and an enactment's status once, in order. */
export interface HandlerLog {
  /** What was written since the last call, by name of the object. */
  take(): Record<string, string[]>;
  events(): Promise<string[]>;
  stop(): Promise<void>;
}

export function logHandlers(access: Access): HandlerLog {
  let seen: Record<string, string[]> = {};
  const last = new Map<string, string>();
  const add = (name: string, text: string) => {
    seen[name] = [...(seen[name] ?? []), text];
  };
  const set = (_: string, object: Content) => {
    const { name } = object.metadata;
    const text = statusText(object.status ?? {});
    if (last.get(name) === text) return;
    last.set(name, text);
    add(name, text);
  };
  const remove = (key: string) => {
    const name = key.slice(key.lastIndexOf("/") + 1);
    last.delete(name);
    add(name, "deleted");
  };
  const replace = (all: Map<string, Content>) => {
    for (const [name, object] of all) set(name, object);
  };
  const stopped = new AbortController();
  const source = transport(access, 30_000);
  const kube = objectsOf(access);
  const options = { signal: stopped.signal, clock: realClock, random: Math.random };
  const sink = { set, delete: remove, replace, state: () => {} };
  const project = (object: KubeObject) => object as Content;
  const watches = kinds.map((resource) => watch<Content>(source, { resource, project }, sink, options));
  return {
    take() {
      const taken = seen;
      seen = {};
      return taken;
    },
    async events() {
      const all = await kube.list<KubeObject & Bag>({ apiVersion: "v1", plural: "events" });
      const ours = all.filter(({ reason }) => reason === "ReconcileFailed");
      return ours.map(({ metadata, type, message }) => `${metadata.namespace} ${type} ${message}`);
    },
    async stop() {
      stopped.abort();
      await Promise.all(watches);
      source.close();
      kube.close();
    },
  };
}

/** Conditions in their order, then all other fields: their values where they are short, else that they are there. */
function statusText({ conditions, ...status }: Bag): string {
  const said = asList(conditions).map((one) => {
    const { type, status, reason = "", message = "" } = asBag(one) ?? {};
    return `${type} ${status} ${reason} ${plain(`${message}`)}`.trim();
  });
  const short = new Set(["policyGeneration", "retryCount", "unavailableNodeCountMap", "desiredState"]);
  const fields = Object.keys(status)
    .sort()
    .map((key) => (short.has(key) ? `${key} ${JSON.stringify(status[key])}` : key));
  return [...said, ...fields].join("\n");
}

/** A message up to what nmstatectl itself reports. */
function plain(message: string): string {
  return message.replace(/(at desired state apply|capturedStates):.*/s, "$1: ...");
}
