import { type Document, isAlias, isScalar, type Node, type Pair, visit } from "yaml";
import type { Issue, Place } from "../core/index.ts";
import { enough } from "./issues.ts";

export const noAliases = "YAML aliases are not allowed here";

/** Returns the aliases (YAML bombs), tags, prototype keys, and plain words that YAML 1.1 (kubectl) and 1.2 read differently. */
export function trapsIn(document: Document, placeAt: (offset: number) => Place): Issue[] {
  const traps: Issue[] = [];
  const trap = (node: Node, message: string, hint?: string) =>
    traps.push({ message, at: placeAt(node.range?.[0] ?? 0), ...(hint === undefined ? {} : { hint }) });
  visit(document, {
    Node: (_, node) => {
      if (traps.length === enough) return visit.BREAK;
      if (isAlias(node)) trap(node, noAliases, "Write the value out.");
      else if (node.tag && !node.tag.startsWith("tag:yaml.org,2002:"))
        trap(node, `the YAML tag ${node.tag} is not allowed here`, "Put a text that begins with ! in quotes.");
      else if (isScalar(node) && node.type === "PLAIN" && isAmbiguous(node.source ?? "")) {
        const message = `${node.source} means one thing to YAML 1.2 and another to kubectl`;
        trap(node, message, "Quote it, or write true, false or a plain number.");
      }
      return undefined;
    },
    Pair: (_, { key }: Pair) => {
      if (isScalar(key) && (key.value === "__proto__" || key.value === "<<"))
        trap(key, `the key ${key.value} is not allowed here`);
    },
  });
  return traps;
}

/** yes, no, on, off, y, n; octal, binary, signed hexadecimal and underscored numbers. */
function isAmbiguous(source: string): boolean {
  if (/^(?:y|yes|n|no|on|off|[-+]?0b[01_]+|[-+]?0o?[0-7_]+)$/i.test(source)) return source !== "0";
  if (/^[-+]?0x[0-9a-f_]+$/i.test(source)) return !/^0x[0-9a-f]+$/i.test(source) || source.startsWith("0X");
  return source.includes("_") && /^[-+]?[0-9][0-9_]*(?:\.[0-9_]*)?(?:e[-+]?[0-9]+)?$/i.test(source);
}
