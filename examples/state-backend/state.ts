// A state backend in thirty lines: the record as one text in any store that can compare and swap.
import { emptySnapshot, IpamError } from "nodeippool";
import { applyPlan, decode, encode, type StateBackend } from "nodeippool/state";

/** One text and its version: an object in S3 (If-Match), a key in etcd or Consul, a row with a version column. */
export interface Cell {
  get(): Promise<{ text: string; version: string } | undefined>;
  /** Writes if the version is still this one (undefined: there is nothing yet). False if it is not. */
  put(text: string, version: string | undefined): Promise<boolean>;
}

export function cellState(name: string, cell: Cell): StateBackend {
  const load = async () => {
    const held = await cell.get();
    return { version: held?.version, snapshot: held === undefined ? emptySnapshot : decode(held.text, name) };
  };
  return {
    name,
    read: async () => (await load()).snapshot,
    async commit(plan) {
      for (let attempt = 0; attempt < 10; attempt++) {
        const { version, snapshot } = await load();
        const next = applyPlan(snapshot, plan); // throws `conflict` if a pool of the plan has moved
        if (next === undefined) return snapshot; // nothing to write, or written by an earlier attempt
        if (await cell.put(encode(next), version)) return next;
      }
      throw new IpamError("unavailable", `${name} changes faster than it can be written`);
    },
  };
}
