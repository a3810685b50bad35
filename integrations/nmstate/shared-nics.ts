import {
  type Allocation,
  type Claim,
  familyOf,
  formatOwner,
  IpamError,
  isOfOtherSet,
  type Pool,
  policyOf,
  policyOfKey,
} from "../../core/index.ts";
import { addressList, listOf } from "./address-list.ts";

/**
 * nmstate replaces the address list of a NIC as a whole, so two policies that both give a node's NIC addresses of
 * one family would wipe each other's, also where the record has the other one for another claim set. What an import
 * recorded is nobody's yet: a plan adopts it. Throws `invalid` for each such pair.
 */
export function refuseSharedNics(
  claims: readonly Claim[],
  pools: readonly Pool[],
  recorded: readonly Allocation[] = [],
  set = "default",
): void {
  const others = recorded.filter((line) => isOfOtherSet(line, set));
  const families = new Map(pools.map((pool) => [pool.name, familyOf(pool.prefix.first)]));
  const users = new Map<string, User>(
    others.map((line) => [listOf(line), { policy: policyOfKey(line.claim), set: line.set }]),
  );
  const clashes = new Map<string, Clash>();
  for (const { owner, name, pool, interface: nic } of claims) {
    if (nic === undefined) continue;
    const place = addressList(families.get(pool), nic, formatOwner(owner));
    const policy = policyOf(name);
    const other = users.get(place) ?? { policy };
    users.set(place, other);
    if (other.policy === policy) continue;
    const shown = other.set === undefined ? other.policy : `${other.policy} (set ${other.set})`;
    const clash = clashes.get(`${shown} ${policy}`) ?? {
      policies: `${shown} and ${policy}`,
      place,
    };
    clashes.set(`${shown} ${policy}`, clash);
  }
  if (clashes.size === 0) return;
  const issues = [...clashes.values()].map((clash) => ({
    message: `policies ${clash.policies} both set the ${clash.place}; nmstate replaces the whole list`,
    hint: "Make all captures of one NIC in one policy.",
  }));
  throw new IpamError("invalid", issues);
}

/** Whose the addresses of a NIC are. */
interface User {
  readonly policy: string;
  /** Of another claim set. */
  readonly set?: string;
}

/** Two policies that set one list. */
interface Clash {
  readonly policies: string;
  readonly place: string;
}
