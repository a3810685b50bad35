import { describe, expect, it } from "vitest";
import { encode } from "../../../state/codec.ts";
import { salvage } from "../../../state/salvage.ts";
import { poolOf, recordOf } from "../../support/core/text.ts";

const pools = [poolOf("p", "10.0.0.0/24")];
const textOf = (...lines: string[]) => encode(recordOf(lines, pools));
const stateOf = (text: string) => {
  const { allocations, releasing } = salvage(text, "the lock").snapshot;
  return { live: allocations.map(({ claim }) => claim), releasing: releasing.map(({ claim }) => claim) };
};

// Two sides of a conflict, one behind the other, of which git keeps no versions any more.
describe("salvage", () => {
  const held = textOf("10.0.0.1 Node/n/a");
  const left = textOf("10.0.0.1 Node/n/a releasing");
  const both = (a: string, b: string) => `<<<<<<< ours\n${a}=======\n${b}>>>>>>> theirs\n`;

  it("a line that is live on either side is live, whichever comes first", () => {
    for (const text of [both(held, left), both(left, held)])
      expect(stateOf(text)).toEqual({ live: ["Node/n/a"], releasing: [] });
  });

  it("a line that both sides gave up is not", () => {
    expect(stateOf(both(left, left))).toEqual({ live: [], releasing: ["Node/n/a"] });
  });
});
