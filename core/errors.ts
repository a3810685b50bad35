/** Where in a user's text something stands; lines and columns count from 1. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/**
 * What would help, as data: the thing to do, and with what. Hints are written for every surface; a surface adds its own
 * word for this, be it a flag, a field or a command.
 */
export type Remedy =
  /** Declare that claims of this name have that one now: all of their policy, all of the name, or those of these owners; or allow the move. `set`: of which claim set, if not of `default` alone. */
  | readonly ["rename", from: string, to: string, reach: "policy" | "claim" | readonly string[], set?: string]
  /** Declare that what these words name, some under a new name, went from one claim set to the other, with its addresses. */
  | readonly ["to-set", words: readonly (string | readonly [from: string, to: string])[], from: string, to?: string]
  /** Plan with `allowMove`. */
  | readonly ["allow-move"]
  /** Confirm a plan that releases much. */
  | readonly ["confirm"]
  /** See what an address is to its pools. */
  | readonly ["explain", address: string]
  /** Free addresses that are releasing. */
  | readonly ["release"]
  /** See what is recorded. */
  | readonly ["show"]
  /** Merge both sides of a record that git could not merge. */
  | readonly ["merge"]
  /** The same, and say which side is in force. */
  | readonly ["merge-landed"]
  /** Plan, or move, as another claim set; as that one, where only one will do. */
  | readonly ["set", name?: string]
  /** Name the place that the record has moved to. */
  | readonly ["moved", to: "cluster" | "file"];

/** One thing that is wrong: what, where in the data (`path`), where in the text (`at`), what to do (`hint`, `remedy`). */
export interface Issue {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly at?: Place;
  readonly hint?: string;
  readonly remedy?: Remedy;
}

/** What every `parse*` function returns: a value that cannot be wrong, or all that is wrong with the input. */
export type Parsed<T> =
  | { readonly value: T; readonly issues?: undefined }
  | { readonly value?: undefined; readonly issues: readonly Issue[] };

/**
 * The closed table of failures. Each code has one exit status for the command line, one reason for a
 * Kubernetes condition (in the words of the proposal, ADR 1, where it has one), and says whether trying again helps.
 * The command line needs the exit status alone; reasons and `retry` are for surfaces that live in a cluster or a
 * stack. `unknown-outcome` is for backends behind a network, which can lose the answer to a commit: commit it again.
 */
export const codes = {
  invalid: { exit: 2, reason: "InvalidSpec", retry: false },
  "out-of-range": { exit: 2, reason: "OutOfRange", retry: false },
  overlap: { exit: 2, reason: "OverlappingIPPool", retry: false },
  exhausted: { exit: 3, reason: "ExhaustedIPPool", retry: true },
  "in-use": { exit: 3, reason: "InUse", retry: false },
  conflict: { exit: 4, reason: "IPCollision", retry: true },
  stale: { exit: 5, reason: "UnsynchronizedIPPool", retry: false },
  corrupt: { exit: 5, reason: "UnsynchronizedIPPool", retry: false },
  unavailable: { exit: 6, reason: "ReconcilingPool", retry: true },
  "unknown-outcome": { exit: 6, reason: "ReconcilingPool", retry: true },
} as const satisfies Record<string, { exit: number; reason: string; retry: boolean }>;

/** What kind of failure an IpamError is; `codes` has the table. */
export type IpamCode = keyof typeof codes;

/**
 * The one error this package throws on purpose: broken input, broken state or failed I/O.
 * Expected outcomes (an exhausted pool, a refused move) are values in a Plan instead.
 */
export class IpamError extends Error {
  readonly code: IpamCode;
  readonly issues: readonly Issue[];

  constructor(
    code: IpamCode,
    problem: string | readonly Issue[],
    { cause, ...advice }: Pick<Issue, "hint" | "remedy"> & { readonly cause?: unknown } = {},
  ) {
    const issues = typeof problem === "string" ? [{ message: problem, ...advice }] : problem;
    super(issues.map(formatIssue).join("\n"), { cause });
    this.name = "IpamError";
    this.code = code;
    this.issues = issues;
  }
}

/** One issue as people read it: `file:line:column: message`, and what to do on the next line. */
export function formatIssue(issue: Issue): string {
  const place = issue.at ? `${issue.at.file}:${issue.at.line}:${issue.at.column}: ` : "";
  const hint = issue.hint ? `\n  ${issue.hint}` : "";
  return `${place}${issue.message}${hint}`;
}

/** Advice as one surface gives it: the hint, and `word`, what that surface has for the remedy. */
export function advised<T extends Pick<Issue, "hint" | "remedy">>(
  { hint, remedy, ...rest }: T,
  word: (remedy: Remedy) => string,
): Omit<T, "hint" | "remedy"> & { readonly hint?: string } {
  if (hint === undefined) return rest;
  return { ...rest, hint: remedy === undefined ? hint : `${hint.replace(/\.$/, "")}: ${word(remedy)}` };
}

/** The value of a parse, or an IpamError `invalid` with all its issues. */
export function unwrap<T>(parsed: Parsed<T>): T {
  if (parsed.issues) throw new IpamError("invalid", parsed.issues);
  return parsed.value;
}

/** Code-unit order: the same in every locale. */
export function byCodeUnit(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
