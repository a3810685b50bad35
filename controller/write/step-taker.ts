import { uidOf } from "../../integrations/contract/object-metadata.ts";
import type { Step, Warn } from "../../integrations/contract/step.ts";
import type { Bag } from "../../schema/objects.ts";
import type { Seen } from "../cache/seen.ts";
import type { Observer } from "../dependencies.ts";
import { isSuperset } from "./superset.ts";
import type { Writer } from "./writer.ts";

/** Takes the steps of one decision: each is made to its object as the steps before have left it. Throws as the API server refuses. */
export class StepTaker {
  private readonly writer: Writer;
  private readonly observer: Observer | undefined;
  private readonly latest = new Map<string, Seen>();

  constructor(writer: Writer, observer: Observer | undefined) {
    this.writer = writer;
    this.observer = observer;
  }

  /** Returns whether an object already is as a step makes it. */
  isMet(step: Step): boolean {
    return step.verb === "apply" && isSuperset(this.latestOf(step.object).spec, step.spec);
  }

  tell({ about, problem, message }: Warn): void {
    this.observer?.wrong(about, problem ?? "Refused", message);
  }

  async take(step: Step): Promise<void> {
    if (step.verb === "warn") return this.tell(step);
    if (step.verb === "create") return void (await this.writer.create(step.object));
    if (step.verb === "put") return void (await this.writer.put(step.object, step.there && this.latestOf(step.there)));
    const object = this.latestOf(step.object);
    if (step.verb === "delete") return this.writer.delete(object);
    if (!this.isMet(step)) this.latest.set(uidOf(object), await this.change(object, step));
  }

  private change(object: Seen, step: Exclude<Step, { verb: "warn" | "create" | "put" | "delete" }>): Promise<Seen> {
    switch (step.verb) {
      case "change":
        return this.writer.change(object, step.fields);
      case "finalizer":
        return this.writer.finalizer(object, step.name, step.isWanted);
      case "apply":
        return this.writer.apply(object, step.spec, step.yields !== true);
      case "status":
        return this.writer.status(object, step, { hasHeartbeat: step.hasHeartbeat ?? false });
    }
  }

  private latestOf(object: Bag): Seen {
    return this.latest.get(uidOf(object)) ?? (object as Seen);
  }
}
