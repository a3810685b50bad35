import { blockAt, contains, formatAddress, formatBlock, nameOfKey, ownerName, ownerOfKey } from "../../core/index.ts";
import { plain } from "../terminal.ts";
import type { Fact } from "./pools.ts";

/** Returns whether an address is in the subnet of the pool, and nothing more. */
export function isNear({ state }: Fact): boolean {
  return state === "outside" || state === "unknown";
}

/** `10.10.10.8: pool traffic-1, offset 7, held by node01, static-ip/address-from-traffic-1, on eth1` */
export function sentence(fact: Fact): string {
  const { address, record, pool, line, standing } = fact;
  const network = record.network === "default" ? "" : ` of network ${record.network}`;
  const block = line ?? (pool === undefined || isNear(fact) ? { address } : blockAt(address, pool.blockLength));
  const where = address === block.address ? "" : `${formatAddress(address)} in `;
  const words = [
    `${where}${formatBlock(block)}: pool ${record.name}${network}`,
    ...(pool === undefined ? ["which is not defined here"] : []),
    ...(pool !== undefined && contains(pool.range, address) ? [offsetText(fact)] : []),
    ...(line === undefined ? [standing?.text ?? "not recorded"] : holderWords(fact)),
  ];
  return plain(words.join(", "));
}

function offsetText({ offset }: Fact): string {
  return offset === undefined ? "no offset" : `offset ${offset}`;
}

function holderWords(fact: Fact): string[] {
  const { line, state, standing } = fact;
  if (line === undefined) return [];
  const objection = objectionTo(fact);
  const description = standing?.reservation?.description;
  return [
    `${state === "releasing" ? "releasing, was " : ""}held by ${ownerName(line.claim)}`,
    nameOfKey(line.claim),
    ...(line.interface === undefined ? [] : [`on ${line.interface}`]),
    ...(line.set === "default" ? [] : [`set ${line.set}`]),
    ...(objection === undefined ? [] : [`though ${objection}`]),
    ...(objection === undefined && description !== undefined ? [`reserved: ${description}`] : []),
  ];
}

/** Why the pool would not give its holder this address, if so. */
export function objectionTo({ line, standing }: Fact): string | undefined {
  if (line === undefined || standing === undefined) return undefined;
  const { kind, reservation, text } = standing;
  const isOwn = kind === "reserved" && reservation?.owner === ownerOfKey(line.claim);
  return kind === "free" || kind === "on-request" || isOwn ? undefined : text;
}
