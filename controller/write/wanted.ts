import type { RenderedObject } from "../../integrations/contract/integration.ts";
import { objectKey } from "../../integrations/contract/object-key.ts";
import type { World } from "../cache/world.ts";
import { type Fingerprint, fingerprint } from "./change.ts";

/** An object that is to exist, whose it is, and what it was made of. */
export interface WantedObject {
  readonly key: string;
  readonly fingerprint: Fingerprint;
  /** To be written; absent once it was there. There are tens of thousands, and rendering makes it again. */
  readonly object?: RenderedObject;
  readonly owner: string;
  readonly source: string;
  /** When the record was read that it was made of. */
  readonly asOf: number;
  /** Whether it is to be otherwise than it was before, and is not known to be there yet. */
  readonly isChanged?: boolean;
}

/** Returns an object that was rendered from a record read at `asOf`, with its owner and source. */
export function wantedObject(object: RenderedObject, world: World, asOf: number): WantedObject {
  const { owners, sources } = world.concerns({ ...object });
  const [key, mark] = [objectKey(object), fingerprint(object, world.kindFor(object))];
  return { key, fingerprint: mark, object, owner: owners[0] ?? "", source: sources[0] ?? "", asOf };
}

/** What the last look at an owner told. */
interface OwnerObjects {
  readonly keys: ReadonlySet<string>;
  /** Of which these objects are made. */
  readonly sources: ReadonlySet<string>;
  readonly asOf: number;
  /** The sources that were rejected then: the look does not tell whether their objects are to exist. */
  readonly rejected: ReadonlySet<string>;
}

/** The objects that are to exist, as far as their owners were looked at. */
export class Wanted {
  private readonly objects = new Map<string, WantedObject>();
  private readonly byOwner = new Map<string, OwnerObjects>();
  private readonly counts = new Map<string, number>();

  get(key: string): WantedObject | undefined {
    return this.objects.get(key);
  }

  /**
   * Returns when the record was read by which this owner was looked at. If it was not, or if the source was rejected then, nobody
   * knows which objects of the source are to exist for it.
   */
  asOf(owner: string, source: string): number | undefined {
    const last = this.byOwner.get(owner);
    return last?.rejected.has(source) ? undefined : last?.asOf;
  }

  /** Returns for how many owners objects of a source are to exist. */
  countOf(source: string): number {
    return this.counts.get(source) ?? 0;
  }

  /** Says all that is to exist for an owner, of all sources but the rejected ones. Returns the keys of what is, and of what was. */
  replace(owner: string, all: readonly WantedObject[], asOf: number, rejected: ReadonlySet<string>): Set<string> {
    const before = this.byOwner.get(owner)?.keys ?? new Set();
    const changed = new Set(all.filter((one) => this.isChange(one)));
    // What another owner has by this name now is that one's.
    for (const key of before) if (this.objects.get(key)?.owner === owner) this.objects.delete(key);
    for (const one of all) this.objects.set(one.key, changed.has(one) ? { ...one, isChanged: true } : one);
    const [keys, sources] = [new Set(all.map(({ key }) => key)), new Set(all.map(({ source }) => source))];
    this.forget(owner);
    this.byOwner.set(owner, { keys, sources, asOf, rejected });
    for (const source of sources) this.counts.set(source, this.countOf(source) + 1);
    return new Set([...before, ...keys]);
  }

  /** Nothing is to exist for an owner, and nothing does. */
  forget(owner: string): void {
    for (const source of this.byOwner.get(owner)?.sources ?? []) {
      const left = this.countOf(source) - 1;
      if (left === 0) this.counts.delete(source);
      else this.counts.set(source, left);
    }
    this.byOwner.delete(owner);
  }

  /** Nobody knows what is to exist for an owner of whom it was said that nothing is. */
  forgetIfNone(owner: string): void {
    if (this.byOwner.get(owner)?.keys.size === 0) this.forget(owner);
  }

  /** It is there as wanted. */
  isThere(key: string): void {
    const one = this.objects.get(key);
    if (one?.object === undefined) return;
    const { object: _, isChanged: __, ...rest } = one;
    this.objects.set(key, rest);
  }

  private isChange({ key, fingerprint }: WantedObject): boolean {
    const before = this.objects.get(key);
    return before !== undefined && (before.isChanged === true || before.fingerprint.digest !== fingerprint.digest);
  }
}
