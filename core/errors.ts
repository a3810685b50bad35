/** Where in a user's text something stands; lines and columns count from 1, and are 0 where it is an object of a program. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** What would help, as data: the thing to do, and with what. Each surface has its own words for it (advice.ts). */
export type Remedy =
  /** Declare that claims of this name have that one now, all or those of one owner, or allow the move. */
  | readonly ["rename", from: string, to: string, owner?: string]
  /** Declare that an owner has another name now, or allow the move. */
  | readonly ["rename-owner", from: string, to: string]
  /** Declare that all of a policy, or of an owner that is no node, came from one claim set to the other. */
  | readonly ["to-set", name: string, from: string, to: string]
  /** Allow owners to move, or a plan that releases much. */
  | readonly ["allow", "move" | "release"]
  /** Free addresses that are releasing. */
  | readonly ["release"]
  /**
   * Record the plan; that merges a record in conflict as well. `landed`: as the revision says that is in force; `init`: in a
   * new record beside another one.
   */
  | readonly ["record", how?: "landed" | "init"]
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
  const place = issue.at ? `${formatPlace(issue.at)}: ` : "";
  const hint = issue.hint ? `\n  ${issue.hint}` : "";
  return `${place}${issue.message}${hint}`;
}

/** `file:line:column`, or what the file alone is called where it has no lines. */
export function formatPlace({ file, line, column }: Place): string {
  return line === 0 ? file : `${file}:${line}:${column}`;
}

/** The place of an issue, where it is known. */
export function placed(at: Place | undefined): Pick<Issue, "at"> {
  return at === undefined ? {} : { at };
}

/** Where the other one of two objects stands, as the end of a message: `; NAME is in FILE:LINE:COLUMN`. Empty where that is no text. */
export function besidesAt(name: string, at: Place | undefined): string {
  return at === undefined || at.line === 0 ? "" : `; ${name} is in ${formatPlace(at)}`;
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
