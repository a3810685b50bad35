import { mapLines } from "../../schema/template.ts";

/**
 * Quotes what the study writes plainly and YAML cannot read. Everything else stays, and so does every line:
 *
 *     ip_netmask: {{ ip['net0']}}               ip_netmask: "{{ ip['net0']}}"
 *     hostSelector: metal3.io/controller: true  hostSelector: {metal3.io/controller: "true"}
 */
export function quoteInfra(yaml: string): string {
  return mapLines(yaml, quoteLine);
}

function quoteLine(line: string): string {
  return line
    .replace(template, (_, before, found, after) => before + quoted(found) + after)
    .replace(selector, (_, before, label, value, after) => `${before}{${label}: ${quoted(bare(value))}}${after}`);
}

const template = /^(\s*(?:-\s+)*(?:[^\s:#'"{}[\],&*!|>%@`]+:\s+)?)(\{\{[^{}\n]*\}\})(\s*(?:#.*)?)$/;
const selector = /^(\s*hostSelector:\s+)([\w./-]+):\s+("[^"{}]*"|'[^'{}]*'|[^\s"'{}[\],#:]+)(\s*(?:#.*)?)$/;

/** In the quotes that it does not have; in single ones a quote is doubled. */
function quoted(text: string): string {
  if (!/["\\]/.test(text)) return `"${text}"`;
  return `'${text.replaceAll("'", "''")}'`;
}

function bare(text: string): string {
  return text.replace(/^(["'])(.*)\1$/, "$2");
}
