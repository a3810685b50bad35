import { emptySnapshot, IpamError, type Snapshot } from "../../core/index.ts";
import type { Objects } from "../../kube/index.ts";
import type { RecordPlace, Sight } from "../migrate.ts";
import { overlapping } from "../overlap.ts";
import { type Held, Store } from "./store.ts";
import type { Index } from "./subnet-index.ts";
import { encodePart, split } from "./subnet-records.ts";

interface ClusterSight extends Sight {
  readonly held: Held;
}

/** A record in ConfigMaps of a namespace as one end of a move. Every writer reads the mark, which stands in the index. */
export function kubernetesPlace(objects: Objects, namespace?: string): RecordPlace<ClusterSight> {
  const store = new Store(objects, namespace);
  return {
    name: store.name,
    look: () => look(store),
    async settle() {
      await store.fenceAll(await store.load());
      return look(store);
    },
    checkFits,
    async mark({ held }, mark) {
      // What a clearing that was interrupted has left.
      if (held.index.mark?.state === "left") await store.replace(held, emptySnapshot);
      await store.saveIndex(held, { ...held.index, mark });
    },
    unmark: ({ held }, arrived) => store.saveIndex(held, opened(held.index, arrived)),
    write: ({ held }, record) => store.replace(held, record),
    async clear({ held }, mark) {
      // The mark comes first: as long as it says `leaves`, all of the record is here.
      const { pools, left, departed } = held.index;
      if (held.index.mark?.state !== "left")
        await store.saveIndex(held, {
          pools: [],
          left: [...left, ...pools],
          arrived: [],
          departed: [...departed, mark.id],
          mark,
        });
      const now = await store.load();
      if (now.index.mark?.id === mark.id && now.index.mark.state === "left") await store.replace(now, emptySnapshot);
    },
  };
}

function opened({ mark: _, arrived, ...index }: Index, move: string | undefined): Index {
  return { ...index, arrived: move === undefined ? arrived : [...arrived, move] };
}

/** Throws for a record that ConfigMaps cannot hold: subnets that overlap, or one that is too large for an object. */
function checkFits(record: Snapshot): void {
  const two = overlapping(record.pools);
  if (two !== undefined)
    throw new IpamError("overlap", `the subnets of pools ${two[0].name} and ${two[1].name} overlap`, {
      hint: "A record can move if all pools of a network that share addresses have one cidr.",
    });
  for (const [name, part] of split(record)) encodePart(part, name);
}

async function look(store: Store): Promise<ClusterSight> {
  const held = await store.load();
  const { mark, arrived, departed } = held.index;
  return {
    held,
    snapshot: mark?.state === "left" ? emptySnapshot : held.snapshot,
    mark,
    place: held.indexUid,
    hasArrived: ({ id }) => arrived.includes(id),
    hasDeparted: ({ id }) => departed.includes(id),
  };
}
