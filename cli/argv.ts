/** The command that this command line runs: what follows `--`. */
export function afterDashes(): string[] {
  const dashes = process.argv.indexOf("--");
  return dashes < 0 ? [] : process.argv.slice(dashes + 1);
}
