import { type Address, type Allocation, IpamError, ownerOfKey } from "../../core/index.ts";
import type { Detected } from "../../integrations/contract/detection.ts";
import { objectKey } from "../../integrations/contract/object-key.ts";
import {
  conflictsAnnotation,
  formatConflicts,
  type PoolConflicts,
  poolConflictsOf,
} from "../../schema/pool-conflicts.ts";
import { integrationOf } from "../allocate/asking.ts";
import { poolKind } from "../cache/kinds.ts";
import { isOutdated } from "../cache/refresh.ts";
import type { Seen } from "../cache/seen.ts";
import type { World } from "../cache/world.ts";
import type { Dependencies } from "../dependencies.ts";
import { Writer } from "../write/writer.ts";

/** So many addresses of a pool are kept from others. */
const maxConflicts = 100;

/** What an object, by its key, has found out. */
interface Found extends Detected {
  readonly by: string;
}

/** What a pool says of its addresses that others have. */
interface Conflicts {
  readonly known: PoolConflicts;
  /** The lines of the pool on record. */
  readonly lines: readonly Allocation[];
  readonly found: readonly Found[];
  /** Returns whether the address of a claim may be left out beside those of these claims. */
  readonly mayLeaveOut: (claim: string, conflicting: ReadonlySet<string>) => boolean;
  /** Claims of all pools that are. */
  readonly conflicting: ReadonlySet<string>;
}

/**
 * What a pool is to say of the addresses that hosts have which are nobody's here. What it says lasts: it does not matter what becomes
 * of who found it, or of the record.
 *
 *  an address  | who has it on record says         | it
 *  ------------+-----------------------------------+--------------------------------------------------
 *  is not said | another host answers              | is said, if there are fewer than 100, and its claim may be left out
 *  is said     | nobody else answers               | is said no more
 *  is said     | anything else, or nobody has it   | stays, with the MAC address that was found first
 *  any         | somebody who has it not on record | as if nothing was said
 */
export function nextConflicts({ known, lines, found, mayLeaveOut, conflicting }: Conflicts) {
  const claims = new Map(lines.map(({ claim, address }) => [claim, address]));
  const own = found.filter(({ claim, address }) => claims.get(claim) === address);
  const next = new Map<Address, string>(known);
  const left = new Set(conflicting);
  const by = new Set<string>();
  for (const one of own.filter(({ isConflict, address }) => isConflict && !known.has(address))) {
    if (next.size >= maxConflicts || !mayLeaveOut(one.claim, left)) continue;
    next.set(one.address, one.mac);
    left.add(one.claim);
    by.add(one.by);
  }
  const heard = new Set(own.filter(({ isConflict }) => isConflict).map(({ address }) => address));
  for (const one of own.filter(({ isConflict, address }) => !isConflict && !heard.has(address)))
    if (next.delete(one.address)) by.add(one.by);
  return { next, by };
}

/** Keeps what objects find out about their addresses: which ones of a pool others have. */
export class Quarantine {
  private readonly deps: Dependencies;
  private readonly world: World;
  /** The objects that have found a conflict, by their keys, each with what they say. */
  private readonly telling = new Map<string, string>();
  private readonly writer: Writer;

  constructor(deps: Dependencies, world: World) {
    this.deps = deps;
    this.world = world;
    this.writer = new Writer(deps, world);
  }

  /** An object is another one than it was. May a pool have something else to say by that? */
  heard(key: string): boolean {
    const found = this.foundBy(key);
    const text = found.flatMap(({ claim, isConflict, address }) => (isConflict ? `${claim} ${address}` : [])).join();
    const before = this.telling.get(key) ?? "";
    if (text === "") this.telling.delete(key);
    else this.telling.set(key, text);
    return (
      text !== before || (found.length > 0 && this.world.all(poolKind).some((one) => poolConflictsOf(one).size > 0))
    );
  }

  /** Writes the conflicts of a pool into its status; `live` are its lines. Throws `conflict` if the pool, or an object that found one, changed since. */
  async write(pool: Seen, lines: readonly Allocation[], conflicting: ReadonlySet<string>): Promise<Seen> {
    const known = poolConflictsOf(pool);
    if (known.size + this.telling.size === 0) return pool;
    const owners = lines.filter(({ address }) => known.has(address)).map(({ claim }) => ownerOfKey(claim));
    const about = [...new Set(owners)].flatMap((owner) => this.world.ofOwner(owner).map(objectKey));
    const found = [...new Set([...this.telling.keys(), ...about])].flatMap((key) => this.foundBy(key));
    const mayLeaveOut: Conflicts["mayLeaveOut"] = (claim, others) =>
      integrationOf(claim, this.deps.integrations)?.detection?.mayLeaveOut?.(claim, others) ?? true;
    const { next, by } = nextConflicts({ known, lines, found, mayLeaveOut, conflicting });
    if (by.size === 0) return pool;
    for (const key of by)
      if (await isOutdated(key, this.world.get(key), this.world, this.deps.objects))
        throw new IpamError("conflict", `${key} is otherwise on the server than it was seen`);
    const annotations = { [conflictsAnnotation]: formatConflicts(next) ?? null };
    return this.writer.change(pool, { metadata: { annotations } });
  }

  private foundBy(key: string): Found[] {
    const object = this.world.get(key);
    if (object === undefined) return [];
    const found = this.deps.integrations.flatMap(({ detection }) => detection?.detected(object) ?? []);
    return found.map((one) => ({ ...one, by: key }));
  }
}
