import {
  type Address,
  addressAt,
  compareAddresses,
  contains,
  formatAddress,
  IpamError,
  isNamedBy,
  lineJson,
  offsetOf,
  ownerName,
  type Pool,
  parseAddress,
  parseOwner,
  rangeOf,
} from "../core/index.ts";
import { didYouMean } from "../schema/nearest.ts";
import { type Fact, factsAbout, isNear, objectionTo, sentence } from "./pools/fact.ts";
import { countJson, type PoolOptions, type PoolView, poolNames, readPools, viewNamed, viewsOf } from "./pools/pools.ts";
import { offsetIn } from "./pools/standing.ts";
import { print, printJson } from "./terminal.ts";

export interface ExplainOptions extends PoolOptions {
  readonly offset?: string;
  readonly json?: boolean;
}

export async function explainVerb(what: string, options: ExplainOptions): Promise<void> {
  const { pools, snapshot } = await readPools(options);
  const views = viewsOf(pools, snapshot);
  if (options.offset !== undefined) {
    const { address, where } = withOffset(viewNamed(views, what), options.offset);
    return printAddress(address, where, options);
  }
  const held = parseAddress(what).value === undefined ? factsNamed(what, views) : [];
  if (held.length === 0) return printAddress(addressOf(what, views), views, options);
  const addresses = held.map((fact) => ({ address: formatAddress(fact.address), pools: [factJson(fact)] }));
  if (options.json) printJson({ name: what, addresses });
  else print(...held.map(sentence));
}

function printAddress(address: Address, where: readonly PoolView[], { json }: ExplainOptions): void {
  const facts = explained(address, where);
  if (json) printJson({ address: formatAddress(address), pools: facts.map(factJson) });
  else print(...(facts.length === 0 ? [`${formatAddress(address)}: in no pool`] : facts.map(sentence)));
}

/** What a node, another owner, a policy or a claim has, pool by pool; an owner also what is kept for it. */
function factsNamed(name: string, views: readonly PoolView[]): Fact[] {
  return views.flatMap((view) => {
    const held = [...view.live, ...view.releasing].filter((line) => isNamedBy(line, name));
    const kept = view.pool?.reservations.all.filter(({ owner }) => owner === name || nameOfOwner(owner) === name) ?? [];
    const addresses = new Set([...held, ...kept].map(({ address }) => address));
    return [...addresses].sort(compareAddresses).map(factsAbout(view));
  });
}

function nameOfOwner(owner: string | undefined): string | undefined {
  return owner === undefined ? undefined : parseOwner(owner).value?.name;
}

function addressOf(what: string, views: readonly PoolView[]): Address {
  const parsed = parseAddress(what);
  if (parsed.value !== undefined) return parsed.value;
  const pools = views.map(({ record }) => record.name);
  if (pools.includes(what))
    throw new IpamError("invalid", `${what} is a pool, not an address`, {
      hint: `Add --offset NUMBER, or see all of it: nodeippool show ${what}`,
    });
  if (/^[\d.]+$|[:/%]/.test(what)) throw new IpamError("invalid", parsed.issues);
  const owners = views.flatMap(({ live, releasing }) => [...live, ...releasing].map((line) => ownerName(line.claim)));
  const longer = owners.find((owner) => owner.startsWith(`${what}.`));
  const near = longer === undefined ? didYouMean(what, new Set([...pools, ...owners])) : `; did you mean ${longer}?`;
  throw new IpamError(
    "invalid",
    `${JSON.stringify(what)} is no address, no pool, and nobody who has an address${near}`,
    { hint: poolNames(pools) },
  );
}

function withOffset(view: PoolView, text: string): { address: Address; where: readonly PoolView[] } {
  const { record, pool } = view;
  if (pool === undefined)
    throw new IpamError("invalid", `pool ${record.name} is recorded, but not defined here: its offsets are unknown`, {
      hint: "Say where it is defined: --pools FOLDER.",
    });
  const highest = highestOffset(pool);
  const offsets = highest === undefined ? "no offsets" : `offsets 0 to ${highest}`;
  if (!/^\d+$/.test(text))
    throw new IpamError("invalid", `${JSON.stringify(text)} is no offset: pool ${pool.name} has ${offsets}`);
  // Text of so many digits is above every offset: no need to read it.
  const offset = text.length > 60 ? undefined : BigInt(text);
  const address =
    offset === undefined || highest === undefined || offset > highest ? undefined : addressAt(pool, offset);
  if (address === undefined)
    throw new IpamError(
      "out-of-range",
      `offset ${text.slice(0, 60)} is not in pool ${pool.name}, which has ${offsets}`,
    );
  return { address, where: [view] };
}

/** The offset of the last address of the range that has one. */
function highestOffset(pool: Pool): bigint | undefined {
  for (let at = pool.range.at(-1)?.last as Address; at >= pool.start; at = (at - 1n) as Address) {
    const offset = offsetOf(pool, at);
    if (offset !== undefined) return offset;
  }
  return undefined;
}

/**
 * Every pool that has to do with an address. Those that have it in their subnet alone are left out where another
 * pool of the network has more to say.
 */
export function explained(address: Address, views: readonly PoolView[]): Fact[] {
  const facts = views
    .map((view) => factsAbout(view)(address))
    .filter(({ record, line }) => line !== undefined || contains(rangeOf(record.prefix), address));
  const settled = new Set(facts.filter((fact) => !isNear(fact)).map((fact) => fact.record.network));
  return facts.filter((fact) => !isNear(fact) || !settled.has(fact.record.network));
}

function factJson(fact: Fact) {
  const { record, pool, standing, line, isReleasing } = fact;
  const offset = offsetIn(pool, fact.address);
  const note = line === undefined ? standing?.text : objectionTo(fact);
  return {
    pool: record.name,
    network: record.network,
    defined: pool !== undefined,
    ...(offset === undefined ? {} : { offset: countJson(offset) }),
    state: line === undefined ? (standing?.kind ?? "unknown") : isReleasing ? "releasing" : "held",
    ...(note === undefined ? {} : { note }),
    ...(line === undefined ? {} : { allocation: lineJson(line) }),
  };
}
