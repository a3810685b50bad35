import { describe, expect, it } from "vitest";
import { Surface } from "../support/cli/surface.ts";

// What users of the package see: the exports of its subpaths, and all that their types name.
describe("the package", () => {
  const surface = new Surface();

  it("exports nothing without a doc comment", () => {
    expect(surface.undocumented()).toEqual([]);
  });

  it("names no type in an export that it does not export, of itself or of another package", () => {
    expect(surface.hidden()).toEqual([]);
  });
});
