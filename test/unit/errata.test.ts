// One test for each erratum (E1 to E22) of the proposal that docs/adr/0001 names: what it says, and the rule that holds here.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { address, formatAddress, formatPrefix } from "../../core/address.ts";
import { audit } from "../../core/audit.ts";
import { codes } from "../../core/errors.ts";
import { addressAt, offsetOf } from "../../core/numbering.ts";
import { isNoop, plan } from "../../core/plan/plan.ts";
import { planRelease } from "../../core/plan/release.ts";
import { contains } from "../../core/range.ts";
import { root } from "../support/console.ts";
import { apply } from "../support/core/apply.ts";
import { claimOf, poolOf, recordOf, shown } from "../support/core/text.ts";
import { objectsIn, policiesOf, rendered } from "../support/schema/render.ts";
import { seedEnactment, seedPolicy, seedPools } from "../support/schema/seed.ts";
import { documentsOf, issuesOf, nicPolicyText, poolText } from "../support/schema/text.ts";

const small = (end: string, exclude: string[] = []) => poolOf("p", `10.0.0.0/24 10.0.0.1 ${end}`, { exclude });
const two = (pool = small("10.0.0.2")) => ({ pools: [pool], claims: ["Node/n1/a", "Node/n2/a"].map(claimOf) });

describe("the proposal's YAML", () => {
  it("E1: an end of five octets is refused, with its place", () => {
    const [, second = ""] = seedPools.split(/^(?=apiVersion)/m);
    expect(issuesOf(second)).toEqual(['9:10 "10.10.10.11.10" has 5 octets; an IPv4 address has 4']);
  });

  it("E2: a cidr with host bits is its network", () => {
    const pool = poolOf("p", "10.10.11.0/16 10.10.11.4 10.10.12.10");
    expect(formatPrefix(pool.prefix)).toBe("10.10.0.0/16");
    expect(issuesOf(poolText("  range: {cidr: 10.10.11.0/16, start: 10.10.0.4, end: 10.11.0.1}"))).toEqual([
      "5:55 10.11.0.1 is not in 10.10.0.0/16",
    ]);
  });

  it("E7: two documents without --- between them are one issue", () => {
    expect(issuesOf(seedPools)).toEqual(["18:1 this key stands here a second time"]);
  });

  it("E8: capture and desiredState at the top of a policy belong under spec", () => {
    const pools = documentsOf(
      poolText("  range: {cidr: 10.10.10.0/24}", "traffic-1"),
      poolText("  range: {cidr: 10.10.11.0/24}", "traffic-2"),
    );
    expect(issuesOf({ "f.yaml": seedPolicy, "pools.yaml": pools })).toEqual([
      "6:5 capture belongs under spec",
      "9:5 desiredState belongs under spec",
    ]);
  });

  it("E9, E11: an enactment is the handler's: of either name and form, it is nobody's record and passes through", async () => {
    for (const text of [
      seedEnactment,
      seedEnactment.replace("/v1", "/v1beta1").replace("static-ip.node01", "node01.static-ip"),
    ]) {
      const made = await rendered({
        manifests: { "a.yaml": text, "p.yaml": documentsOf(poolText(), nicPolicyText("a")) },
        nodes: "node01",
      });
      expect(made["a.yaml"]).toBe(text);
      expect(made["p.yaml"]).toContain("- ip: 10.0.0.1\n");
    }
  });

  it("E10: a key twice is an error in what is ours", () => {
    const captures =
      "  capture:\n    address-from-traffic-1: ippool.p.allocate\n    address-from-traffic-1: ippool.p.allocate";
    const policy = nicPolicyText("a").replace(/ {2}capture:\n.*/, captures);
    expect(issuesOf(documentsOf(poolText(), policy))).toEqual(["13:5 this key stands here a second time"]);
  });

  it("E12: `status: True` is read over, and no status is written", async () => {
    const [first = ""] = seedPools.split(/^(?=apiVersion)/m);
    expect(first).toContain("status: True\n");
    const made = await rendered({ manifests: first, nodes: "node01" });
    expect(objectsIn(made)[0]).not.toHaveProperty("status");
  });

  it("E13: a pool that is not there is named, and the one that was meant", () => {
    const pool = poolText("  range: {cidr: 10.0.0.0/24}", "traffic-1");
    expect(issuesOf(documentsOf(pool, nicPolicyText("a", ["traffic1"])))).toEqual([
      "12:15 capture traffic1 asks for pool traffic1, which is not defined; did you mean traffic-1?",
    ]);
  });
});

