/** The command that this command line runs: what follows `--`. */
export function afterDashes(): string[] {
  const dashes = process.argv.indexOf("--");
  return dashes < 0 ? [] : process.argv.slice(dashes + 1);
}

/** Whether a flag is on the command line, also on one that cannot be parsed; flags of the command after `--` do not count. */
export function isTyped(flag: string): boolean {
  const dashes = process.argv.indexOf("--");
  return process.argv.slice(2, dashes < 0 ? undefined : dashes).includes(flag);
}
