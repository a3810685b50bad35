import type { Address } from "../../core/index.ts";
import type { Bag } from "../../schema/objects.ts";

/** What an object found out about its own address: whether another host answers for it. */
export interface Detected {
  readonly address: Address;
  /** The claim of the address, by its key. */
  readonly claim: string;
  readonly isConflict: boolean;
  /** The MAC address of that host; `unknown` if it is not known. */
  readonly mac: string;
}

/** What the controller asks where owners find out that another host answers for an address. Pure. */
export interface Detection {
  /** Returns what an object found out about its addresses. */
  detected(object: Bag): readonly Detected[];
  /** Returns whether the address of a claim may be left out, beside those of others, because another host answers for it. Absent where each may. */
  mayLeaveOut?(claim: string, conflicting: ReadonlySet<string>): boolean;
}