describe("the proposal's tables of offsets", () => {
  const table = (range: string, rows: readonly (readonly [number, string])[]) => {
    const pool = poolOf("p", range);
    for (const [offset, text] of rows) {
      expect(offsetOf(pool, address(text)), text).toBe(BigInt(offset));
      expect(formatAddress(addressAt(pool, BigInt(offset)) as never), `${offset}`).toBe(formatAddress(address(text)));
    }
  };

  it("E3: /24, all rows", () => {
    table(
      "10.10.11.0/24 10.10.11.4 10.10.11.10",
      Array.from({ length: 7 }, (_, i) => [i, `10.10.11.${i + 4}`] as const),
    );
  });

  it("E4: /16, all rows: last octets 0 and 255 have no offset", () => {
    const late = [
      [251, 1],
      [252, 2],
      [257, 7],
      [258, 8],
      [259, 9],
      [260, 10],
    ] as const;
    table("10.10.11.0/16 10.10.11.4 10.10.12.10", [
      [0, "10.10.11.4"],
      [1, "10.10.11.5"],
      [250, "10.10.11.254"],
      ...late.map(([offset, octet]) => [offset, `10.10.12.${octet}`] as const),
    ]);
    const pool = poolOf("p", "10.10.11.0/16 10.10.11.4 10.10.12.10");
    for (const text of ["10.10.11.255", "10.10.12.0"]) expect(offsetOf(pool, address(text))).toBeUndefined();
  });

  it("E5: IPv6 is linear: ::1F is 16, ::20 is 17 and ::FF is 240, not 17, 18 and 239", () => {
    const rows = [
      [0, "000F"],
      [1, "0010"],
      [16, "001F"],
      [17, "0020"],
      [240, "00FF"],
    ] as const;
    table(
      "2001:4860:4860::/116 2001:4860:4860::000F 2001:4860:4860::00FF",
      rows.map(([offset, group]) => [offset, `2001:4860:4860::${group}`] as const),
    );
  });

  it("E6: traffic-2 lacks offset 8 while a node has 10.10.11.9: an audit finds such a drift", () => {
    const pool = poolOf("traffic-2", "10.10.11.0/24 10.10.11.1 10.10.11.10", { exclude: ["10.10.11.4", "10.10.11.7"] });
    const held = [0, 1, 2, 4, 5, 7].map((offset) => addressAt(pool, BigInt(offset)));
    expect(held.every((one) => one !== undefined && contains(pool.assignable, one))).toBe(true);
    const lines = held.map((one, i) => `${formatAddress(one as never)} Node/n${i}/a pool=traffic-2`);
    const use = {
      address: address("10.10.11.9"),
      owner: "Node/node01",
      interface: "eth2",
      at: { file: "nnce", line: 1, column: 1 },
    };
    const found = audit({ pools: [pool], snapshot: recordOf(lines, [pool]), uses: [use] });
    expect(found.filter(({ kind }) => kind === "stranger").map(({ message }) => message)).toEqual([
      "10.10.11.9 of pool traffic-2 is used by Node/node01 eth2, but not recorded",
    ]);
  });
});

