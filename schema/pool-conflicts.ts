import { type Address, formatAddress, parseAddress } from "../core/index.ts";
import { ownPrefix } from "./node.ts";
import { asBag, type Bag } from "./objects.ts";

/** On a NodeIPPool: addresses that hosts have which are nobody's here, `10.0.0.3 02:00:00:00:00:02, 10.0.0.4 unknown`. Nobody else gets them. */
export const conflictsAnnotation = `${ownPrefix}conflicts`;

/** Such addresses of a pool, each with the MAC address of that host; `unknown` where nobody knows it. */
export type PoolConflicts = ReadonlyMap<Address, string>;

/** What a NodeIPPool says of them. An entry that cannot be read is none. */
export function poolConflictsOf({ metadata }: Bag): PoolConflicts {
  const { [conflictsAnnotation]: text = "" } = asBag(asBag(metadata)?.annotations) ?? {};
  return new Map(
    `${text}`.split(",").flatMap((entry): [Address, string][] => {
      const [ip = "", mac = "unknown"] = entry.trim().split(/\s+/);
      const { value: address } = parseAddress(ip);
      return address === undefined ? [] : [[address, mac]];
    }),
  );
}

/** What it is to say; nothing where there are none. */
export function formatConflicts(conflicts: PoolConflicts): string | undefined {
  const entries = [...conflicts].sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.map(([address, mac]) => `${formatAddress(address)} ${mac}`).join(", ") || undefined;
}
