import { advised, lineJson, type Plan } from "../core/index.ts";

/** A plan for machines; addresses are text. */
export function planJson(made: Plan) {
  return {
    set: made.set,
    assign: made.assign.map(lineJson),
    keep: made.keep.map(({ allocation, was }) =>
      was ? { ...lineJson(allocation), was: lineJson(was) } : lineJson(allocation),
    ),
    release: made.release.map(({ allocation, to }) => ({ ...lineJson(allocation), to })),
    pending: made.pending.map((pending) => advised(pending, "commandLine")),
  };
}
