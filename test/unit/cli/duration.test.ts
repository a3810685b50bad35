import { expect, it } from "vitest";
import { parseDuration } from "../../../cli/duration.ts";

it.each([
  ["0s", 0],
  ["90s", 90_000],
  ["10m", 600_000],
  ["168h", 604_800_000],
])("%s is a duration", (text, ms) => {
  expect(parseDuration("--after", text)).toBe(ms);
});

it.each(["", "10", "10 m", "-1s", "1.5h", "169h", "1d", "m"])("%j is none", (text) => {
  expect(() => parseDuration("--after", text)).toThrow("--after cannot be");
});

it("one that is too short is none", () => {
  expect(() => parseDuration("--after", "9s", 10_000)).toThrow("--after cannot be");
});
