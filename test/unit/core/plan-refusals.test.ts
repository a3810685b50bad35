import { describe, expect, it } from "vitest";
import { IpamError } from "../../../core/errors.ts";
import { type PlanInput, plan } from "../../../core/plan/plan.ts";
import { claimOf, poolOf, recordOf, shown } from "../../support/core/text.ts";

const cidr = "10.0.0.0/24";
const p = poolOf("p", cidr);
const low = "10.0.0.0/24 10.0.0.1 10.0.0.50";
const high = "10.0.0.0/24 10.0.0.51 10.0.0.99";
const beyond = { additionalRanges: [{ start: "10.0.0.50", end: "10.0.0.60" }] };
const nothing = recordOf([], []);

function refusalOf(input: Partial<PlanInput>): { code: string; messages: string[] } {
  try {
    return { code: "none", messages: shown(plan({ pools: [p], claims: [], snapshot: nothing, ...input })) };
  } catch (error) {
    if (!(error instanceof IpamError)) throw error;
    return { code: error.code, messages: error.issues.map(({ message }) => message) };
  }
}

describe("plan throws", () => {
  const of = (lines: string[], ...pools: ReturnType<typeof poolOf>[]) => recordOf(lines, pools);
  it.each<{ name: string; input: Partial<PlanInput>; code: string; messages: RegExp[] }>([
    {
      name: "a claim of an unknown pool",
      input: { claims: [claimOf("Node/n/a pool=q")] },
      code: "invalid",
      messages: [/Node\/n\/a .*pool q/],
    },
    {
      name: "a claim twice",
      input: { claims: ["Node/n/a", "Node/n/b", "Node/n/a wanted=10.0.0.9"].map(claimOf) },
      code: "invalid",
      messages: [/Node\/n\/a .*p twice/],
    },
    ...[167772161, "10.0.0.1", null].map((wanted) => ({
      name: `a wanted address that is none: ${wanted}`,
      input: { claims: [{ ...claimOf("Node/n/a"), wanted: wanted as never }] },
      code: "invalid",
      messages: [/^claim Node\/n\/a wants what is no address$/],
    })),
    {
      name: "both, at once",
      input: { claims: ["Node/n/a", "Node/n/a", "Node/n/b pool=q"].map(claimOf) },
      code: "invalid",
      messages: [/Node\/n\/b .*pool q/, /Node\/n\/a .*p twice/],
    },
    {
      name: "two pools of one name",
      input: { pools: [p, poolOf("p", "10.9.0.0/24")] },
      code: "invalid",
      messages: [/p is defined twice/],
    },
    {
      name: "two pools with one range",
      input: { pools: [p, poolOf("q", cidr)] },
      code: "overlap",
      messages: [/p and q of network default/],
    },
    {
      name: "a pool inside another one, beside a third",
      input: {
        pools: [poolOf("a", "10.1.0.0/16"), poolOf("b", "10.0.0.0/8", { network: "red" }), poolOf("c", "10.0.0.0/8")],
      },
      code: "overlap",
      messages: [/(a and c|c and a) of network default/],
    },
    {
      name: "pools that share one address",
      input: { pools: [poolOf("p", low), poolOf("q", `${cidr} 10.0.0.50 10.0.0.60`)] },
      code: "overlap",
      messages: [/p and q/],
    },
    {
      name: "every pair that overlaps",
      input: { pools: ["a", "b", "c"].map((name) => poolOf(name, "2001:db8::/64")) },
      code: "overlap",
      messages: [/a and b/, /a and c/, /b and c/],
    },
    {
      name: "a recorded pool with another prefix",
      input: { snapshot: of(["10.0.0.1 Node/n/a"], poolOf("p", "10.0.0.0/25")) },
      code: "in-use",
      messages: [/p is 10\.0\.0\.0\/24.* 10\.0\.0\.0\/25/],
    },
    {
      name: "a recorded pool with another network",
      input: { snapshot: of(["10.0.0.1 Node/n/a set=b"], poolOf("p", cidr, { network: "red" })) },
      code: "in-use",
      messages: [/network default.*network red/],
    },
    {
      name: "a recorded pool with another prefix, releasing",
      input: { snapshot: of(["10.0.0.1 Node/n/a releasing"], poolOf("p", "10.0.0.0/25")) },
      code: "in-use",
      messages: [/p is/],
    },
    {
      name: "a recorded pool, not configured here, with an address of a configured one",
      input: { snapshot: of(["10.0.0.9 Node/n/a pool=q set=b"], poolOf("q", "10.0.0.0/16")) },
      code: "overlap",
      messages: [/p and q.*10\.0\.0\.9 is recorded for Node\/n\/a/],
    },
    {
      name: "the same, in the second range of the second of two pools",
      input: {
        pools: [poolOf("o", "10.0.0.0/24 10.0.0.20 10.0.0.30"), poolOf("p", `${cidr} 10.0.0.1 10.0.0.5`, beyond)],
        snapshot: of(["10.0.0.9 Node/n/a pool=q set=b", "10.0.0.60 Node/m/a pool=q set=b"], poolOf("q", "10.0.0.0/16")),
      },
      code: "overlap",
      messages: [/p and q.*10\.0\.0\.60 is recorded for Node\/m\/a/],
    },
    {
      name: "the same, releasing",
      input: { snapshot: of(["10.0.0.9 Node/n/a pool=q releasing"], poolOf("q", "10.0.0.0/16")) },
      code: "overlap",
      messages: [/p and q/],
    },
    // A pool shrank, its line outside stayed, and another pool took over that part.
    {
      name: "a configured pool with a live line in the range of another one",
      input: { pools: [poolOf("p", low), poolOf("q", high)], snapshot: of(["10.0.0.60 Node/n/a set=b"], p) },
      code: "overlap",
      messages: [/10\.0\.0\.60 is recorded for Node\/n\/a/],
    },
    {
      name: "a configured pool with a releasing line in the range of another one",
      input: { pools: [poolOf("p", low), poolOf("q", high)], snapshot: of(["10.0.0.60 Node/n/a releasing"], p) },
      code: "overlap",
      messages: [/10\.0\.0\.60 is recorded for Node\/n\/a/],
    },
  ])("$name: $code", ({ input, code, messages }) => {
    const refusal = refusalOf(input);
    expect(refusal.code).toBe(code);
    expect(refusal.messages).toHaveLength(messages.length);
    for (const pattern of messages) expect(refusal.messages).toContainEqual(expect.stringMatching(pattern));
  });
});

