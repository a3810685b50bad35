import fc from "fast-check";
import { expect, it } from "vitest";
import { lines } from "../../../kube/stream.ts";

const line = fc.string({ unit: "grapheme", maxLength: 20 }).map((one) => one.replaceAll("\n", ""));

it("lines are the same wherever the chunks are cut", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(line), fc.infiniteStream(fc.nat(9)), async (expected, sizes) => {
      const bytes = Buffer.from(expected.map((one) => `${one}\n`).join(""));
      async function* chunks() {
        for (let at = 0; at < bytes.length; ) {
          const size = sizes.next().value as number;
          yield bytes.subarray(at, at + size);
          at += size;
        }
      }
      const found: string[] = [];
      for await (const one of lines(chunks())) found.push(one);
      expect(found).toEqual(expected);
    }),
    { numRuns: 1_000 },
  );
});

it("a last line without its end is torn", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(line), line, async (before, last) => {
      async function* chunks() {
        yield Buffer.from([...before, `${last}.`].join("\n"));
      }
      const found: string[] = [];
      const reading = (async () => {
        for await (const one of lines(chunks())) found.push(one);
      })();
      await expect(reading).rejects.toThrow("in the middle of a line");
      expect(found).toEqual(before);
    }),
  );
});
