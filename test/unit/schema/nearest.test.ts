import { describe, expect, it } from "vitest";
import { didYouMean } from "../../../schema/nearest.ts";

const known = ["range", "gateway", "network", "reservations", "clusterRange"];

describe("didYouMean", () => {
  it.each([
    ["rang", "range"],
    ["ragne", "range"],
    ["RANGE", "range"],
    ["gatway", "gateway"],
    ["netwrok", "network"],
    ["reservation", "reservations"],
    ["cluster-range", "clusterRange"],
    ["cluster_range", "clusterRange"],
  ])("%s: %s", (word, meant) => {
    expect(didYouMean(word, known)).toBe(`; did you mean ${meant}?`);
  });

  it.each(["", "zzz", "authority", "x".repeat(101), "dnsServers"])("%j: nothing", (word) => {
    expect(didYouMean(word, known)).toBe("");
  });

  it("takes the nearest, and the first of equals", () => {
    expect(didYouMean("pool-2", ["pool-11", "pool-1", "pool-22"])).toBe("; did you mean pool-1?");
  });

  it("says nothing where nothing is known", () => {
    expect(didYouMean("range", [])).toBe("");
  });
});
