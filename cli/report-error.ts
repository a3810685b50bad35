import { advised } from "../core/advice.ts";
import { codes, formatIssue, IpamError } from "../core/errors.ts";
import { paint, plain, progress } from "./terminal.ts";

/** Prints an error as one block each and returns the exit status. An error that is not ours is our bug: 1, with its stack. */
export function reportError(error: unknown): number {
  progress();
  if (!(error instanceof IpamError)) {
    process.stderr.write(`${paint("red", "bug:")} ${error instanceof Error ? error.stack : String(error)}\n`);
    return 1;
  }
  for (const issue of error.issues) {
    const text = formatIssue(advised(issue, "commandLine")).split("\n").map(plain).join("\n");
    process.stderr.write(`${paint("red", `${error.code}:`)} ${text}\n`);
  }
  return codes[error.code].exit;
}
