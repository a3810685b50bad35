import type { KubeObject } from "../../kube/index.ts";
import type { Seen } from "../cache/seen.ts";
import { type Dependencies, type RecordChange, timeOf } from "../dependencies.ts";
import { eventOfProblem, eventsOf, eventWrite, type Finder, type Said, type Written } from "../events.ts";

/** What happens within so many milliseconds is said at once. */
const settle = 1000;
/** So many Events are written in one go. What happened beyond that is dropped; what is wrong is said the next time. */
const maxEvents = 100;
/** A server keeps Events for so many milliseconds. */
const kept = 60 * 60_000;
/** The longest message that an API server takes. */
const maxMessage = 1024;

const resource = { apiVersion: "v1", plural: "events" };
const component = "nodeippool-controller";

/** The reason of the Event for each part of a change of the record that has one. */
const recordEvents = [
  ["Allocated", "allocated"],
  ["Adopted", "adopted"],
  ["Released", "released"],
] as const;

/** Writes Events, one after the other and as well as it goes: one that cannot be written is dropped, and nothing waits for one. */
export class EventWriter {
  private readonly deps: Pick<Dependencies, "objects" | "clock" | "today" | "log">;
  private readonly find: (key: string) => Seen | undefined;
  private readonly finder: Finder;
  private readonly signal: AbortSignal;
  private changes: RecordChange[] = [];
  /** Problems by object and reason: the last word counts. */
  private readonly problems = new Map<string, Said>();
  private readonly written = new Map<string, Written & { readonly name: string; readonly count: number }>();
  private isBusy = false;
  private hasFailed = false;
  private number = 0;

  /** It writes until the signal aborts. `find` finds objects by their keys. */
  constructor(deps: EventWriter["deps"], find: EventWriter["find"], finder: Finder, signal: AbortSignal) {
    this.deps = deps;
    this.find = find;
    this.finder = finder;
    this.signal = signal;
  }

  recorded(change: RecordChange): void {
    if (Object.values(change).every((lines) => lines.length === 0)) return;
    this.changes.push(change);
    this.begin();
  }

  wrong(about: string, problem: string, message: string): void {
    for (const said of eventOfProblem(about, problem, message)) this.problems.set(`${about} ${said.reason}`, said);
    this.begin();
  }

  private begin(): void {
    if (this.isBusy) return;
    this.isBusy = true;
    this.writeAll().catch((error) => this.deps.log({ level: "error", message: "Events are lost", error }));
  }

  private async writeAll(): Promise<void> {
    try {
      while (this.changes.length + this.problems.size > 0) {
        await this.deps.clock.sleep(settle, this.signal);
        for (const said of this.take()) if (!this.signal.aborted) await this.write(said);
      }
    } finally {
      this.isBusy = false;
    }
  }

  /** What is to be said now. */
  private take(): Said[] {
    const { changes } = this;
    this.changes = [];
    const facts = recordEvents.flatMap(([reason, part]) =>
      eventsOf(
        reason,
        changes.flatMap((change) => change[part]),
        this.finder,
      ),
    );
    const problems = [...this.problems].slice(0, Math.max(0, maxEvents - facts.length));
    for (const [key] of problems) this.problems.delete(key);
    return [...facts.slice(0, maxEvents), ...problems.map(([, said]) => said)];
  }

  private async write(said: Said): Promise<void> {
    const key = `${this.find(said.about)?.metadata.uid} ${said.reason}`;
    const last = this.written.get(key);
    const now = this.deps.clock.now();
    const what = eventWrite(said, last, now);
    try {
      if (what !== "none" && said.type === "Warning")
        this.deps.log({ level: "warn", message: said.message, object: said.about, reason: said.reason });
      if (what === "create") await this.create(said, key, now);
      if (what === "count" && last !== undefined) {
        await this.count(said, last);
        this.remember(key, { ...last, count: last.count + 1, message: said.message, at: now });
      }
      this.hasFailed = false;
    } catch (error) {
      this.written.delete(key);
      if (!this.hasFailed)
        this.deps.log({ level: "warn", message: "an Event cannot be written", object: said.about, error });
      this.hasFailed = true;
    }
  }

  private async create(said: Said, key: string, now: number): Promise<void> {
    const object = this.find(said.about);
    if (object === undefined) return;
    const time = timeOf(this.deps);
    const { apiVersion, kind, metadata } = object;
    const { name: of, namespace, uid } = metadata;
    const name = `${of.slice(0, 200)}.${Date.parse(time).toString(16)}${(++this.number).toString(16)}`;
    const event = {
      apiVersion: "v1",
      kind: "Event",
      metadata: { name, namespace: namespace ?? "default" },
      involvedObject: { apiVersion, kind, name: of, ...(namespace === undefined ? {} : { namespace }), uid },
      type: said.type,
      reason: said.reason,
      message: said.message.slice(0, maxMessage),
      count: 1,
      firstTimestamp: time,
      lastTimestamp: time,
      source: { component },
      reportingComponent: component,
    };
    await this.deps.objects.create(resource, event as KubeObject);
    if (said.type === "Warning") this.remember(key, { name, count: 1, message: said.message, at: now });
  }

  /** The latest is the last one; those that the server has forgotten by now go. */
  private remember(key: string, one: Written & { readonly name: string; readonly count: number }): void {
    this.written.delete(key);
    this.written.set(key, one);
    for (const [old, { at }] of this.written) {
      if (one.at - at < kept) break;
      this.written.delete(old);
    }
  }

  /** Says it once more. */
  private async count(said: Said, { name, count }: { readonly name: string; readonly count: number }): Promise<void> {
    const namespace = this.find(said.about)?.metadata.namespace ?? "default";
    const body = { count: count + 1, message: said.message.slice(0, maxMessage), lastTimestamp: timeOf(this.deps) };
    await this.deps.objects.patch(resource, name, namespace, body, { type: "merge" });
  }
}
