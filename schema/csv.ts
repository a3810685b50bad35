import { type Issue, type Place, parseAddress, parsePrefix } from "../core/index.ts";
import { type Findings, useOf } from "./findings.ts";
import { listedOwner } from "./listed-owner.ts";
import type { SourceFile } from "./yaml.ts";

const columns = ["node", "interface", "address"] as const;
type Row = { readonly [column in (typeof columns)[number]]: Cell };

/** What lists of VMs call them. */
const alsoCalled: ReadonlyMap<string, string> = new Map([
  ["vm", "node"],
  ["network", "interface"],
]);

interface Cell {
  readonly text: string;
  readonly at: Place;
}

/**
 * Returns whether a text is CSV: by its name, or by its first line with content, which in YAML and JSON has a dash, a colon, a bracket or
 * a comment before any comma.
 */
export function isCsv({ path, text }: SourceFile): boolean {
  const first = /^(?![^\S\n]*(?:#|$)).+$/m.exec(text)?.[0] ?? "";
  return /\.csv$/i.test(path) || /^(?!-)[^:{[#]*,/.test(first);
}

/** Adds what lines of `node,interface,address` say, or `vm,network,address`; a first line may name the columns in another order. */
export function readCsv({ path, label = path, text }: SourceFile, found: Findings): void {
  const rows = text.split("\n").flatMap((raw, i) => {
    const line = raw.replace(/(?:^|\s)#.*$/s, "");
    const at = { file: label, line: i + 1, column: 1 };
    return line.trim() === "" ? [] : [{ line, at, cells: cellsOf(line, at) }];
  });
  const [first] = rows;
  if (first === undefined) return;
  const given = first.cells.map((cell) => cell.text.toLowerCase());
  const names = given.map((name) => alsoCalled.get(name) ?? name);
  const isHeader = names.every((name) => /^(?:[a-z _-]|ipv[46])+$/.test(name));
  if (isHeader && !isSameSet(names)) {
    const message = `the columns are ${columns.join(",")} or vm,network,address, not ${given.join(",")}`;
    found.issues.push({ message, at: first.at, hint: "Name these three, in any order, or leave the header out." });
    return;
  }
  const order = isHeader ? names : columns;
  const listed = isHeader && given.includes("vm") ? "VM" : "node";
  for (const { line, at, cells } of isHeader ? rows.slice(1) : rows) {
    found.speaks = true;
    if (cells.length !== columns.length || line.replace(/"[^",]*"/g, "").includes('"')) {
      const message = `a line is ${columns.join(",")}, without commas or quotes inside; this one has ${cells.length} part${cells.length === 1 ? "" : "s"}`;
      found.issues.push({ message, at, hint: "Write three parts on a line, for example: node01,eth1,10.0.0.1" });
    } else readRow(Object.fromEntries(order.map((column, j) => [column, cells[j]])) as unknown as Row, listed, found);
  }
}

function isSameSet(texts: readonly string[]): boolean {
  return texts.length === columns.length && columns.every((column) => texts.includes(column));
}

function cellsOf(line: string, start: Place): Cell[] {
  let column = 1;
  return line.split(",").map((raw) => {
    const text = raw.trim().replace(/^"([^"]*)"$/, "$1");
    const cell = { text, at: { ...start, column: column + raw.length - raw.trimStart().length } };
    column += raw.length + 1;
    return cell;
  });
}

function readRow({ node, interface: nic, address: cell }: Row, listed: "node" | "VM", found: Findings): void {
  const { value: owner, issues: unnamed = [] } = listedOwner(node.text);
  found.issues.push(...unnamed.map((one) => ({ ...one, at: node.at })));
  if (nic.text === "") found.issues.push(withoutNic(nic.at, listed === "VM" ? "network" : "interface"));
  const slash = cell.text.indexOf("/");
  const address = parseAddress(slash < 0 ? cell.text : cell.text.slice(0, slash));
  const prefix = slash < 0 ? undefined : parsePrefix(cell.text);
  const [issue] = [...(address.issues ?? []), ...(prefix?.issues ?? [])];
  if (issue !== undefined) found.issues.push({ ...issue, at: cell.at, hint: `The columns are ${columns.join(",")}.` });
  if (address.value === undefined || owner === undefined) return;
  const length = prefix?.value === undefined ? {} : { prefixLength: prefix.value.length };
  found.uses.push({ ...useOf(address.value, owner, nic.text, cell.at), ...length, listed });
}

function withoutNic(at: Place, what: string): Issue {
  return { message: `this line names no ${what}`, at, hint: `Write the ${what} that has the address.` };
}
