import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  type Allocation,
  address,
  formatAddress,
  formatPrefix,
  IpamError,
  type Plan,
  parsePrefix,
  unwrap,
} from "../core/index.ts";

/** Set by `nodeippool allocate -- COMMAND` for the command it runs: a folder that takes plans. */
export const offerVariable = "NODEIPPOOL_ALLOCATE";

/**
 * Leaves a plan to the `nodeippool allocate -- COMMAND` that this process runs under; it is committed if the command
 * succeeds. False, and nothing happens, anywhere else: a record is only ever written by that verb.
 */
export function offerPlan(plan: Plan): boolean {
  const folder = process.env[offerVariable];
  if (folder === undefined || folder === "") return false;
  try {
    writeFileSync(join(folder, `${Date.now()}-${randomUUID()}.json`), stringify(plan), { flag: "wx" });
    return true;
  } catch (error) {
    throw new IpamError(
      "unavailable",
      `${offerVariable} names no folder that takes plans: ${(error as Error).message}`,
    );
  }
}

/** The plans that were offered, oldest first. */
export function readOffers(folder: string): Plan[] {
  const names = readdirSync(folder).filter((name) => /^\d+-[0-9a-f-]{36}\.json$/.test(name));
  return names.sort().map((name) => {
    try {
      return parse(readFileSync(join(folder, name), "utf8"));
    } catch (error) {
      throw new IpamError("invalid", `a plan that was offered cannot be read: ${(error as Error).message}`);
    }
  });
}

function stringify(plan: Plan): string {
  return JSON.stringify({
    ...plan,
    base: [...plan.base],
    pools: plan.pools.map((pool) => ({ ...pool, prefix: formatPrefix(pool.prefix) })),
    assign: plan.assign.map(toText),
    keep: plan.keep.flatMap(({ allocation, was }) => (was ? { allocation: toText(allocation), was: toText(was) } : [])),
    release: plan.release.map(({ allocation, to }) => ({ allocation: toText(allocation), to })),
  });
}

type Text = Omit<Allocation, "address"> & { readonly address: string };

function parse(text: string): Plan {
  const data = JSON.parse(text);
  return {
    ...data,
    base: new Map(data.base),
    pools: data.pools.map((pool: { prefix: string }) => ({ ...pool, prefix: unwrap(parsePrefix(pool.prefix)) })),
    assign: data.assign.map(fromText),
    keep: data.keep.map((kept: { allocation: Text; was: Text }) => ({
      allocation: fromText(kept.allocation),
      was: fromText(kept.was),
    })),
    release: data.release.map((r: { allocation: Text; to: string }) => ({ ...r, allocation: fromText(r.allocation) })),
  };
}

function toText(line: Allocation): Text {
  return { ...line, address: formatAddress(line.address) };
}

function fromText(line: Text): Allocation {
  return { ...line, address: address(line.address) };
}
