import { nodeOwner, type Parsed, parseOwner } from "../core/index.ts";
import { nameIssue } from "./names.ts";

/** The owner that a line of a list names: a node by its name alone, others as Kind/name; and `rack/w1`, as somebody may call one. */
export function listedOwner(name: string): Parsed<string> {
  const [first, second = "", ...rest] = name.split("/");
  if (first === name) {
    const issue = nameIssue(name);
    return issue === undefined ? { value: nodeOwner(name) } : { issues: [{ message: `the name of a node ${issue}` }] };
  }
  const isPair = rest.length === 0 && [first, second].every((part) => nameIssue(part) === undefined);
  const { issues } = isPair ? {} : parseOwner(name);
  return issues === undefined ? { value: name } : { issues };
}
