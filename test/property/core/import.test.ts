import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatAddress } from "../../../core/address.ts";
import { claimKey, ownerOfKey } from "../../../core/claim.ts";
import { planImport } from "../../../core/plan/import.ts";
import { isNoop, plan } from "../../../core/plan/plan.ts";
import { contains } from "../../../core/range.ts";
import { apply } from "../../support/core/apply.ts";
import { shuffled } from "../../support/core/arbitrary.ts";
import { inputOf, pool, refusalOf } from "../../support/core/import.ts";
import { bytesOf } from "../../support/core/text.ts";

describe("whatever nodes have", () => {
  const nodes = ["n", "m", "r"];
  const nic = fc.constantFrom("eth1", "eth2");
  const claimArb = fc
    .tuple(fc.constantFrom(...nodes), fc.constantFrom("a", "b"), fc.option(nic))
    .map(([node, name, on]) => `Node/${node}/${name}${on === null ? "" : ` if=${on}`}`);
  const claimsArb = fc.uniqueArray(claimArb, { selector: (text) => text.split(" ")[0], maxLength: 6 });
  const usesArb = fc
    .uniqueArray(fc.tuple(fc.nat({ max: 11 }), fc.constantFrom(...nodes), nic), { selector: ([n]) => n, maxLength: 6 })
    .map((rows) => rows.map(([n, node, on]) => `.${n + 1} Node/${node} ${on}`));
  const casesArb = fc.record({ before: claimsArb, claims: claimsArb, earlier: usesArb, uses: usesArb, seed: fc.nat() });

  /** A record with some history, and an import into it, if it is not refused. */
  function importOf({
    before,
    claims,
    earlier,
    uses,
  }: { [key in "before" | "claims" | "earlier" | "uses"]: string[] }) {
    const first = inputOf(before, [], earlier);
    const imported = refusalOf(first) === undefined ? apply(planImport(first), first.snapshot) : first.snapshot;
    const snapshot = apply(plan({ ...first, snapshot: imported }), imported);
    const input = { ...inputOf(claims, [], uses), snapshot };
    return refusalOf(input) === undefined ? { input, made: planImport(input) } : undefined;
  }

  it("an import moves nobody, takes nothing away, and leaves nothing out", () => {
    fc.assert(
      fc.property(casesArb, (one) => {
        const imported = importOf(one);
        fc.pre(imported !== undefined);
        const { input, made } = imported;
        const after = apply(made, input.snapshot);
        const held = [...after.allocations, ...after.releasing].map((l) => `${l.address} ${ownerOfKey(l.claim)}`);
        for (const line of [...input.snapshot.allocations, ...input.snapshot.releasing])
          expect(held).toContain(`${line.address} ${ownerOfKey(line.claim)}`);
        for (const use of input.uses)
          if (contains(pool.assignable, use.address)) expect(held).toContain(`${use.address} ${use.owner}`);
      }),
    );
  });

  it("a second import changes nothing", () => {
    fc.assert(
      fc.property(casesArb, (one) => {
        const imported = importOf(one);
        fc.pre(imported !== undefined);
        const { input, made } = imported;
        expect(isNoop(planImport({ ...input, snapshot: apply(made, input.snapshot) }))).toBe(true);
      }),
    );
  });

  it("a plan after an import gives no claim another address than its NIC has", () => {
    fc.assert(
      fc.property(casesArb, (one) => {
        const imported = importOf(one);
        fc.pre(imported !== undefined);
        const { input, made } = imported;
        const planned = plan({ ...input, snapshot: apply(made, input.snapshot) });
        const kept = planned.keep.map(({ allocation }) => `${allocation.address} ${allocation.claim}`);
        const keys = input.claims.map(({ owner, name }) => claimKey(owner, name));
        for (const line of [...made.assign, ...made.keep.map(({ allocation }) => allocation)])
          if (keys.includes(line.claim)) expect(kept).toContain(`${line.address} ${line.claim}`);
        for (const line of planned.assign) {
          const has = input.uses.map(
            ({ address: used, owner, interface: on }) => `${formatAddress(used)} ${owner} ${on}`,
          );
          expect(has).not.toContain(`${formatAddress(line.address)} ${ownerOfKey(line.claim)} ${line.interface}`);
        }
      }),
    );
  });

  it("claims that come after an import share no address", () => {
    fc.assert(
      fc.property(casesArb, fc.uniqueArray(claimArb, { selector: (text) => text.split(" ")[0] }), (one, claims) => {
        const imported = importOf({ ...one, claims: [] });
        fc.pre(imported !== undefined);
        const now = apply(imported.made, imported.input.snapshot);
        const after = apply(plan({ ...inputOf(claims, [], []), snapshot: now }), now);
        const held = [...after.allocations, ...after.releasing].map((line) => line.address);
        expect(held.filter((at, i) => held.indexOf(at) < i)).toEqual([]);
      }),
    );
  });

  it("the order of what is given makes no difference", () => {
    fc.assert(
      fc.property(casesArb, (one) => {
        const imported = importOf(one);
        fc.pre(imported !== undefined);
        const { input, made } = imported;
        const [claims, uses] = [shuffled(input.claims, one.seed), shuffled(input.uses, one.seed)];
        expect(bytesOf(planImport({ ...input, claims, uses }))).toBe(bytesOf(made));
      }),
    );
  });
});
