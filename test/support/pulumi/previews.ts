import { join } from "node:path";
import { expect } from "vitest";
import type { Monitor } from "./monitor.ts";
import { broken, entered, type Ledger, type Sets, setsOf, stepsOf } from "./random.ts";

const program = join(import.meta.dirname, "sets.ts");

/**
 * Random programs, one after the other on stacks of five, each previewed and then applied, until so many were applied
 * whole. What preview told a program is what up tells it and what the stack then holds, and what preview refuses up
 * refuses with the same words.
 */
export async function previewIsUp(monitor: Monitor, count: number, seed: number) {
  const figures = { applied: 0, refused: 0, addresses: 0 };
  let ledger: Ledger = {};
  let i = 0;
  for (const step of stepsOf(seed)) {
    if (figures.applied === count) break;
    if (i % 5 === 0) {
      monitor.stack.clear();
      ledger = {};
    }
    const sets = setsOf(step);
    const before = held(monitor);
    const preview = await monitor.preview(program, sets);
    expect(held(monitor)).toEqual(before);
    const up = await monitor.up(program, sets);
    const place = `seed ${seed}, program ${i++}`;
    // A set that is refused does not keep the other one from its update.
    expect(up.log.toSorted(), place).toEqual(preview.log.toSorted());
    expect(up.told, place).toEqual(preview.told);
    if (preview.errors.length === 0) expect(up.outputs, place).toEqual(preview.outputs);
    figures[preview.errors.length === 0 ? "applied" : "refused"]++;
    expect(held(monitor), place).toMatchObject(preview.told);
    const next = entered(ledger, sets, preview.told);
    expect(broken(ledger, next, step.release), place).toBeUndefined();
    ledger = next;
    figures.addresses += Object.values(ledger).flatMap(({ live }) => Object.keys(live)).length;
  }
  return figures;
}

function held({ stack }: Monitor): Sets {
  return Object.fromEntries([...stack].map(([urn, { outputs }]) => [urn.split("::").at(-1) as string, outputs]));
}
