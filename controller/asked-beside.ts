import {
  BlockIndex,
  type Claim,
  claimKey,
  contains,
  describeUse,
  formatBlock,
  formatOwner,
  type Pending,
  type Pool,
  wantedBy,
} from "../core/index.ts";
import type { Question } from "./decide.ts";
import type { LinesByOwner } from "./lines-by-owner.ts";
import { asOwned, isPast, type Occupied, poolsByName, without } from "./occupied.ts";

/** What a plan is asked for, where owners show to have this beside the record. */
export function askedBeside(
  claims: readonly Claim[],
  sound: readonly Pool[],
  occupied: Occupied,
  lines: LinesByOwner,
  isGone: (owner: string) => boolean,
): Pick<Question, "pools" | "claims" | "refused"> {
  const pools = sound.map((pool) => without(pool, occupied));
  const byName = poolsByName(pools);
  const asked = claims
    .filter((claim) => !hasElsewhere(claim, byName.get(claim.pool), lines))
    .filter((claim) => !(isGone(formatOwner(claim.owner)) && isPast(claim, occupied, lines)))
    .map((claim) => asOwned(claim, occupied));
  return { pools, claims: asked, refused: refusedOf(asked, pools, occupied, lines) };
}

/**
 * Has the owner of a claim what this wants, of a pool that it asked before? Then it has that, and gets no other one of a pool which
 * cannot give it.
 */
function hasElsewhere({ owner, pool, wanted }: Claim, asked: Pool | undefined, lines: LinesByOwner): boolean {
  if (wanted === undefined || asked === undefined || contains(asked.assignable, wanted)) return false;
  return lines.of(formatOwner(owner)).allocations.some((line) => line.address === wanted && line.pool !== pool);
}

/**
 * Claims that get nothing because of what is shown.
 *
 *  the claim     | the address that it wants, or that is reserved for it, | it
 *                |  is shown, and on record for nobody                    |
 *  --------------+--------------------------------------------------------+------------------------------------
 *  has a line    | any                                                    | keeps that, whatever it wants
 *  has no line   | of its owner: alone, or it is given to that one        | may get it
 *  has no line   | of anybody else, who only asks for it                  | may get it: the plan decides
 *  has no line   | of anybody else                                        | gets nothing, and is told who has it
 */
function refusedOf(
  claims: readonly Claim[],
  pools: readonly Pool[],
  { taken }: Occupied,
  lines: LinesByOwner,
): Pending[] {
  const inUse = new Map(pools.map((pool) => [pool.name, { pool, blocks: new BlockIndex(taken.get(pool.name) ?? []) }]));
  return claims.flatMap((claim): Pending[] => {
    const { pool, blocks } = inUse.get(claim.pool) ?? {};
    const wanted = pool && wantedBy(claim, pool);
    if (wanted === undefined || blocks === undefined) return [];
    const [owner, key] = [formatOwner(claim.owner), claimKey(claim.owner, claim.name)];
    const others = blocks.at(wanted).filter((one) => one.owner !== owner);
    const having = others.flatMap(({ shown }) => shown.filter((use) => use.owner !== owner && !use.isAsked));
    if (having.length === 0) return [];
    if (lines.hasLine(claim)) return [];
    const who = [...new Set(having.map(describeUse))].join(" and ");
    const message = `${formatBlock(wanted)} is in use by ${who}, and on record for nobody`;
    return [{ claim: key, pool: claim.pool, code: "in-use", message, hint: "Take it off there, or want another one." }];
  });
}
