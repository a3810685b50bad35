import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Snapshot } from "../../../core/allocation.ts";
import { type Plan, plan } from "../../../core/plan/plan.ts";
import { decode, encode } from "../../../state/codec.ts";
import { lockfile } from "../../../state/lockfile.ts";
import { claimOf, poolOf, recordOf } from "../core/text.ts";
import { duplicates, recordTexts } from "./record.ts";

const pools = [poolOf("p", "10.0.0.0/24"), poolOf("q", "10.0.1.0/24")];

/** A lock in a folder of its own, which starts with the lines of one node. */
export class Lock {
  readonly folder: string;
  readonly path: string;

  constructor(root: string, lines: readonly string[]) {
    this.folder = mkdtempSync(join(root, "lock-"));
    this.path = join(this.folder, "nodeippool.lock");
    if (lines.length > 0) writeFileSync(this.path, encode(recordOf(lines, pools)));
  }

  get text(): string | undefined {
    return existsSync(this.path) ? readFileSync(this.path, "utf8") : undefined;
  }

  /** Files beside the lock that claim a step. */
  get links(): string[] {
    return readdirSync(this.folder).filter((name) => name.startsWith(".") && !name.endsWith(".tmp"));
  }

  read(): Snapshot {
    return lockfile(this.path).readSync();
  }

  /** A plan for a node of its own set, `Node/n/a pool=q` and so on, against what the file holds now. */
  plan(set: string, ...claims: readonly string[]): Plan {
    return plan({ pools, claims: claims.map(claimOf), snapshot: this.read(), set });
  }

  /** Is the next writer refused, because something was left unfinished? */
  get isStuck(): boolean {
    try {
      this.commit(this.plan("next", "Node/next/x", "Node/next/x pool=q"));
      return false;
    } catch {
      return true;
    }
  }

  commit(made: Plan): void {
    lockfile(this.path).commitAll([made]);
  }

  /** Does the file hold this set's lines? Throws if it holds some of them only, or is not whole otherwise. */
  holds(made: Plan): boolean {
    const texts = recordTexts(this.text === undefined ? this.read() : decode(this.text, "lock"));
    if (duplicates(this.read()).length > 0) throw new Error(`duplicates: ${duplicates(this.read())}`);
    const there = made.assign.filter((line) => texts.some((text) => text.includes(` ${line.claim} `)));
    if (there.length > 0 && there.length < made.assign.length)
      throw new Error(`a part of a plan: ${texts.join(" ; ")}`);
    return there.length > 0;
  }
}
