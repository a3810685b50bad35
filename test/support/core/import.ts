import { address } from "../../../core/address.ts";
import { IpamError } from "../../../core/errors.ts";
import { type ImportInput, planImport } from "../../../core/plan/import.ts";
import type { Use } from "../../../core/use.ts";
import { claimOf, poolOf, recordOf, spelt } from "./text.ts";

/** .1 to .9, of which .4 is excluded, .5 reserved for nobody and .6 for Node/r. */
export const pool = poolOf("p", "10.0.0.0/24 10.0.0.1 10.0.0.9", {
  exclude: ["10.0.0.4"],
  reservations: [{ address: "10.0.0.5" }, { address: "10.0.0.6", owner: "Node/r" }],
});

/** `.1 Node/n eth1`: address, owner and NIC. */
export function useOf(text: string, i: number): Use {
  const [where = "", owner = "", nic] = spelt(text).split(" ");
  const at = { file: "nns.json", line: i + 1, column: 1 };
  return { address: address(where), owner, at, ...(nic === undefined ? {} : { interface: nic }) };
}

export function inputOf(claims: readonly string[], record: readonly string[], uses: readonly string[]): ImportInput {
  return {
    pools: [pool],
    claims: claims.map((text) => claimOf(spelt(text))),
    snapshot: recordOf(record.map(spelt), [pool]),
    uses: uses.map(useOf),
  };
}

/** Why an import is refused, if it is. */
export function refusalOf(input: ImportInput): IpamError | undefined {
  try {
    planImport(input);
    return undefined;
  } catch (error) {
    if (error instanceof IpamError) return error;
    throw error;
  }
}