describe("plan takes", () => {
  it.each<{ name: string; input: Partial<PlanInput> }>([
    { name: "two parts of one prefix", input: { pools: [poolOf("p", low), poolOf("q", high)] } },
    { name: "one range in two networks", input: { pools: [p, poolOf("q", cidr, { network: "red" })] } },
    {
      name: "another start, end and exclude of a recorded pool",
      input: {
        pools: [poolOf("p", low, { exclude: ["10.0.0.7"] })],
        snapshot: recordOf(["10.0.0.1 Node/n/a set=b"], [p]),
      },
    },
    {
      name: "a stranger's address beside the range",
      input: {
        pools: [poolOf("p", low)],
        snapshot: recordOf(["10.0.0.60 Node/n/a pool=q set=b"], [poolOf("q", cidr)]),
      },
    },
    {
      name: "a stranger's address in another network",
      input: { snapshot: recordOf(["10.0.0.60 Node/n/a pool=q set=b"], [poolOf("q", cidr, { network: "red" })]) },
    },
    {
      name: "one claim of two pools",
      input: {
        pools: [p, poolOf("q", "10.9.0.0/24")],
        claims: [claimOf("Node/n/a wanted=10.0.0.1"), claimOf("Node/n/a pool=q wanted=10.9.0.1")],
      },
    },
  ])("$name", ({ input }) => {
    expect(refusalOf(input).code).toBe("none");
  });
});

describe("the errors of a shuffled input have the same bytes", () => {
  it.each<{ name: string; input: Partial<PlanInput> }>([
    { name: "pools that overlap", input: { pools: ["c", "a", "b"].map((name) => poolOf(name, cidr)) } },
    { name: "unknown pools", input: { claims: ["Node/n/b pool=x", "Node/n/a pool=y"].map(claimOf) } },
    {
      name: "pools defined twice",
      input: {
        pools: [
          poolOf("b", "10.1.0.0/24"),
          poolOf("a", "10.2.0.0/24"),
          poolOf("b", "10.3.0.0/24"),
          poolOf("a", "10.4.0.0/24"),
        ],
      },
    },
  ])("$name", ({ input }) => {
    const turned = {
      ...input,
      ...(input.pools && { pools: [...input.pools].reverse() }),
      ...(input.claims && { claims: [...input.claims].reverse() }),
    };
    expect(refusalOf(input).code).not.toBe("none");
    expect(refusalOf(turned)).toEqual(refusalOf(input));
  });
});

