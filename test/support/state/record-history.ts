import { formatAddress } from "../../../core/address.ts";
import type { Snapshot } from "../../../core/allocation.ts";
import { decodePart } from "../../../state/kubernetes/subnet-records.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { replay } from "../cluster/history.ts";
import { duplicates } from "./record.ts";

export interface RecordHistory {
  readonly revisions: number;
  /** Every `claim pool address` that was live at any revision. */
  readonly live: ReadonlySet<string>;
  /** How often a claim became live. */
  readonly given: number;
  /** What was wrong at a revision. */
  readonly wrong: readonly string[];
}

export interface Since {
  readonly since?: number;
  /** A claim that was given up may come back with another address. */
  readonly mayReturn?: boolean;
}

/** All that etcd ever held of a record: an address twice at one revision, a claim that moved. */
export async function recordHistory(
  cluster: Cluster,
  namespace: string,
  { since = 1, mayReturn = false }: Since = {},
): Promise<RecordHistory> {
  const parts = new Map<string, Snapshot>();
  const live = new Set<string>();
  const addressOf = new Map<string, string>();
  const wrong: string[] = [];
  let revisions = 0;
  let given = 0;
  await replay(
    cluster,
    "configmaps",
    ({ number, key, object }) => {
      if (!key.startsWith(`/registry/configmaps/${namespace}/`)) return;
      revisions++;
      const before = liveIn(parts.get(key));
      const part = partOf(object, key);
      if (part === undefined) return void parts.delete(key);
      parts.set(key, part);
      const now = liveIn(part);
      if (mayReturn) for (const claim of before.keys()) if (!now.has(claim)) addressOf.delete(claim);
      for (const [claim, address] of now) {
        live.add(`${claim} ${address}`);
        if (!before.has(claim)) given++;
        if ((addressOf.get(claim) ?? address) !== address) wrong.push(`${number}: ${claim} moved to ${address}`);
        addressOf.set(claim, address);
      }
      for (const twice of duplicates(together([...parts.values()]))) wrong.push(`${number}: ${twice}`);
    },
    since,
  );
  return { revisions, live, given, wrong };
}

function partOf(object: unknown, key: string): Snapshot | undefined {
  const map = object as undefined | { data?: { record?: string }; binaryData?: { record?: string } };
  const [text, gzip] = [map?.data?.record, map?.binaryData?.record];
  if (text === undefined && gzip === undefined) return undefined;
  return decodePart(text === undefined ? { gzip: gzip as string } : { text }, key);
}

/** `claim pool` and the address of each live line. */
function liveIn(part: Snapshot | undefined): Map<string, string> {
  return new Map(part?.allocations.map((line) => [`${line.claim} ${line.pool}`, formatAddress(line.address)]));
}

function together(parts: readonly Snapshot[]) {
  return {
    pools: parts.flatMap(({ pools }) => pools),
    allocations: parts.flatMap(({ allocations }) => allocations),
    releasing: parts.flatMap(({ releasing }) => releasing),
  };
}
