import { kindOf } from "../integrations/object-key.ts";
import { titleOf } from "../schema/objects.ts";
import type { Ground } from "./ground.ts";
import type { Seen } from "./seen.ts";

/** How long a report of an earlier object may stay before people are told, in milliseconds. */
const patience = 60_000;

/** Objects that are not created because a report of an earlier one of their name is left, each with when that was seen first. */
export class LeftReports {
  private readonly since = new Map<string, number>();
  private readonly ground: Pick<Ground, "clock" | "observer">;

  constructor(ground: Pick<Ground, "clock" | "observer">) {
    this.ground = ground;
  }

  /** Says on the source of an object, after a minute, which report keeps it from being created. Returns in how many milliseconds to look again. */
  check(key: string, source: string, report: Seen | undefined): number | undefined {
    if (report === undefined) {
      this.since.delete(key);
      return undefined;
    }
    const { clock, observer } = this.ground;
    const since = this.since.get(key) ?? clock.now();
    this.since.set(key, since);
    const left = since + patience - clock.now();
    if (left > 0) return left;
    const name = key.slice(key.indexOf("/") + 1);
    const [kind] = kindOf(key).split(".");
    const message = `${kind} ${name} is not created, because ${titleOf(report)} reports of an earlier one of that name. If the program that wrote it does not delete it, delete it.`;
    observer?.wrong(source, "Refused", message);
    return patience;
  }
}
