import fc from "fast-check";
import { address, familyOf } from "../../../core/address.ts";
import type { Allocation, Snapshot } from "../../../core/allocation.ts";
import type { Block } from "../../../core/block.ts";
import { isPlain } from "../../../core/claim.ts";
import { sharing } from "../core/model.ts";
import { plus, poolOf, snapshotOf } from "../core/text.ts";
import { anyCodePoint } from "../schema/arbitrary.ts";

/** Pools of both families; two share a prefix in one network, two share addresses in different networks. */
const pools = [
  poolOf("a", "10.0.0.0/24"),
  poolOf("b-1.x", "10.0.0.0/24 10.0.0.1 10.0.0.9"),
  { ...poolOf("c", "10.0.0.0/24", { network: "blue" }), last: address("10.0.0.77") },
  poolOf("d", "2001:db8::/64"),
  poolOf("e", "2001:db8::/64", { network: "Blue :: ✓" }),
  poolOf("f", "fe80::/10"),
  poolOf("g", "10.4.0.0/14", { blockLength: 22 }),
  poolOf("h", "2001:db8:1::/48", { blockLength: 64 }),
];

/** Texts that a line may hold: quotes, brackets, other scripts, names that objects have. */
const textArb = fc
  .oneof(
    fc.constantFrom("eth0", "default", "__proto__", '"}', "# x", "- {}", "\\u0041", "e\u0301 ✓ 😀", "<<<<<<< x"),
    fc.string({ unit: anyCodePoint, minLength: 1, maxLength: 6 }),
  )
  .filter(isPlain);
const claimArb = fc
  .tuple(
    fc.constantFrom("Node/n", "Node/N.x-1", "VM/ns:v", "Toaster/x_y"),
    fc.oneof(fc.constantFrom("a", "a/b"), textArb),
  )
  .map(([owner, name]) => `${owner}/${name}`);

const lineArb = fc.record({
  pool: fc.constantFrom(...pools),
  spot: fc.nat({ max: 250 }),
  /** Some blocks are longer than the pool gives them now: an import or an older spec made them. */
  more: fc.constantFrom(0, 0, 0, 2),
  claim: claimArb,
  set: fc.oneof({ weight: 3, arbitrary: fc.constant("default") }, textArb),
  interface: fc.option(textArb, { nil: undefined }),
  uid: fc.option(textArb, { nil: undefined }),
  releasing: fc.boolean(),
});

/** Records that keep every invariant. */
export const recordArb: fc.Arbitrary<Snapshot> = fc.array(lineArb, { maxLength: 12 }).map((wishes) => {
  const taken = new Set<string>();
  const held: (Block & { network: string })[] = [];
  const live: Allocation[] = [];
  const releasing: Allocation[] = [];
  for (const { pool, spot, more, claim, set, interface: nic, uid, releasing: leaving } of wishes) {
    const bits = familyOf(pool.prefix.first) === 4 ? 32 : 128;
    const length = Math.min(pool.blockLength + more, bits);
    const address = plus(pool.prefix.first, BigInt(spot) * 2n ** BigInt(bits - length));
    const key = `${pool.name} ${claim}`;
    const inNetwork = held.filter(({ network }) => network === pool.network);
    if ((!leaving && taken.has(key)) || sharing([{ address, length }, ...inNetwork]).length > 0) continue;
    if (!leaving) taken.add(key);
    held.push({ address, length, network: pool.network });
    const optional = { ...(nic === undefined ? {} : { interface: nic }), ...(uid === undefined ? {} : { uid }) };
    (leaving ? releasing : live).push({ address, length, pool: pool.name, claim, set, ...optional });
  }
  return snapshotOf(live, releasing, pools);
});
