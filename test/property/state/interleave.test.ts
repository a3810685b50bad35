import { rmSync } from "node:fs";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { IpamError } from "../../../core/errors.ts";
import type { Plan } from "../../../core/plan/plan.ts";
import { encode } from "../../../state/codec.ts";
import { memory } from "../../../state/memory.ts";
import { replaceFile } from "../../../state/replace-file.ts";
import { tries } from "../../support/long.ts";
import { Lock } from "../../support/state/commit.ts";
import { onFileCall } from "../../support/state/file-calls.ts";
import { scratchFolder } from "../../support/state/folder.ts";
import { recordTexts } from "../../support/state/record.ts";

// Other writers come, and finish, between any two file calls of a commit.

const root = scratchFolder();
afterAll(() => rmSync(root, { recursive: true, force: true }));
afterEach(() => onFileCall());

const record = ["10.0.0.1 Node/n0/a set=other", "10.0.1.1 Node/n0/a pool=q set=other"];

/** A writer who plans again whenever it is told that it came too late. */
function write(lock: Lock, set: string, ...claims: string[]): void {
  for (let tries = 0; tries < 5; tries++)
    try {
      lock.commit(lock.plan(set, ...claims));
      return;
    } catch (error) {
      if (!(error instanceof IpamError && error.code === "conflict")) throw error;
    }
  throw new Error(`${set} came too late five times`);
}

/** Commits `made`; before its n-th file call `other` happens. Undefined if there is no such call. */
function commitWith(lock: Lock, made: Plan, n: number, other: () => void): { readonly error: unknown } | undefined {
  let happened = false as boolean;
  let error: unknown;
  onFileCall((at) => {
    if (at !== n) return;
    happened = true;
    onFileCall();
    other();
  });
  try {
    lock.commit(made);
  } catch (caught) {
    error = caught;
  }
  onFileCall();
  return happened ? { error } : undefined;
}

/** What is wrong with the lock after all that; each `claims` was acknowledged to its writer. */
function wrongWith(lock: Lock, ...claims: string[]): string[] {
  const texts = recordTexts(lock.read());
  const missing = claims.filter((claim) => !texts.some((text) => text.includes(` ${claim} `)));
  return [
    ...record.filter((line) => !texts.includes(line)).map((line) => `lost ${line}`),
    ...missing.map((claim) => `lost ${claim}`),
    ...(lock.isStuck ? ["the next writer is refused"] : []),
  ];
}

/** The outcome of the first writer, which may have come too late and nothing else. */
function outcomeOf(error: unknown): "done" | "too late" {
  if (error === undefined) return "done";
  if (error instanceof IpamError && error.code === "conflict") return "too late";
  throw error;
}

describe("one writer between any two file calls of another", () => {
  it.each([
    { other: "in another pool", late: false, write: (lock: Lock) => write(lock, "b", "Node/b/x pool=q") },
    { other: "in the same pool", late: true, write: (lock: Lock) => write(lock, "b", "Node/b/x") },
    { other: "in both pools", late: true, write: (lock: Lock) => write(lock, "b", "Node/b/x", "Node/b/x pool=q") },
  ])("$other: both are told the truth, nothing is lost", ({ late, write: writeOther }) => {
    const wrong: string[] = [];
    const outcomes = new Set<string>();
    for (let n = 1; ; n++) {
      const lock = new Lock(root, record);
      const made = lock.plan("a", "Node/a/x");
      const result = commitWith(lock, made, n, () => writeOther(lock));
      if (!result) break;
      const outcome = outcomeOf(result.error);
      outcomes.add(outcome);
      const acknowledged = ["Node/b/x", ...(outcome === "done" ? ["Node/a/x"] : [])];
      wrong.push(...wrongWith(lock, ...acknowledged).map((what) => `before call ${n}: ${what}`));
      if (outcome === "too late" && lock.holds(made)) wrong.push(`before call ${n}: refused, but written`);
      write(lock, "a", "Node/a/x");
      wrong.push(...wrongWith(lock, "Node/a/x", "Node/b/x").map((what) => `before call ${n}, again: ${what}`));
    }
    expect(wrong.join("\n")).toBe("");
    expect([...outcomes].sort()).toEqual(late ? ["done", "too late"] : ["done"]);
  });

  it("who commits the very same plan: both succeed", () => {
    for (let n = 1; ; n++) {
      const lock = new Lock(root, record);
      const made = lock.plan("a", "Node/a/x");
      const result = commitWith(lock, made, n, () => lock.commit(made));
      if (!result) break;
      expect(outcomeOf(result.error), `before call ${n}`).toBe("done");
      expect(wrongWith(lock, "Node/a/x")).toEqual([]);
    }
  });

  it("who makes the file: one of the two is first", () => {
    for (let n = 1; ; n++) {
      const lock = new Lock(root, []);
      const made = lock.plan("a", "Node/a/x");
      const result = commitWith(lock, made, n, () => write(lock, "b", "Node/b/x"));
      if (!result) break;
      write(lock, "a", "Node/a/x");
      expect(recordTexts(lock.read()), `before call ${n}`).toHaveLength(2);
      expect(lock.isStuck).toBe(false);
    }
  });
});

