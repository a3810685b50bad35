import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import ts from "typescript";
import { root } from "../console.ts";

/** The sources behind the subpaths of package.json. */
export function entries(): readonly string[] {
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return Object.values<string | { types: string }>(exports).flatMap((target) =>
    typeof target === "string" ? [] : join(root, target.types.replace("dist/", "").replace(".d.ts", ".ts")),
  );
}

/** All that they export. */
export class Surface {
  private readonly program: ts.Program;
  private readonly checker: ts.TypeChecker;
  private readonly symbols: ReadonlySet<ts.Symbol>;
  /** Packages that a user has as well, so that their types can be named. */
  private readonly peers: readonly string[];

  /** Of a program of the sources behind these subpaths, and of others. */
  constructor(program: ts.Program) {
    this.program = program;
    this.checker = this.program.getTypeChecker();
    const { peerDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    this.peers = Object.keys(peerDependencies ?? {}).map((name) => join(root, "node_modules", name, "/"));
    this.symbols = new Set(entries().flatMap((entry) => this.exportsOf(entry)));
  }

  private exportsOf(entry: string): ts.Symbol[] {
    const module = this.checker.getSymbolAtLocation(this.program.getSourceFile(entry) as ts.SourceFile);
    return this.checker.getExportsOfModule(module as ts.Symbol).map((symbol) => this.origin(symbol));
  }

  private origin(symbol: ts.Symbol): ts.Symbol {
    return symbol.flags & ts.SymbolFlags.Alias ? this.checker.getAliasedSymbol(symbol) : symbol;
  }

  /** Exports without a doc comment. */
  undocumented(): string[] {
    const isBare = (symbol: ts.Symbol) => symbol.getDocumentationComment(this.checker).length === 0;
    return [...this.symbols].filter(isBare).map((symbol) => symbol.name);
  }

  /** Types that an export names and nobody outside can name, as `export -> type`. */
  hidden(): string[] {
    return [...this.symbols].flatMap((symbol) =>
      (symbol.declarations ?? []).flatMap((declaration) =>
        [...this.namedBy(declaration)].map((name) => `${symbol.name} -> ${name}`),
      ),
    );
  }

  private *namedBy(node: ts.Node): Generator<string> {
    if (ts.isBlock(node) || ts.isTypeParameterDeclaration(node) || isInternal(node)) return;
    // What a declaration infers is not looked into.
    if (ts.isPropertyDeclaration(node) || ts.isVariableDeclaration(node)) {
      if (node.type !== undefined) yield* this.namedBy(node.type);
      return;
    }
    const name = ts.isTypeReferenceNode(node)
      ? node.typeName
      : ts.isExpressionWithTypeArguments(node)
        ? node.expression
        : undefined;
    const symbol = name && this.checker.getSymbolAtLocation(name);
    if (symbol !== undefined) yield* this.hiddenIn(this.origin(symbol), ts.isExpressionWithTypeArguments(node));
    const children: ts.Node[] = [];
    ts.forEachChild(node, (child) => void children.push(child));
    for (const child of children) yield* this.namedBy(child);
  }

  /** What is only a base, or has no name outside its file, is as good as written out where it is named. */
  private *hiddenIn(symbol: ts.Symbol, isBase: boolean): Generator<string> {
    const [declaration] = symbol.declarations ?? [];
    if (declaration === undefined || this.symbols.has(symbol) || symbol.flags & ts.SymbolFlags.TypeParameter) return;
    const file = declaration.getSourceFile();
    if (this.program.isSourceFileDefaultLibrary(file) || this.peers.some((peer) => file.fileName.startsWith(peer)))
      return;
    const isExported = ts.canHaveModifiers(declaration) && (ts.getModifiers(declaration)?.length ?? 0) > 0;
    const isOurs = !file.fileName.includes("node_modules");
    if (isOurs && (isBase || !isExported)) yield* this.namedBy(declaration);
    else yield `${symbol.name} of ${relative(root, file.fileName)}`;
  }
}

/** Not in the declarations that are published (stripInternal), or private. */
function isInternal(node: ts.Node): boolean {
  const isPrivate =
    ts.canHaveModifiers(node) && ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.PrivateKeyword);
  return isPrivate === true || ts.getJSDocTags(node).some(({ tagName }) => tagName.text === "internal");
}