describe("the proposal's life of a pool", () => {
  const held = ["10.0.0.1 Node/n1/a", "10.0.0.2 Node/n2/a"];
  const replan = (pool: ReturnType<typeof small>) =>
    plan({ ...two(pool), snapshot: recordOf(held, [small("10.0.0.2")]) });

  it("E14: end may grow and exclude may change, as long as nothing allocated is lost", () => {
    expect(isNoop(replan(small("10.0.0.9")))).toBe(true);
    expect(isNoop(replan(small("10.0.0.9", ["10.0.0.3"])))).toBe(true);
    expect(replan(small("10.0.0.9", ["10.0.0.1"])).pending.map(({ code }) => code)).toEqual(["in-use"]);
    expect(replan(small("10.0.0.1")).pending.map(({ code }) => code)).toEqual(["in-use"]);
    expect(() => replan(poolOf("p", "10.0.0.0/25 10.0.0.1 10.0.0.2"))).toThrow(
      "its allocations were made in 10.0.0.0/24",
    );
  });

  it("E18: exhaustion fails before a policy is made or a line is written, and names the pool", async () => {
    const made = plan({ ...two(small("10.0.0.1")), snapshot: recordOf([], []) });
    expect(shown(made)).toEqual(["assign 10.0.0.1 Node/n1/a", "exhausted Node/n2/a"]);
    expect(made.pending[0]?.message).toBe("pool p is exhausted: 2 needed, 1 free");
    const manifests = documentsOf(poolText("  range: {cidr: 10.0.0.0/24, end: 10.0.0.1}"), nicPolicyText("a"));
    await expect(policiesOf({ manifests, nodes: "n1\nn2" })).rejects.toMatchObject({ code: "stale" });
  });

  it("E19: an address that no claim has is releasing first, and free only on somebody's word", () => {
    const before = recordOf(held, [small("10.0.0.2")]);
    const gone = plan({ pools: [small("10.0.0.2")], claims: [claimOf("Node/n1/a")], snapshot: before });
    expect(shown(gone)).toEqual(["keep 10.0.0.1 Node/n1/a", "releasing 10.0.0.2 Node/n2/a"]);
    const leaving = apply(gone, before);
    const claims = [claimOf("Node/n1/a"), claimOf("Node/n3/a")];
    expect(shown(plan({ pools: [small("10.0.0.2")], claims, snapshot: leaving }))).toContain("exhausted Node/n3/a");
    const free = apply(planRelease(leaving, leaving.releasing), leaving);
    expect(shown(plan({ pools: [small("10.0.0.2")], claims, snapshot: free }))).toContain("assign 10.0.0.2 Node/n3/a");
  });

  it("E20: a pool made again finds its addresses on record, whatever its range is now", () => {
    expect(isNoop(replan(poolOf("p", "10.0.0.0/24 10.0.0.1 10.0.0.200", { gateway: "10.0.0.254" })))).toBe(true);
  });

  it("E21: network and broadcast address are never handed out", () => {
    const pool = poolOf("p", "10.0.0.0/24");
    for (const text of ["10.0.0.0", "10.0.0.255"]) expect(contains(pool.assignable, address(text)), text).toBe(false);
    expect(formatAddress(pool.start)).toBe("10.0.0.1");
  });

  it("E22: a gateway, several ranges and an address for one node", () => {
    const pool = poolOf("p", "10.0.0.0/24 10.0.0.1 10.0.0.2", {
      gateway: "10.0.0.1",
      additionalRanges: [{ start: "10.0.0.50", end: "10.0.0.51" }],
      reservations: [{ address: "10.0.0.51", owner: "Node/n1" }],
    });
    const made = plan({
      pools: [pool],
      claims: ["Node/n1/a", "Node/n2/a", "Node/n3/a"].map(claimOf),
      snapshot: recordOf([], []),
    });
    expect(shown(made)).toEqual([
      "assign 10.0.0.2 Node/n2/a",
      "assign 10.0.0.50 Node/n3/a",
      "assign 10.0.0.51 Node/n1/a",
    ]);
  });
});

describe("the proposal's conditions", () => {
  const reasons = new Set(Object.values(codes).map(({ reason }) => reason));
  const { properties } = parse(readFileSync(join(root, "deploy/crd/nodeippools.nmstate.io.yaml"), "utf8")).spec
    .versions[0].schema.openAPIV3Schema;

  it.each(["ReconcilingPool", "ExhaustedIPPool", "OverlappingIPPool", "IPCollision"] as const)(
    "%s is the reason of a code",
    (reason) => {
      expect(reasons).toContain(reason);
    },
  );

  it("E16: UnsyncronizedIPPool is spelt UnsynchronizedIPPool", () => {
    expect(reasons).toContain("UnsynchronizedIPPool");
    expect(reasons).not.toContain("UnsyncronizedIPPool");
  });

  it("E17: ReconciledPool, which the proposal's table forgets, is a reason that the CRD names, with all the others", () => {
    const described = properties.status.properties.conditions.items.properties.reason.description;
    for (const reason of [
      "ReconciledPool",
      ...[...reasons].filter((one) => one.endsWith("Pool") || one === "IPCollision"),
    ])
      expect(described).toContain(reason);
  });

  it("E15: the spec is camelCase, and status keeps the proposal's allocated-offsets", () => {
    expect(Object.keys(properties.status.properties)).toContain("allocated-offsets");
    for (const field of Object.keys(properties.spec.properties)) expect(field).toMatch(/^[a-z][A-Za-z0-9]*$/);
  });
});
