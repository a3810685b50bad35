import { expect, it } from "vitest";
import { markedText, withoutMark } from "../../../state/mark.ts";

it.each(["prod", "a $& b", "$1$'$`"])("a mark that names %j is read as it was written", (other) => {
  const text = "version: 1\npools: []\nallocations: []\nreleasing: []\n";
  const mark = { state: "leaves", id: "1", other } as const;
  expect(withoutMark(markedText(mark, text), "a.lock")).toEqual({ mark, rest: text });
});
