import { emptySnapshot, IpamError, type Snapshot } from "../../core/index.ts";
import type { Objects } from "../../kube/index.ts";
import type { Mark } from "../mark.ts";
import type { RecordPlace } from "../migrate.ts";
import type { Sight } from "../next-step.ts";
import { type Held, Store } from "./store.ts";
import { type Index, onwardOf } from "./subnet-index.ts";
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
    checkFits(record: Snapshot) {
      for (const [name, part] of split(record)) encodePart(part, name);
    },
    async mark({ held }, mark) {
      const old = held.index.mark;
      if (old?.state !== "left") return store.saveIndex(held, { ...held.index, mark });
      // What a clearing that was interrupted has left, or a mark that was put back by hand.
      await store.replace(held, emptySnapshot);
      await store.saveIndex(held, { ...cleared(held.index, old), mark });
    },
    unmark: ({ held }) => store.saveIndex(held, unmarked(held.index)),
    async take({ held }, record, mark) {
      await store.replace(held, record);
      const written = await again(store, mark, "takes");
      const index = unmarked(written.index);
      await store.saveIndex(written, { ...index, arrived: [...index.arrived, mark.id] });
    },
    async clear({ held }, mark) {
      // The mark comes first: as long as it says `leaves`, all of the record is here.
      await store.saveIndex(held, { ...cleared(held.index, mark), mark });
      await store.replace(await again(store, mark, "left"), emptySnapshot);
    },
  };
}

function unmarked({ mark: _, ...index }: Index): Index {
  return index;
}

/** The index of a record that has left by a move. */
function cleared({ pools, left, arrived, departed }: Index, { id }: Mark): Index {
  return { pools: [], left: [...left, ...pools], arrived: [], departed: [...new Set([...departed, ...arrived, id])] };
}

async function look(store: Store): Promise<ClusterSight> {
  const held = await store.load();
  const { mark, arrived, departed } = held.index;
  const isElsewhere = mark?.state === "left" || mark?.before?.state === "left";
  return {
    held,
    snapshot: isElsewhere ? emptySnapshot : held.snapshot,
    mark,
    place: held.indexUid,
    arrived,
    hasEnded: ({ id }) => [...arrived, ...departed].includes(id),
    onward: ({ id }) => onwardOf(held.index, id),
  };
}

/** Loads it again, for the next step of a move. Throws IpamError `conflict` if that move is no longer at this point. */
async function again(store: Store, { id }: Mark, state: Mark["state"]): Promise<Held> {
  const held = await store.load();
  const { mark } = held.index;
  if (mark?.id === id && mark.state === state) return held;
  throw new IpamError("conflict", `${store.name} was moved by somebody else`);
}
