import { expect, it } from "vitest";
import { contestedIn } from "../../../controller/allocate/contested-lines.ts";
import { type Observation, occupied } from "../../../controller/allocate/occupied.ts";
import { LinesByOwner } from "../../../controller/record/lines-by-owner.ts";
import { formatAddress, parseAddress, unwrap } from "../../../core/index.ts";
import { poolOf, recordOf } from "../../support/core/text.ts";

const pools = [poolOf("p", "10.0.0.0/29")];
const at = { file: "report", line: 1, column: 1 };
const use = (owner: string, isGiven: boolean): Observation => {
  return { address: unwrap(parseAddress("10.0.0.2")), owner, interface: "eth1", at, isGiven };
};

interface Case {
  readonly name: string;
  readonly record: readonly string[];
  readonly isGone?: boolean;
  readonly isHeld?: boolean;
  readonly isRetained?: boolean;
  readonly isGiven?: boolean;
  readonly isObserved?: boolean;
  /** The other owner; a node where it is not said. */
  readonly other?: string;
  readonly want: readonly string[];
}

const live = ["10.0.0.2 Node/old/x set=cluster"];
const releasing = ["10.0.0.2 Node/old/x set=cluster releasing"];
it.each<Case>([
  { name: "of an owner that is gone", record: live, isGone: true, want: ["10.0.0.2"] },
  { name: "that is held, of an owner that is gone", record: live, isGone: true, isHeld: true, isGiven: true, want: [] },
  { name: "that its pool retains, and a node shows it", record: live, isGone: true, isRetained: true, want: [] },
  {
    name: "that its pool retains, and an object gives it to the other owner",
    record: live,
    isGone: true,
    isRetained: true,
    isGiven: true,
    want: ["10.0.0.2"],
  },
  { name: "that is releasing, of an owner that is gone", record: releasing, isGone: true, want: ["10.0.0.2"] },
  { name: "of an owner that is there", record: live, isGiven: true, want: [] },
  { name: "that is releasing", record: releasing, want: ["10.0.0.2"] },
  { name: "that is releasing, and its owner reports it", record: releasing, isObserved: true, want: [] },
  {
    name: "that is releasing, its owner reports it, and an object gives it to the other one",
    record: releasing,
    isObserved: true,
    isGiven: true,
    want: ["10.0.0.2"],
  },
  { name: "that is releasing, and a host shows it", record: releasing, other: "Host/m:new", want: [] },
  {
    name: "that is releasing, and an object gives it to a host",
    record: releasing,
    other: "Host/m:new",
    isGiven: true,
    want: ["10.0.0.2"],
  },
  {
    name: "of an owner that is gone, and a host shows it",
    record: live,
    isGone: true,
    other: "Host/m:new",
    want: [],
  },
  { name: "of a claim set of plans", record: ["10.0.0.2 Node/old/x set=rack releasing"], isGiven: true, want: [] },
  {
    name: "that is releasing, where the other owner has a line",
    record: [...releasing, "10.0.0.3 Node/new/x set=cluster"],
    want: [],
  },
])(
  "a line $name: contested are $want",
  ({ record, isGone, isHeld, isRetained, isGiven, isObserved, other = "Node/new", want }) => {
    const lines = new LinesByOwner();
    lines.follow(recordOf([...record], pools));
    const found = contestedIn(occupied(pools, [use(other, isGiven === true)], lines), lines, {
      isGone: (owner) => owner === "Node/old" && isGone === true,
      isUnknown: () => false,
      ownerState: { isHeld: () => isHeld === true || isRetained === true, isRetained: () => isRetained === true },
      shown: { of: (owner) => (isObserved === true ? [use(owner, false)] : []) },
    });
    expect((found.get("p") ?? []).map(({ line }) => formatAddress(line.address))).toEqual(want);
  },
);
