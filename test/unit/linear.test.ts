import { expect, it } from "vitest";
import { expectLinear } from "../support/core/linear.ts";

const text = (size: number) => "a".repeat(size);

it("the measure of hostile texts knows linear work from quadratic work", () => {
  const work = (rounds: number) => {
    let sum = 0;
    for (let i = 0; i < rounds; i++) sum = (sum * 31 + i) % 65_537;
    return sum;
  };
  expectLinear(text, (input) => work(input.length * 10));
  expect(() => expectLinear(text, (input) => work(input.length ** 2 / 1_000))).toThrow("to that of its parts");
});