describe("a pending claim says", () => {
  it.each([
    {
      name: "exhausted",
      record: ["10.0.0.1 Node/m/a"],
      claims: ["Node/m/a", "Node/n/a", "Node/n/b", "Node/n/c"],
      message: "pool p is exhausted: 3 needed, 1 free",
      hint: /Let the pool grow/,
    },
    {
      name: "exhausted, one of another name leaves",
      record: ["10.0.0.1 Node/m/a", "10.0.0.2 Node/o/a"],
      claims: ["Node/n/a", "Node/o/a"],
      message: "pool p is exhausted: 1 needed, 0 free",
      hint: /^Let the pool grow/,
    },
    {
      name: "exhausted, and somebody else's move is refused",
      record: ["10.0.0.1 Node/m/a", "10.0.0.2 Node/o/a"],
      claims: ["Node/m/b", "Node/n/a", "Node/o/a"],
      code: "exhausted",
      message: "pool p is exhausted: 1 needed, 0 free",
      hint: /^Let the pool grow/,
    },
    {
      name: "exhausted, and somebody else moves, as allowed",
      record: ["10.0.0.1 Node/m/a", "10.0.0.2 Node/o/a"],
      claims: ["Node/m/b", "Node/o/a"],
      allowMove: true,
      message: "pool p is exhausted: 1 needed, 0 free",
      hint: /^Let the pool grow/,
    },
    {
      name: "exhausted, some releasing",
      record: ["10.0.0.1 Node/m/a releasing", "10.0.0.2 Node/m/b releasing"],
      claims: ["Node/n/a"],
      message: "pool p is exhausted: 1 needed, 0 free",
      hint: /free the addresses that are releasing \(2\)/,
      remedy: ["release"],
    },
    {
      name: "out of range",
      record: [],
      claims: ["Node/n/a wanted=10.0.0.9"],
      message: "10.0.0.9 is not an address that pool p may give to it",
      hint: /^Look at its range/,
      remedy: undefined,
    },
    {
      name: "wanted and held",
      record: ["10.0.0.1 Node/m/a"],
      claims: ["Node/m/a", "Node/n/a wanted=10.0.0.1"],
      message: "10.0.0.1 is held by Node/m/a",
      hint: /release that one first/,
    },
    {
      name: "wanted, and held by one that leaves",
      record: ["10.0.0.1 Node/m/a"],
      claims: ["Node/n/a wanted=10.0.0.1"],
      message: "10.0.0.1 is held by Node/m/a",
      hint: /release that one first/,
    },
    {
      name: "releasing in another set",
      record: ["10.0.0.1 Node/n/a set=b releasing"],
      claims: ["Node/n/a"],
      message: "10.0.0.1 is releasing, as the same claim of set b",
      hint: /declare that it came from there/,
      remedy: ["to-set", "a", "b", "default"],
    },
    {
      name: "releasing in another set, which has others of the policy",
      record: ["10.0.0.1 Node/n/a/x set=b releasing", "10.0.0.2 Node/m/a/x set=b"],
      claims: ["Node/n/a/x"],
      message: "10.0.0.1 is releasing, as the same claim of set b",
      hint: /declare that it came from there/,
      remedy: ["to-set", "a", "b", "default"],
    },
    {
      name: "held in another set",
      record: ["10.0.0.1 Node/n/a set=b"],
      claims: ["Node/n/a"],
      message: "10.0.0.1 is already held by Node/n/a in set b",
      hint: /declare that it came from there/,
      remedy: ["to-set", "a", "b", "default"],
    },
    {
      name: "held by an earlier object",
      record: ["10.0.0.1 VM/ns:v/a uid=7"],
      claims: ["VM/ns:v/a uid=8"],
      message: "10.0.0.1 is held by an earlier VM/ns:v (uid 7)",
      hint: /Release it/,
    },
    {
      name: "held, another wanted",
      record: ["10.0.0.1 Node/n/a"],
      claims: ["Node/n/a wanted=10.0.0.2"],
      message: "10.0.0.1 is held by Node/n/a, which now wants 10.0.0.2",
      hint: /, or allow the move\.$/,
      remedy: ["allow", "move"],
    },
    {
      name: "held, no longer covered",
      record: ["10.0.0.5 Node/n/a"],
      claims: ["Node/n/a"],
      message:
        "10.0.0.5 is held by Node/n/a, but pool p hands it out no more (range, additionalRanges, exclude, gateway, DNS servers or reservations)",
      hint: /, or allow the move\.$/,
      remedy: ["allow", "move"],
    },
    {
      name: "held as a block, in a pool of blocks no more",
      record: ["10.0.0.0/30 Node/n/a"],
      claims: ["Node/n/a"],
      message: "10.0.0.0/30 is held by Node/n/a, but pool p has no blockLength any more: it hands out single addresses",
      hint: /^Put blockLength: 30 back into the pool\.$/,
    },
  ])("$name: $message", ({ record, claims, allowMove = false, code, message, hint, remedy }) => {
    const pool = poolOf("p", "10.0.0.0/29 10.0.0.1 10.0.0.2");
    const { pending } = plan({
      pools: [pool],
      claims: claims.map(claimOf),
      snapshot: recordOf(record, [pool]),
      allowMove,
    });
    const first = code === undefined ? pending[0] : pending.find((one) => one.code === code);
    expect(first).toMatchObject({ pool: "p", message });
    expect(first?.remedy).toEqual(remedy);
    expect(first?.hint).toMatch(hint);
  });
});
