import { advised, lineJson, type Plan } from "../core/index.ts";

/** A plan for machines; addresses are text. */
export function planJson(proposed: Plan) {
  return {
    set: proposed.set,
    assign: proposed.assign.map(lineJson),
    keep: proposed.keep.map(({ allocation, was }) =>
      was ? { ...lineJson(allocation), was: lineJson(was) } : lineJson(allocation),
    ),
    release: proposed.release.map(({ allocation, to }) => ({ ...lineJson(allocation), to })),
    pending: proposed.pending.map((pending) => advised(pending, "commandLine")),
  };
}