describe("three writers", () => {
  it("nested in each other at any two file calls lose nothing", () => {
    const wrong: string[] = [];
    let cases = 0;
    for (let n = 1, isDone = false; !isDone; n++)
      // Like the squares of one colour: every n and every m, with half of the others.
      for (let m = tries(1 + (n % 2), 1); ; m += tries(2, 1)) {
        const lock = new Lock(root, record);
        const made = lock.plan("a", "Node/a/x");
        let reached = false;
        const result = commitWith(lock, made, n, () => {
          onFileCall((at) => {
            if (at !== m) return;
            reached = true;
            onFileCall();
            write(lock, "c", "Node/c/x");
          });
          write(lock, "b", "Node/b/x pool=q");
          onFileCall();
        });
        isDone = result === undefined;
        if (!result || !reached) break;
        cases++;
        const acknowledged = ["Node/b/x", "Node/c/x", ...(outcomeOf(result.error) === "done" ? ["Node/a/x"] : [])];
        wrong.push(...wrongWith(lock, ...acknowledged).map((what) => `before calls ${n} and ${m}: ${what}`));
      }
    expect(wrong.join("\n")).toBe("");
    expect(cases).toBeGreaterThan(100);
  });

  // The first stands still before a call; a third looks at the file; the second writes; the third comes up to one of its
  // own calls and dies there. Then the first goes on.
  it("of whom one stands still and one dies late: what the second was told is there", async () => {
    const wrong: string[] = [];
    let cases = 0;
    for (let n = 1, isDone = false; !isDone; n++)
      for (let k = 1; ; k++) {
        const lock = new Lock(root, record);
        const made = lock.plan("a", "Node/a/x");
        const base = lock.text;
        const late = encode(await memory(lock.read()).commit(lock.plan("c", "Node/c/x")));
        let reached = false;
        const result = commitWith(lock, made, n, () => {
          onFileCall((_, name) => {
            if (name !== "openSync") return; // of its draft
            onFileCall();
            write(lock, "b", "Node/b/x pool=q");
            onFileCall((at) => {
              reached ||= at === k;
              if (at >= k) throw new Error("killed");
            });
          });
          try {
            replaceFile(lock.path, base, late);
          } catch {
            // dead
          }
          onFileCall();
        });
        isDone = result === undefined;
        if (!result || !reached) break;
        cases++;
        const acknowledged = ["Node/b/x", ...(outcomeOf(result.error) === "done" ? ["Node/a/x"] : [])];
        const found = wrongWith(lock, ...acknowledged);
        wrong.push(...found.map((what) => `first before call ${n}, third dead before call ${k}: ${what}`));
      }
    expect(wrong.join("\n")).toBe("");
    expect(cases).toBeGreaterThan(100);
  });
});
