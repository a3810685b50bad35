import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseAllDocuments, stringify } from "yaml";
import {
  type Address,
  type Claim,
  emptySnapshot,
  type FreeSpace,
  freeSpaceOf,
  type Pool,
  parsePool,
  plan,
  unwrap,
} from "../core/index.ts";
import { main, node } from "./built.ts";
import { poolOf, random } from "./data.ts";
import { type Effort, effort, figures, inTurn, once, perOperation, type Result, ratio } from "./measure.ts";
import { sliceDefinition } from "./slice-objects.ts";

/** Blocks beside single addresses, and node slices as people plan them. */
export function run(short: boolean): Result[] {
  return [
    { ...planned("/22", 5_000, effort(short, 25)), goal: 50 },
    ...(short ? [] : [planned("/24", 65_536, effort(short, 5))]),
    churn(effort(short, 7)),
    ...slices(short),
  ];
}

/** As many blocks of a /8 for new claims, and as many addresses. */
function planned(length: string, count: number, spent: Effort): Result {
  const [blocks, addresses] = [blockPool("10.0.0.0/8", length), poolOf("pool", "10.0.0.0/8")];
  const claims = Array.from({ length: count }, (_, i): Claim => {
    return { owner: { kind: "Node", name: `node${String(i).padStart(7, "0")}` }, name: "pool", pool: "pool" };
  });
  const planOf = (pool: Pool) => plan({ pools: [pool], claims, snapshot: emptySnapshot });
  if (planOf(blocks).assign.length !== count) throw new Error("not every claim has its block");
  const taken = inTurn(spent, { ours: once(() => planOf(blocks)), addresses: once(() => planOf(addresses)) });
  return {
    name: `plan ${count.toLocaleString("en")} blocks of ${length} in an empty /8`,
    ...{ ...figures(taken.ours), unit: "ms" },
    ratios: [ratio("as many addresses", taken.ours, taken.addresses)],
  };
}

function blockPool(cidr: string, length: string): Pool {
  return unwrap(parsePool("pool", { range: { cidr }, blockLength: Number(length.slice(1)) }));
}

/** 65,000 of 65,536 blocks of a /8 are taken: one is released, and the lowest free one taken; beside as many addresses of a /16. */
function churn(spent: Effort): Result {
  const samples = [blockPool("10.0.0.0/8", "/24"), poolOf("pool", "10.0.0.0/15")].map((pool) => {
    const space = freeSpaceOf(pool, pool.automatic);
    const held = Array.from({ length: 65_000 }, () => space.takeLowest() as Address);
    const pick = random(1);
    const released = Array.from({ length: 4096 }, () => held[pick(held.length)] as Address);
    return perOperation((count) => loop(space, released, count));
  });
  const [ours, addresses] = samples as [(typeof samples)[number], (typeof samples)[number]];
  const taken = inTurn(spent, { ours, addresses });
  return {
    name: "release + allocate a block, 65,000 held",
    ...{ ...figures(taken.ours), unit: "ns" },
    ratios: [ratio("an address (goal: 1.5 x)", taken.ours, taken.addresses)],
  };
}

function loop(space: FreeSpace, released: readonly Address[], count: number): unknown {
  let last: Address | undefined;
  for (let i = 0; i < count; i++) {
    space.release(released[i % released.length] as Address);
    last = space.takeLowest();
  }
  return last;
}

/** The built program on definitions of ten networks: an empty lock and an empty folder every time. */
function slices(short: boolean): Result[] {
  const folder = mkdtempSync(join(tmpdir(), "nodeippool-bench-"));
  try {
    return planTime(folder, short ? 500 : 5_000, { rounds: short ? 1 : 5, warmUp: 0 });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function planTime(folder: string, count: number, spent: Effort): Result[] {
  const [manifests, nodes, lock, out] = ["manifests", "nodes.txt", "lock", "out"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
    string,
  ];
  mkdirSync(manifests);
  const names = Array.from({ length: count }, (_, i) => `node${String(i).padStart(4, "0")}.example.org`);
  writeFileSync(nodes, names.join("\n"));
  for (let i = 0; i < 10; i++) writeFileSync(join(manifests, `net-${i}.yaml`), stringify(sliceDefinition(i)));
  const verb = (name: string, more: readonly string[] = []) =>
    node([main, name, manifests, "--nodes", nodes, "--lock", lock, ...more]);
  const taken = inTurn(spent, {
    bare: once(() => node(["-e", "0"])),
    allocate: once(() => {
      rmSync(lock, { force: true });
      verb("allocate");
    }),
    render: once(() => {
      rmSync(out, { recursive: true, force: true });
      verb("render", ["--out", out]);
    }),
  });
  const sizes = Array.from({ length: 10 }, (_, i) => jsonSize(join(out, `net-${i}.yaml`)));
  const start = "node -e 0";
  const [size, goal] = [Math.max(...sizes), 300_000];
  return [
    {
      name: `${count.toLocaleString("en")} nodes x 10 networks, /22 of a /8: allocate`,
      ...figures(taken.allocate),
      unit: "ms",
      ratios: [ratio(start, taken.allocate, taken.bare)],
    },
    {
      name: "the same: render, which reads, plans and writes",
      ...figures(taken.render),
      unit: "ms",
      ratios: [ratio(start, taken.render, taken.bare)],
    },
    { name: "the same: the largest NodeSlicePool, as JSON", figure: size, best: size, unit: "bytes", goal },
  ];
}

/** Of the NodeSlicePool in a file, beside its definition, as an API server keeps it. */
function jsonSize(path: string): number {
  const all = parseAllDocuments(readFileSync(path, "utf8")).map((document) => document.toJS());
  return JSON.stringify(all.find(({ kind }) => kind === "NodeSlicePool")).length;
}
