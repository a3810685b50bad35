import { join } from "node:path";
import fc from "fast-check";
import { expect } from "vitest";
import type { Monitor } from "./pulumi-monitor.ts";
import { broken, linesOf, type Sets, setsOf, stepArb } from "./pulumi-random.ts";

const program = join(import.meta.dirname, "pulumi-sets.ts");

/**
 * Random programs, one after the other on stacks of five, each previewed and then applied. What preview told a program
 * is what up tells it and what the stack then holds, and what preview refuses up refuses with the same words.
 */
export async function previewIsUp(monitor: Monitor, count: number, seed: number) {
  const figures = { programs: 0, refused: 0, addresses: 0 };
  for (const [i, step] of fc.sample(stepArb, { numRuns: count, seed }).entries()) {
    if (i % 5 === 0) monitor.stack.clear();
    const before = held(monitor);
    const preview = await monitor.preview(program, setsOf(step));
    expect(held(monitor)).toEqual(before);
    const up = await monitor.up(program, setsOf(step));
    const place = `seed ${seed}, program ${i}`;
    figures.programs++;
    // A set that is refused does not keep the other one from its update.
    expect(up.log.toSorted(), place).toEqual(preview.log.toSorted());
    expect(up.told, place).toEqual(preview.told);
    if (preview.errors.length > 0) figures.refused++;
    else expect(up.outputs, place).toEqual(preview.outputs);
    const after = held(monitor);
    expect(after, place).toMatchObject(preview.told);
    expect(broken(before, after), place).toBeUndefined();
    figures.addresses += linesOf(after, "addresses").length;
  }
  return figures;
}

function held({ stack }: Monitor): Sets {
  return Object.fromEntries([...stack].map(([urn, { outputs }]) => [urn.split("::").at(-1) as string, outputs]));
}
