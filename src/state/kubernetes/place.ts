import { emptySnapshot, type Snapshot } from "../../core/index.ts";
import type { Objects } from "../../kube/index.ts";
import type { RecordPlace, Sight } from "../migrate.ts";
import { type Held, Store } from "./store.ts";
import type { Index } from "./subnet-index.ts";
import { encodePart, split } from "./subnet-records.ts";

interface ClusterSight extends Sight {
  readonly held: Held;
}

/** A record in ConfigMaps of a namespace as one end of a move. Every writer reads the mark, which stands in the index. */
export function kubernetesPlace(objects: Objects, namespace?: string): RecordPlace<ClusterSight> {
  const store = new Store(objects, namespace);
  const look = async (): Promise<ClusterSight> => {
    const held = await store.load();
    const { index } = held;
    const snapshot = index.mark?.state === "left" ? emptySnapshot : held.snapshot;
    return { held, snapshot, mark: index.mark, place: held.indexUid, hasTaken: ({ id }) => index.arrived.includes(id) };
  };
  return {
    name: store.name,
    look,
    async settle() {
      await store.fenceAll(await store.load());
      return look();
    },
    checkFits(record: Snapshot) {
      for (const [name, part] of split(record)) encodePart(part, name);
    },
    mark: ({ held }, mark) => store.saveIndex(held, { ...held.index, mark }),
    unmark: ({ held }) => store.saveIndex(held, unmarked(held.index)),
    async take({ held }, record, { id }) {
      await store.replace(held, record);
      const written = await store.load();
      const index = unmarked(written.index);
      await store.saveIndex(written, { ...index, arrived: [...index.arrived, id] });
    },
    async clear({ held }, mark) {
      // The mark comes first: as long as it says `leaves`, all of the record is here.
      const { pools, left, arrived } = held.index;
      await store.saveIndex(held, { pools: [], left: [...left, ...pools], arrived, mark });
      await store.replace(await store.load(), emptySnapshot);
    },
  };
}

function unmarked({ mark: _, ...index }: Index): Index {
  return index;
}
