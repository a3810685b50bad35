import type { IpamCode, Issue, Remedy } from "../core/index.ts";
import { advised, formatIssue } from "../core/index.ts";
import type { StateArgs } from "./set-state.ts";

/** Why a set cannot have `ignoreChanges`. */
export const noIgnoring = "ignoreChanges would plan addresses that the program does not ask for";

/** What a program has for a remedy. */
function input(remedy: Remedy, state: StateArgs): string {
  switch (remedy[0]) {
    case "rename":
      return `moved: [{ from: "Kind/name/CLAIM", to: "Kind/name/CLAIM" }], for each claim, or allowMove: true`;
    case "to-set":
      return state.backend === "stack"
        ? "bring the update that moved it to its end"
        : `set: "${remedy[2]}", or nodeippool mv --to-set`;
    case "confirm":
      return "confirmRelease: true";
    case "allow-move":
      return "allowMove: true";
    case "release":
      return state.backend === "stack"
        ? 'release: ["Kind/name"], in an update without this claim'
        : "nodeippool release";
    case "set":
      return `set: "${remedy[1] ?? "NAME"}"`;
    case "moved":
      return remedy[1] === "file"
        ? 'state: { backend: "lockfile", path }'
        : 'state: { backend: "kubernetes", context, namespace }';
    case "merge":
      return recording(state);
    case "merge-landed":
      return `${recording(state)}, with --landed and a branch or commit`;
    case "explain":
      return "its range, gateway, exclude and reservations";
    case "show":
      return "nodeippool show";
  }
}

/** The command that records what a program asks of its lock. */
export function recording(state: StateArgs): string {
  const isUsual = state.backend !== "lockfile" || state.path === "nodeippool.lock";
  return `nodeippool allocate${isUsual ? "" : " --lock LOCK"} -- pulumi preview`;
}

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
  const text = words ?? formatIssue(advised(issue, (remedy) => input(remedy, state)));
  const place = (issue.path ?? [])
    .map((part, i) => (typeof part === "number" ? `[${part}]` : `${i === 0 ? "" : "."}${part}`))
    .join("");
  return `${code}: ${place === "" ? "" : `${place}: `}${text}`;
}
