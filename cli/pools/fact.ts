import {
  type Address,
  type Allocation,
  BlockIndex,
  blockAt,
  contains,
  formatAddress,
  formatBlock,
  isSingle,
  nameOfKey,
  ownerName,
  ownerOfKey,
} from "../../core/index.ts";
import { plain } from "../terminal.ts";
import { describePool } from "./pool-words.ts";
import type { PoolView } from "./pools.ts";
import { offsetIn, type Standing, standings } from "./standing.ts";

/** What one pool has to do with an address. */
export interface Fact extends Pick<PoolView, "record" | "pool"> {
  readonly address: Address;
  /** Undefined where the pool is not defined here. */
  readonly standing: Standing | undefined;
  readonly line: Allocation | undefined;
  readonly isReleasing: boolean;
}

/** Tells what this pool has to do with an address. */
export function factsAbout({ record, pool, live, releasing }: PoolView): (address: Address) => Fact {
  const standing = pool === undefined ? undefined : standings(pool);
  const leaving = new Set(releasing);
  const lines = new BlockIndex([...live, ...releasing]);
  return (address) => {
    const [line] = lines.at({ address });
    const isReleasing = line !== undefined && leaving.has(line);
    return { record, pool, address, standing: standing?.(address), line, isReleasing };
  };
}

/** Is the address in the subnet of the pool, and nothing more? */
export function isNear({ standing, line }: Fact): boolean {
  return line === undefined && (standing === undefined || standing.kind === "outside");
}

/** `10.10.10.8: pool traffic-1, offset 7, held by node01, static-ip/address-from-traffic-1, on eth1` */
export function sentence(fact: Fact): string {
  const { address, record, pool, standing, line } = fact;
  const network = record.network === "default" ? "" : ` of network ${record.network}`;
  const name = `pool ${record.name}${network}`;
  const words = [pool === undefined ? `${name}, which is not defined here` : name];
  if (isNear(fact)) {
    words[0] = `in the subnet of ${words[0]}`;
    if (pool !== undefined) words.push(`but outside its range (${describePool(pool)})`);
  } else words.push(...offsetWords(fact), ...(line === undefined ? [`${standing?.text}`] : holderWords(line, fact)));
  const block = line ?? (pool === undefined || isNear(fact) ? { address } : blockAt(address, pool.blockLength));
  const inside = isSingle(block) ? "" : ` in ${formatBlock(block)}`;
  return plain(`${formatAddress(address)}${inside}: ${words.join(", ")}`);
}

function offsetWords({ pool, address }: Fact): string[] {
  if (pool === undefined || !contains(pool.range, address)) return [];
  const offset = offsetIn(pool, address);
  return [offset === undefined ? "no offset" : `offset ${offset}`];
}

function holderWords(line: Allocation, fact: Fact): string[] {
  const objection = objectionTo(fact);
  return [
    `${fact.isReleasing ? "releasing, was " : ""}held by ${ownerName(line.claim)}`,
    nameOfKey(line.claim),
    ...(line.interface === undefined ? [] : [`on ${line.interface}`]),
    ...(line.set === "default" ? [] : [`set ${line.set}`]),
    ...(objection === undefined ? ownReservation(fact) : [`though ${objection}`]),
  ];
}

/** What the pool says of the holder's own reservation. */
function ownReservation({ standing }: Fact): string[] {
  const description = standing?.reservation?.description;
  return description === undefined ? [] : [`reserved: ${description}`];
}

/** Why the pool would not give its holder this address, if so. */
export function objectionTo({ line, standing }: Fact): string | undefined {
  if (line === undefined || standing === undefined) return undefined;
  const { kind, reservation, text } = standing;
  const isOwn = kind === "reserved" && reservation?.owner === ownerOfKey(line.claim);
  return kind === "free" || kind === "on-request" || isOwn ? undefined : text;
}
