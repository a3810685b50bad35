import { copyFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { lockfile } from "../../../state/lockfile.ts";
import { Lock } from "../../support/state/commit.ts";
import { onFileCall } from "../../support/state/file-calls.ts";
import { scratchFolder } from "../../support/state/folder.ts";
import { recordTexts } from "../../support/state/record.ts";

// A writer dies with its step taken and its draft whole. Is the next one to finish that?

const root = scratchFolder();
afterAll(() => rmSync(root, { recursive: true, force: true }));
afterEach(() => onFileCall());

const record = ["10.0.0.1 Node/n0/a set=other"];

/** A lock beside which a writer of set `dead` died, before its call of this name. */
function interrupted(lines: readonly string[], call: string): Lock {
  const lock = new Lock(root, lines);
  const made = lock.plan("dead", "Node/dead/a");
  onFileCall((_, name) => {
    if (name === call) throw new Error("killed");
  });
  expect(() => lock.commit(made)).toThrow("killed");
  onFileCall();
  return lock;
}

const claims = (lock: Lock) => recordTexts(lock.read()).map((text) => text.split(" ")[1]);

it("finishes it where the file is as that writer saw it, and is a conflict itself", () => {
  const lock = interrupted(record, "renameSync");
  const made = lock.plan("mine", "Node/n/a");
  expect(() => lock.commit(made)).toThrow("pool p changed since this plan was made");
  expect(claims(lock)).toEqual(["Node/n0/a", "Node/dead/a"]);
  lock.commit(lock.plan("mine", "Node/n/a"));
  expect(claims(lock)).toEqual(["Node/n0/a", "Node/dead/a", "Node/n/a"]);
  expect(lock.links).toEqual([]);
});

const away: Record<string, (path: string, text: string) => void> = {
  "was written over, and written as it was": (path, text) => {
    writeFileSync(path, "version: 1\n");
    writeFileSync(path, text);
  },
  "was replaced by a copy": (path) => {
    copyFileSync(path, `${path}.copy`);
    renameSync(`${path}.copy`, path);
  },
  "was moved away and back": (path) => {
    renameSync(path, `${path}.away`);
    renameSync(`${path}.away`, path);
  },
};

describe.each(Object.entries(away))("where the file %s, the step is dropped", (_, leave) => {
  it("once, and again from the same text", () => {
    const lock = interrupted(record, "renameSync");
    for (const set of ["one", "two", "three"]) {
      const text = lock.text as string;
      leave(lock.path, text);
      lock.commit(lock.plan(set, `Node/${set}/a`));
      expect(claims(lock)).toEqual(["Node/n0/a", `Node/${set}/a`]);
      writeFileSync(lock.path, text);
    }
  });

  it("also if its writer only stood still: it is told that it was late", () => {
    const lock = new Lock(root, record);
    const made = lock.plan("slow", "Node/slow/a");
    let isPaused = false;
    onFileCall((_, name) => {
      if (name !== "renameSync" || isPaused) return;
      isPaused = true;
      onFileCall();
      leave(lock.path, lock.text as string);
      lock.commit(lock.plan("mine", "Node/n/a"));
    });
    expect(() => lock.commit(made)).toThrow("pool p changed");
    onFileCall();
    expect(claims(lock)).toEqual(["Node/n0/a", "Node/n/a"]);
  });
});

it.each(["/dev/zero", "/dev"])("%s is no lock, and is not read to its end", (path) => {
  expect(() => lockfile(path).readSync()).toThrow(`${path} is no file`);
});

it("a file that is not there is made by the one who makes it", () => {
  const lock = interrupted([], "linkSync");
  expect(lock.text).toBeUndefined();
  lock.commit(lock.plan("mine", "Node/n/a"));
  expect(claims(lock)).toEqual(["Node/n/a"]);
  expect(readdirSync(lock.folder).filter((name) => !name.endsWith(".tmp"))).toEqual(["nodeippool.lock"]);
});
