import type { Snapshot } from "../../../core/index.ts";
import { type Left, nothingLeft } from "../../../provider/left-behind.ts";
import { planSet } from "../../../provider/plan-set.ts";
import { readInputs } from "../../../provider/read-inputs.ts";
import { stackRecord } from "../../../provider/record.ts";
import { type ClaimInput, previousOf, type SetInputs, type SetState } from "../../../provider/set-state.ts";

/** What a set asks for that has neither pools nor claims, and was not there before; `rest` says what is otherwise. */
export function setInputs(rest: Partial<SetInputs> = {}): SetInputs {
  return {
    pools: {},
    claims: [],
    state: { backend: "stack" },
    set: "default",
    allowMove: false,
    confirmRelease: false,
    moved: [],
    secret: false,
    isLate: false,
    release: [],
    previous: { others: [] },
    ...rest,
  };
}

/** Pool lan, of four addresses. */
export const lanPools = { lan: { range: { cidr: "10.0.0.0/24", start: "10.0.0.1", end: "10.0.0.4" } } };

/** A claim on it for each node. */
export function lanClaims(...nodes: string[]): ClaimInput[] {
  return nodes.map((name) => ({ key: `Node/${name}/eth1`, pool: "lan" }));
}

/** What a set with this pool asks for, and was before. */
export function lanInputs(claims: SetInputs["claims"], own?: SetState, rest: Partial<SetInputs> = {}): SetInputs {
  const previous = own === undefined ? { others: [] } : { own, others: [] };
  return setInputs({ pools: lanPools, claims, previous, ...rest });
}

/** The plan of a set against a record; `left` is what other records of the stack have. */
export function planned(inputs: SetInputs, record: Snapshot, left: Left = nothingLeft) {
  return planSet(inputs, readInputs(inputs), record, left);
}

/** What it is to hold, with the record in the stack. */
export function planInStack(inputs: SetInputs): SetState {
  const previous = previousOf({}, inputs);
  return planned({ ...inputs, previous }, stackRecord(previous, inputs.set)).state;
}

/** `a=1 b=2 / c=3`: live addresses of 10.0.0.0/24, and releasing ones after the slash. */
export function shortState({ addresses, releasing = {} }: SetState): string {
  const text = (held: SetState["addresses"]) =>
    Object.values(held)
      .flatMap((claims) => Object.entries(claims))
      .map(([key, address]) => `${key.split("/")[1]}=${address.replaceAll("10.0.0.", "")}`)
      .join(" ");
  const gone = text(releasing);
  return gone === "" ? text(addresses) : `${text(addresses)} / ${gone}`;
}
