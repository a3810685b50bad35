import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import type { Address } from "../../../core/address.ts";
import { partition } from "../../../core/partition.ts";
import { decodePart, encodePart } from "../../../state/kubernetes/subnet-records.ts";
import { poolOf } from "../../support/core/text.ts";

const pool = poolOf("p", "10.0.0.0/8");

/** Nodes of names that compress no better than those of a cloud. */
const allocations = Array.from({ length: 130_000 }, (_, i) => ({
  address: ((pool.prefix.first as bigint) + BigInt(i) + 1n) as Address,
  length: 32,
  pool: "p",
  claim: `Node/node-${createHash("sha256").update(`${i}`).digest("hex").slice(0, 10)}/static-ip/eth1`,
  set: "default",
  interface: "eth1",
}));

function partOf(count: number) {
  return { pools: [pool], allocations: allocations.slice(0, count), releasing: [] };
}

const bytes = (body: ReturnType<typeof encodePart>) =>
  "text" in body ? Buffer.byteLength(body.text) : Buffer.from(body.gzip, "base64").length;

it.each([
  { count: 10, form: "text" },
  { count: 2_000, form: "text" },
  { count: 5_000, form: "gzip" },
  { count: 50_000, form: "gzip" },
] as const)("$count addresses fit, as $form, and read back", ({ count, form }) => {
  const body = encodePart(partOf(count), "x");
  expect(Object.keys(body)).toEqual([form]);
  expect(bytes(body)).toBeLessThan(1024 * 1024);
  console.log(`${count} addresses: ${bytes(body)} bytes in an object, ${form}`);
  expect(decodePart(body, "x").allocations).toEqual(partOf(count).allocations);
});

it("more than an object holds: exhausted before anything is written, with the number that fits", () => {
  const refused = (count: number): string => {
    try {
      encodePart(partOf(count), "ConfigMap net/x");
      return "";
    } catch (error) {
      expect(error).toMatchObject({ name: "IpamError", code: "exhausted" });
      return (error as Error).message;
    }
  };
  const message = refused(130_000);
  const [, fit = "0"] =
    /^ConfigMap net\/x would hold 130000 addresses in \d+ bytes .*: about (\d+) addresses/.exec(message) ?? [];
  console.log(message);
  expect(refused(Math.floor(Number(fit) * 0.98))).toBe("");
  expect(refused(Math.floor(Number(fit) * 1.02))).toContain("would hold");
});

it("a part that takes no new address has room for all of them, or every other one, to be released", () => {
  const { allocations: lines } = partOf(96_000);
  expect(() => encodePart(partOf(98_000), "x")).toThrow("would hold");
  expect(bytes(encodePart({ pools: [pool], allocations: lines, releasing: [] }, "x"))).toBeLessThan(960 * 1024);
  const isOther = ({ claim }: (typeof lines)[number]) => claim.charCodeAt(12) % 2 === 0;
  for (const isLeaving of [() => true, isOther]) {
    const [releasing, live] = partition(lines, isLeaving);
    expect(bytes(encodePart({ pools: [pool], allocations: live, releasing }, "x", false))).toBeLessThan(1024 * 1024);
  }
});
