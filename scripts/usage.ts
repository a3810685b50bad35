/** Prints the help of a script and exits, if the first argument asks for it or is an unknown option. */
export function checkUsage([first = ""]: readonly string[], help: string): void {
  if (!first.startsWith("-")) return;
  const isHelp = first === "--help" || first === "-h";
  if (isHelp) console.log(help);
  else console.error(`unknown option ${first}\n\n${help}`);
  process.exit(isHelp ? 0 : 1);
}
