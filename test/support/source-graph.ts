import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import ts from "typescript";
import { root } from "./console.ts";

/** A source file: its path below the root, and its text as a tree. */
export interface Source {
  readonly path: string;
  readonly tree: ts.SourceFile;
}

export function sourceOf(path: string, text: string): Source {
  return { path, tree: ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true) };
}

/** The rooms and files at the top that the build takes. */
export function rooms(): string[] {
  return JSON.parse(readFileSync(join(root, "tsconfig.build.json"), "utf8")).include;
}

/** Every source that is built, but what is generated. */
export function sources(): Source[] {
  return rooms()
    .flatMap((room) =>
      room.endsWith(".ts")
        ? room
        : readdirSync(join(root, room), { recursive: true, encoding: "utf8" }).map((path) => posix.join(room, path)),
    )
    .filter((path) => path.endsWith(".ts") && !path.includes("generated"))
    .sort()
    .map((path) => sourceOf(path, readFileSync(join(root, path), "utf8")));
}

const found = new WeakMap<ts.SourceFile, readonly ts.Node[]>();

/** All that a tree is made of, in the order of the text. */
function nodesOf(tree: ts.SourceFile): readonly ts.Node[] {
  const known = found.get(tree);
  if (known !== undefined) return known;
  const nodes: ts.Node[] = [];
  const visit = (node: ts.Node) => {
    nodes.push(node);
    ts.forEachChild(node, visit);
  };
  visit(tree);
  found.set(tree, nodes);
  return nodes;
}

/** What a file imports, statically or not: paths below the root, or names of packages. */
export function importsOf({ path, tree }: Source): string[] {
  return nodesOf(tree).flatMap((node) => {
    const isDynamic = ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword;
    const specifier = isDynamic
      ? node.arguments[0]
      : ts.isImportDeclaration(node) || ts.isExportDeclaration(node)
        ? node.moduleSpecifier
        : undefined;
    if (specifier === undefined) return [];
    const text = ts.isStringLiteral(specifier) ? specifier.text : specifier.getText();
    return text.startsWith(".") ? posix.join(posix.dirname(path), text) : text;
  });
}

/** The room that a file belongs to; the folder of each integration and each folder of the controller is one, and so is a file at the top. */
export function layerOf(path: string): string {
  return /^(?:integrations|controller)\/[^/]+(?=\/)|^[^/]+/.exec(path)?.[0] as string;
}

/** For each layer the layers, packages and built-in modules that it may import. */
export type Rules = Readonly<Record<string, readonly string[]>>;

/** Every import that breaks the rules, as `file -> import`. A layer without a rule may not import anything. */
export function violations(files: readonly Source[], rules: Rules): string[] {
  return files.flatMap((file) => {
    const layer = layerOf(file.path);
    const allowed = rules[layer] ?? [];
    return importsOf(file)
      .filter((name) => !(name.endsWith(".ts") && layerOf(name) === layer))
      .filter(
        (name) =>
          !allowed.includes(name.endsWith(".ts") ? layerOf(name) : name) &&
          !(name.startsWith("node:") && allowed.includes("node:*")),
      )
      .map((name) => `${file.path} -> ${name}`);
  });
}

/** Files that import each other, be it for types alone, as `file -> file -> file`; one for each import that closes a circle. */
export function circles(files: readonly Source[]): string[] {
  const imports = new Map(files.map((file) => [file.path, importsOf(file)]));
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]): string[] => {
    if (trail.includes(path)) return [[...trail.slice(trail.indexOf(path)), path].join(" -> ")];
    if (done.has(path)) return [];
    const found = (imports.get(path) ?? []).flatMap((next) => visit(next, [...trail, path]));
    done.add(path);
    return found;
  };
  return [...imports.keys()].flatMap((path) => visit(path, []));
}

const impureNames = new Set(
  "process console fetch performance crypto globalThis global require setTimeout setInterval setImmediate queueMicrotask Promise Date Intl navigator eval Function".split(
    " ",
  ),
);
const impureMembers = new Set([
  "Math.random",
  "Math.sin",
  "localeCompare",
  "toLocaleString",
  "toLocaleLowerCase",
  "toLocaleUpperCase",
]);

/** Everything in a file that is not a function of its arguments alone, as `file:line what`. */
export function impurities({ path, tree }: Source): string[] {
  return nodesOf(tree).flatMap((node) => {
    const what = impurity(node);
    if (what === undefined) return [];
    return `${path}:${tree.getLineAndCharacterOfPosition(node.getStart()).line + 1} ${what}`;
  });
}

function impurity(node: ts.Node): string | undefined {
  if (node.kind === ts.SyntaxKind.AsyncKeyword || node.kind === ts.SyntaxKind.AwaitKeyword) return node.getText();
  if (ts.isAwaitExpression(node)) return "await";
  if (ts.isPropertyAccessExpression(node)) {
    const text = node.getText();
    return impureMembers.has(text) || impureMembers.has(node.name.text) ? text : undefined;
  }
  if (!ts.isIdentifier(node) || !impureNames.has(node.text)) return undefined;
  const { parent } = node;
  const isField =
    (ts.isPropertyAccessExpression(parent) || ts.isPropertyAssignment(parent) || ts.isPropertySignature(parent)) &&
    parent.name === node;
  return isField ? undefined : node.text;
}

/** Every function of more lines than this, as `file name: lines`. */
export function longFunctions({ path, tree }: Source, limit: number): string[] {
  return nodesOf(tree).flatMap((node) => {
    if (!ts.isFunctionLike(node) || !("body" in node) || node.body === undefined) return [];
    const line = (position: number) => tree.getLineAndCharacterOfPosition(position).line;
    const lines = line(node.getEnd()) - line(node.getStart()) + 1;
    return lines > limit ? [`${path} ${node.name?.getText() ?? "(function)"}: ${lines}`] : [];
  });
}

/** The texts of a file that name a verb or a flag of the command line, as `file:line text`. */
export function commandsNamed({ path, tree }: Source): string[] {
  return nodesOf(tree).flatMap((node) => {
    const isText = ts.isStringLiteralLike(node) || ts.isTemplateExpression(node);
    // kubectl is everybody's: what repairs a cluster is its commands.
    const text = isText && !/^.kubectl /.test(node.getText()) ? node.getText() : "";
    if (
      !/\S ?[ (]--[a-z]|\bnodeippool (?:plan|allocate|render|release|mv|audit|explain|show|diff|import|merge)\b/.test(
        text,
      )
    )
      return [];
    return [`${path}:${tree.getLineAndCharacterOfPosition(node.getStart()).line + 1} ${text}`];
  });
}

/** The names that a file itself declares and exports. */
export function exportsOf({ tree }: Source): string[] {
  return tree.statements.flatMap((statement) => {
    const isExported =
      ts.canHaveModifiers(statement) &&
      ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
    if (!isExported) return [];
    if (ts.isVariableStatement(statement))
      return statement.declarationList.declarations.map(({ name }) => name.getText());
    return "name" in statement ? [(statement.name as ts.Node).getText()] : [];
  });
}
