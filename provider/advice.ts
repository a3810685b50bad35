import { advised, formatIssue, type IpamCode, type Issue } from "../core/index.ts";
import type { StateArgs } from "./set-state.ts";

/** Why a set cannot have `ignoreChanges`. */
export const noIgnoring = "ignoreChanges would plan addresses that the program does not ask for";

/** What a message says where claims are secret: core's own words name owners and addresses. */
const plainWords: { readonly [code in IpamCode]?: string } = {
  invalid: "this is not valid, or two claims ask for the same",
  "out-of-range": "the pool does not hand out the address that the claim asks for",
  exhausted: "the pool has no address left",
  "in-use":
    "the address is in use, or somebody would lose one: undo the last edit, declare a rename in moved, or set allowMove",
  overlap: "pools share addresses",
  stale: "the record is not up to date with the program: nodeippool allocate -- pulumi preview",
};

/**
 * What the engine prints of a mistake: `code: path: message`, and what to do about it. Of claims that are secret, now or
 * before, it has the path alone: `claims[i]`.
 */
export function reasonOf(code: IpamCode, issue: Issue, state: StateArgs, isSecret: boolean): string {
  const [field] = issue.path ?? [];
  const isOfSettings =
    (code === "invalid" && (field === "state" || field === "pools")) || (code === "stale" && field === "state");
  const words = isSecret && !isOfSettings ? plainWords[code] : undefined;
  const text = words ?? formatIssue(advised(issue, state.backend === "stack" ? "stack" : "pulumi"));
  const place = (issue.path ?? [])
    .map((part, i) => (typeof part === "number" ? `[${part}]` : `${i === 0 ? "" : "."}${part}`))
    .join("");
  return `${code}: ${place === "" ? "" : `${place}: `}${text}`;
}
