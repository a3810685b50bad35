import { expect, it } from "vitest";
import { Observations } from "../../../controller/allocate/observations.ts";
import { occupied } from "../../../controller/allocate/occupied.ts";
import { LinesByOwner } from "../../../controller/record/lines-by-owner.ts";
import { parseAddress, type Use, unwrap } from "../../../core/index.ts";
import { poolOf, recordOf } from "../../support/core/text.ts";
import { seeded } from "../../support/seeded.ts";

const random = seeded(1);
const oneOf = <T>(all: readonly T[]) => all[Math.floor(random() * all.length)] as T;
const owners = ["Node/a", "Node/b", "Node/c"];
const addresses = [1, 2, 3, 4].map((last) => `10.0.0.${last}`);
const [p, q] = [poolOf("p", "10.0.0.0/29"), poolOf("q", "10.0.0.0/28 10.0.0.1 10.0.0.2")];

function anyUses(): Use[] {
  const shown = addresses.filter(() => random() < 0.3);
  return shown.map((ip) => ({
    address: unwrap(parseAddress(ip)),
    owner: oneOf(owners),
    ...(random() < 0.3 ? { pool: oneOf(["p", "q", "other"]) } : {}),
    ...(random() < 0.2 ? { isTemporary: true } : {}),
    at: { file: "report", line: 1, column: 1 },
  }));
}

function anyRecord() {
  const lines = addresses.flatMap((ip) =>
    random() < 0.4 ? [] : `${ip} ${oneOf(owners)}/x pool=${oneOf(["p", "q"])}${oneOf(["", " releasing"])}`,
  );
  return recordOf(lines, []);
}

/** Of two that collide either may be named first. */
const sorted = ({ taken, own, outside, collisions }: ReturnType<typeof occupied>) => ({
  taken: [...taken].map(([pool, all]) => [pool, all.map(({ address }) => address).sort()]).sort(),
  own: [...own].sort(),
  outside: [...outside].map(([pool, all]) => [pool, all.map(({ address }) => address).sort()]).sort(),
  collisions: [...collisions].map(([pool, all]) => [pool, all.length]).sort(),
});

it("is the same as all that is shown, whatever comes and goes: reports, lines of the record, pools", () => {
  const shown = new Observations(() => false);
  const lines = new LinesByOwner();
  const reports = new Map<string, Use[]>();
  let pools = [p];
  let some = 0;
  for (let i = 0; i < 2_000; i++) {
    const report = oneOf(["r", "s", "t", "u"]);
    const uses = random() < 0.5 ? (reports.get(report) ?? []) : anyUses();
    reports.set(report, uses);
    if (random() < 0.3) shown.set(report, []);
    shown.set(report, uses);
    if (random() < 0.4) lines.follow(anyRecord());
    if (random() < 0.2) pools = oneOf([[p], [q], [p, q], []]);
    const found = sorted(shown.occupied(pools, lines));
    const all = [...reports].sort(([a], [b]) => (a < b ? -1 : 1)).flatMap(([, list]) => list);
    expect(found).toEqual(sorted(occupied(pools, all, lines)));
    some += found.taken.length;
  }
  expect(some).toBeGreaterThan(500);
});
