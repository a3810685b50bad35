import type { SetInputs } from "../../src/provider/set-state.ts";

/** What a set asks for that has neither pools nor claims, and was not there before; `rest` says what is otherwise. */
export function setInputs(rest: Partial<SetInputs> = {}): SetInputs {
  return {
    pools: {},
    claims: [],
    state: { backend: "stack" },
    set: "default",
    allowMove: false,
    moved: [],
    secret: false,
    release: [],
    previous: { others: [] },
    ...rest,
  };
}
