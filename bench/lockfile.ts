import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Claim, formatAddress, plan } from "../core/index.ts";
import { decode, encode, lockfile } from "../state/index.ts";
import { replaceFile } from "../state/replace-file.ts";
import { claimsOn, linesOf, poolOf, snapshotOf } from "./data.ts";
import { type Effort, effort, figures, inTurn, once, type Result, ratio, time } from "./measure.ts";

/** A lockfile of 100,000 lines, read and written; of 20,000 where time is short, without goals. */
export function run(short: boolean): Result[] {
  const folder = mkdtempSync(join(tmpdir(), "nodeippool-bench-"));
  try {
    return measured(short ? 20_000 : 100_000, effort(short, 7), folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Nodes with two interfaces each. */
function recordOf(size: number, ...cidrs: readonly string[]) {
  const pools = cidrs.map((cidr, i) => poolOf(`traffic-${i + 1}`, cidr));
  const claims = pools.map((pool) => claimsOn(pool.name, size / cidrs.length));
  const lines = pools.flatMap((pool, i) => linesOf(pool, claims[i] as Claim[]));
  return { pools, claims: claims.flat(), lines, snapshot: snapshotOf(pools, lines) };
}

function measured(size: number, spent: Effort, folder: string): Result[] {
  const { pools, claims, lines, snapshot } = recordOf(size, "10.0.0.0/15", "10.2.0.0/15");
  const text = encode(snapshot);
  const text6 = encode(recordOf(size, "2001:db8:0:1::/64", "2001:db8:0:2::/64").snapshot);
  const rows = lines.map((line) => ({ ...line, address: formatAddress(line.address) }));
  const json = JSON.stringify(rows);
  const path = join(folder, "nodeippool.lock");
  writeFileSync(path, text);
  const one = plan({ pools, claims: [...claims, ...claimsOn("traffic-1", 1, size)], snapshot: decode(text, path) });

  const taken = inTurn(spent, {
    read: once(() => decode(text, path)),
    parse: once(() => JSON.parse(json)),
    read6: once(() => decode(text6, path)),
    encode: once(() => encode(snapshot)),
    stringify: once(() => JSON.stringify(rows)),
    write: once(() => {
      if (!replaceFile(path, text, encode(snapshot))) throw new Error("somebody else wrote the file");
    }),
    plainWrite: once(() => writeFileSync(join(folder, "plain.json"), JSON.stringify(rows))),
    // Written anew each time: a plan that the file holds already is not committed.
    commit: () => {
      writeFileSync(path, text);
      const ms = time(() => lockfile(path).commitAll([one]));
      writeFileSync(path, text);
      return ms;
    },
  });
  const lineCount = `${size.toLocaleString("en")} lines`;
  const goal = size === 100_000 ? { goal: 500 } : {};
  return [
    {
      name: `read and verify a lockfile of ${lineCount}`,
      ...figures(taken.read),
      unit: "ms",
      ...goal,
      ratios: [ratio("JSON.parse", taken.read, taken.parse)],
    },
    {
      name: "the same with IPv6 addresses",
      ...figures(taken.read6),
      unit: "ms",
      ...goal,
      ratios: [ratio("IPv4", taken.read6, taken.read)],
    },
    {
      name: `encode ${lineCount}`,
      ...figures(taken.encode),
      unit: "ms",
      ratios: [ratio("JSON.stringify", taken.encode, taken.stringify)],
    },
    {
      name: `encode ${lineCount} and replace the file durably`,
      ...figures(taken.write),
      unit: "ms",
      ...goal,
      ratios: [ratio("JSON.stringify + writeFileSync", taken.write, taken.plainWrite)],
    },
    {
      name: `commit one new claim to ${lineCount}`,
      ...figures(taken.commit),
      unit: "ms",
      ratios: [ratio("reading them", taken.commit, taken.read)],
    },
  ];
}
