import { rmSync } from "node:fs";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { IpamError } from "../../../core/errors.ts";
import type { Plan } from "../../../core/plan/plan.ts";
import { Lock } from "../../support/state/commit.ts";
import { onFileCall } from "../../support/state/file-calls.ts";
import { scratchFolder } from "../../support/state/folder.ts";
import { recordTexts } from "../../support/state/record.ts";

// Every file call of a commit fails once: instead of doing its work, and after it was done.

const root = scratchFolder();
afterAll(() => rmSync(root, { recursive: true, force: true }));
afterEach(() => onFileCall());

const fail = (code: string, name: string) => {
  throw Object.assign(new Error(`${code}: injected, ${name}`), { code });
};

/** Leaves the step of a writer that crashed between its link and its rename. */
function crash(lock: Lock): Plan {
  const made = lock.plan("crashed", "Node/c/a pool=q");
  onFileCall((_, name) => {
    if (name === "renameSync") fail("EIO", name);
  });
  expect(() => lock.commit(made)).toThrow();
  onFileCall();
  expect(lock.links).toHaveLength(1);
  return made;
}

const record = ["10.0.0.1 Node/n0/a set=other", "10.0.1.1 Node/n0/a pool=q set=other"];
const situations: { on: string; lines: readonly string[]; prepare?: (lock: Lock) => Plan }[] = [
  { on: "a record", lines: record },
  { on: "no file", lines: [] },
  { on: "a record and the step of a writer that crashed", lines: record, prepare: crash },
];
const faults = ["EIO", "ENOSPC", "EACCES"].flatMap((code) => [
  { code, when: "instead of" },
  { code, when: "after" },
]);

describe.each(situations)("a commit on $on", ({ lines, prepare }) => {
  it.each(faults)(
    "$code $when any file call: old text or new, `unavailable`, and trying again works",
    ({ code, when }) => {
      const wrong: string[] = [];
      const seen = { old: 0, new: 0 };
      let n = 0;
      for (let isDone = false; !isDone; ) {
        const lock = new Lock(root, lines);
        const crashed = prepare?.(lock);
        const made = lock.plan("mine", "Node/n/a", "Node/n/a pool=q");
        isDone = true;
        n++;
        let call = "";
        const fault = (at: number, name: string) => {
          if (at !== n) return;
          isDone = false;
          call = `call ${n}, ${name}: `;
          fail(code, name);
        };
        const error = attempt(() => {
          if (when === "after") onFileCall(undefined, fault);
          else onFileCall(fault);
          lock.commit(made);
        });
        onFileCall();
        if (isDone) break;

        // Whoever meets the crashed writer's step finishes it, so this plan may have come too late.
        const isLate = crashed !== undefined && lock.holds(crashed) ? "conflict" : "";
        seen[lock.holds(made) ? "new" : "old"]++;
        if (error === undefined && !lock.holds(made)) wrong.push(`${call}success without an effect`);
        if (error !== undefined && codeOf(error) !== "unavailable" && codeOf(error) !== isLate)
          wrong.push(`${call}threw ${error}`);
        const again = attempt(() => lock.commit(made));
        if (again !== undefined && !(crashed && codeOf(again) === "conflict"))
          wrong.push(`${call}again threw ${again}`);
        if (again !== undefined) lock.commit(lock.plan("mine", "Node/n/a", "Node/n/a pool=q"));
        if (!lock.holds(made)) wrong.push(`${call}no effect even the second time`);
        const kept = recordTexts(lock.read());
        wrong.push(...lines.filter((line) => !kept.includes(line)).map((line) => `${call}lost ${line}`));
        if (lock.isStuck) wrong.push(`${call}the next writer is refused`);
      }
      expect(wrong.join("\n")).toBe("");
      expect(n, "file calls tried").toBeGreaterThan(12);
      expect(seen.old, "failures before anything was written").toBeGreaterThan(1);
      if (prepare === undefined) expect(seen.new, "failures after it was written").toBeGreaterThan(1);
    },
  );
});

function attempt(run: () => void): unknown {
  try {
    run();
    return undefined;
  } catch (error) {
    return error;
  }
}

function codeOf(error: unknown): string {
  return error instanceof IpamError ? error.code : "no IpamError";
}
