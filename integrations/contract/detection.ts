import type { Address } from "../../core/index.ts";
import type { Bag } from "../../schema/objects.ts";

/** What an object has found out about an address of its own: does another host answer for it? */
export interface Detected {
  readonly address: Address;
  /** The claim that it has it for, by its key. */
  readonly claim: string;
  readonly isConflict: boolean;
  /** The MAC address of that host; `unknown` where nobody knows it. */
  readonly mac: string;
}

/** What the controller asks where owners find out that another host answers for an address. Pure. */
export interface Detection {
  /** What an object has found out about its addresses. */
  detected(object: Bag): readonly Detected[];
  /** May the address of a claim be left out, beside those of others, because another host answers for it? Absent where each may. */
  mayLeaveOut?(claim: string, conflicting: ReadonlySet<string>): boolean;
}
