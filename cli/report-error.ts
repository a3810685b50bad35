import { CommanderError } from "commander";
import { advised } from "../core/advice.ts";
import { codes, formatIssue, IpamError } from "../core/errors.ts";
import { isTyped } from "./argv.ts";
import { paint, plain, printJson, progress } from "./terminal.ts";

const inDocument = new WeakSet<Error>();

/** An error as part of the JSON document that a verb prints before it fails: it is not printed in one of its own. */
export function errorJson(error: IpamError) {
  inDocument.add(error);
  return { code: error.code, issues: error.issues.map((issue) => advised(issue, "commandLine")) };
}

/**
 * Prints an error on standard error, one block for each issue, and with `--json` as a document on standard output. Returns the
 * exit status. An error that is not ours is our bug: 1, with its stack. With `--detailed-exitcode` every error is 1.
 */
export function reportError(error: unknown): number {
  progress();
  const status = statusOf(error);
  if (status === 0) return status;
  if (isTyped("--json") && !(error instanceof Error && inDocument.has(error))) printJson({ error: jsonOf(error) });
  if (error instanceof IpamError)
    for (const issue of error.issues) {
      const text = formatIssue(advised(issue, "commandLine")).split("\n").map(plain).join("\n");
      process.stderr.write(`${paint("red", `${error.code}:`)} ${text}\n`);
    }
  else if (!(error instanceof CommanderError))
    process.stderr.write(`${paint("red", "bug:")} ${error instanceof Error ? error.stack : String(error)}\n`);
  return isTyped("--detailed-exitcode") ? 1 : status;
}

/** Commander itself prints what is wrong with a command line; its status 0 is that of `--help`. */
function statusOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : codes.invalid.exit;
  return error instanceof IpamError ? codes[error.code].exit : 1;
}

function jsonOf(error: unknown) {
  if (error instanceof IpamError) return errorJson(error);
  const message = error instanceof Error ? error.message : String(error);
  const isUsage = error instanceof CommanderError;
  return {
    code: isUsage ? "invalid" : "bug",
    issues: [{ message: isUsage ? message.replace(/^error: /, "") : message }],
  };
}
