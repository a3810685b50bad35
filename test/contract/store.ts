import type { Snapshot } from "../../core/allocation.ts";
import { type Plan, plan } from "../../core/plan/plan.ts";
import { planRelease } from "../../core/plan/release.ts";
import type { StateBackend } from "../../state/backend.ts";
import { claimOf, poolOf, spelt } from "../support/core/text.ts";
import { recordTexts } from "../support/state/record.ts";

/** Where one record lives, for any number of backends that look at it. */
export interface Store {
  open(): StateBackend;
  /** Changes whenever something is written, even if it is the same again. */
  stamp(): Promise<string>;
}

export const pools = [
  poolOf("p", "10.0.0.0/24 10.0.0.1 10.0.0.9"),
  poolOf("q", "2001:db8::/64"),
  poolOf("r", "10.0.0.0/24", { network: "blue", allocationOrder: "Next" }),
  poolOf("s", "10.4.0.0/14", { blockLength: 22 }),
];

type Input = Omit<Parameters<typeof plan>[0], "pools" | "claims" | "snapshot">;

/** Plans these claims, `Node/n/a pool=q`, against what the store holds. */
export async function planned(store: Store, claims: readonly string[], rest: Input = {}): Promise<Plan> {
  const snapshot = await store.open().read();
  return plan({ pools, claims: claims.map((text) => claimOf(spelt(text))), snapshot, ...rest });
}

export async function committed(store: Store, claims: readonly string[], rest: Input = {}): Promise<Snapshot> {
  return store.open().commit(await planned(store, claims, rest));
}

export async function freed(store: Store): Promise<Snapshot> {
  const snapshot = await store.open().read();
  return store.open().commit(planRelease(snapshot, snapshot.releasing));
}

export async function lines(store: Store): Promise<string[]> {
  return recordTexts(await store.open().read());
}
