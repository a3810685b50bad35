import {
  codes,
  type Difference,
  describeLine,
  describeRewrite,
  describeSubnet,
  diffRecords,
  emptySnapshot,
  formatBlock,
  lineJson,
  movedPools,
  nameOfKey,
  ownerName,
  ownerOfKey,
} from "../core/index.ts";
import { lockAt } from "../state/git-versions.ts";
import { readMarked } from "../state/lockfile.ts";
import { openLock, type StateOptions } from "./state.ts";
import { paint, plural, print, printJson } from "./terminal.ts";

interface Options extends StateOptions {
  readonly markdown?: boolean;
  readonly exitCode?: boolean;
  readonly json?: boolean;
}

export async function diffVerb(revision: string, options: Options): Promise<void> {
  const before = lockAt(options.lock, revision) ?? emptySnapshot;
  const { mark } = readMarked(options.lock);
  const fail = () => {
    if (options.exitCode) process.exitCode = codes.stale.exit;
  };
  if (mark?.state === "left" && options.json !== true) {
    fail();
    return print(`The record has moved to ${mark.other}: nodeippool plan and show tell how it is there.`);
  }
  const now = await openLock(options).read();
  const differences = diffRecords(before, now);
  const pools = movedPools(before, now);
  if (differences.length + pools.length > 0) fail();
  if (options.json) return printJson(differences.map(differenceJson));
  const subnets = pools.map(
    (pool) => `pool ${pool.now.name} is ${describeSubnet(pool.now)}, was ${describeSubnet(pool.was)}`,
  );
  if (options.markdown) return print(...markdown(differences, subnets, revision));
  print(
    ...subnets.map((text) => paint(colours.changed, `  ${marks.changed} ${text}`)),
    ...differences.map((one) => textLine(one, revision)),
    `${plural(subnets.length + differences.length, "line")} changed since ${revision}.`,
  );
}

const marks = { added: "+", removed: "-", changed: "~" } as const;
const colours = { added: "green", removed: "red", changed: "yellow" } as const;

function textLine(difference: Difference, revision: string): string {
  return paint(
    colours[difference.kind],
    `  ${marks[difference.kind]} ${describeLine(difference.line)}  ${what(difference, revision)}`.trimEnd(),
  );
}

/** What happened to a line, beyond its mark. */
function what({ kind, line, was = line, releasing, wasReleasing }: Difference, revision: string): string {
  if (kind === "added") return releasing ? "releasing" : "";
  if (kind === "removed") return wasReleasing ? "freed" : `removed; was not releasing in ${revision}`;
  if (was.claim === line.claim && releasing !== wasReleasing) return releasing ? "releasing" : "no longer releasing";
  const isHandedOver = ownerOfKey(was.claim) !== ownerOfKey(line.claim) && !wasReleasing;
  return `${describeRewrite(was, line)}${isHandedOver ? `; renamed, or given away (was not releasing in ${revision})` : ""}`;
}

function markdown(differences: readonly Difference[], subnets: readonly string[], revision: string): string[] {
  const cell = (text: string) => text.replace(/[\\|`*_<>[\]!~@&#]/g, (letter) => `&#${letter.charCodeAt(0)};`);
  const rows = differences.map((difference) => {
    const { pool, claim } = difference.line;
    const cells = [
      marks[difference.kind],
      formatBlock(difference.line),
      pool,
      ownerName(claim),
      nameOfKey(claim),
      what(difference, revision),
    ];
    return `| ${cells.map(cell).join(" | ")} |`;
  });
  const counts = (["added", "changed", "removed"] as const).map(
    (kind) => `${differences.filter((d) => d.kind === kind).length} ${kind}`,
  );
  const table = ["", "| | address | pool | owner | claim | |", "|---|---|---|---|---|---|", ...rows];
  return [
    `**Addresses since ${cell(revision)}:** ${counts.join(", ")}`,
    ...subnets.flatMap((text) => ["", `Another subnet: ${cell(text)}`]),
    ...(rows.length > 0 ? table : []),
  ];
}

function differenceJson({ kind, line, was, releasing, wasReleasing }: Difference) {
  return {
    kind,
    ...lineJson(line),
    releasing,
    ...(was === undefined ? {} : { was: { ...lineJson(was), releasing: wasReleasing } }),
  };
}
