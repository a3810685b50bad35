import { IpamError } from "../../core/index.ts";
import { inSentences } from "../../schema/issues.ts";
import type { SourceObject } from "../../schema/manifest-document.ts";
import type { Bag } from "../../schema/objects.ts";
import type { Dependencies } from "../dependencies.ts";

/**
 * Objects on which an integration throws when it reads or renders them beside others. Each is rejected, so that all others are served,
 * until it changes, an object that concerns all owners changes (the cause may be that one), or some minutes have passed.
 */
export class FailingObjects {
  private found = new WeakMap<Bag, { readonly why: string; readonly until: number }>();
  private readonly deps: Pick<Dependencies, "clock" | "timing" | "log">;

  constructor(deps: Pick<Dependencies, "clock" | "timing" | "log">) {
    this.deps = deps;
  }

  /** Returns why an object is rejected; undefined if it is not. */
  readonly why = (object: Bag): string | undefined => {
    const { why, until = 0 } = this.found.get(object) ?? {};
    return until > this.deps.clock.now() ? why : undefined;
  };

  /** Forgets which objects are rejected: the next work tries them again. */
  forget(): void {
    this.found = new WeakMap();
  }

  /** Does the work for these objects. If it throws, rejects the objects that make it throw, and throws `conflict`: the work is repeated without them. */
  guard<T>(objects: readonly SourceObject[], work: (objects: readonly SourceObject[]) => T): T {
    try {
      return work(objects);
    } catch (error) {
      const rejected = this.reject(objects, work);
      if (rejected === 0) throw error;
      if (!(error instanceof IpamError))
        this.deps.log({ level: "error", message: `${rejected} objects are rejected for a defect`, error });
      throw new IpamError("conflict", `${rejected} objects are rejected now: ${whyOf(error)}`, { cause: error });
    }
  }

  /** Returns how many objects it rejects: the last one of the shortest list that fails, then the same without that one. */
  private reject(objects: readonly SourceObject[], work: (objects: readonly SourceObject[]) => unknown): number {
    if (whyNot(() => work([])) !== undefined) return 0;
    const until = this.deps.clock.now() + this.deps.timing.again;
    let left = [...objects];
    for (let why = whyNot(() => work(left)); why !== undefined; why = whyNot(() => work(left))) {
      let [sound, failing] = [0, left.length];
      while (failing - sound > 1) {
        const middle = Math.floor((sound + failing) / 2);
        const found = whyNot(() => work(left.slice(0, middle)));
        if (found === undefined) sound = middle;
        else [failing, why] = [middle, found];
      }
      this.found.set((left[sound] as SourceObject).object, { why, until });
      left = left.toSpliced(sound, 1);
    }
    return objects.length - left.length;
  }
}

/** Returns why something cannot be done, for people; undefined if it can. */
export function whyNot(work: () => unknown): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return whyOf(error);
  }
}

/** Anything but an IpamError is a defect of the controller. */
function whyOf(error: unknown): string {
  if (error instanceof IpamError) return error.issues.map(inSentences).join("; ");
  return `the controller cannot read this, which is a defect of the controller (${error}). Report it, with the object`;
}
