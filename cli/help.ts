import type { Command } from "commander";

/** Two examples for each verb, and for the program itself (""). */
export const examples: Readonly<Record<string, readonly [string, string]>> = {
  "": ["nodeippool plan", "nodeippool plan --help"],
  plan: ["nodeippool plan", "kustomize build . | nodeippool plan - --nodes nodes.txt"],
  allocate: ["nodeippool allocate", "nodeippool allocate -- npx cdk8s synth"],
  render: ["nodeippool render --out rendered", "kustomize build . | nodeippool render - --nodes nodes.txt"],
  fmt: ["nodeippool fmt", "nodeippool fmt infra.yaml"],
  release: ["nodeippool release --evidence nns.json", "nodeippool release node04 --confirm"],
  mv: ["nodeippool mv Node/node04 Node/node09", "nodeippool mv uplink --set network --to-set storage"],
  audit: ["nodeippool audit rendered", "nodeippool audit nns.json --pools manifests"],
  explain: ["nodeippool explain 10.10.10.8", "nodeippool explain traffic-1 --offset 251"],
  show: ["nodeippool show traffic-1", "nodeippool show --svg pools.svg"],
  diff: ["nodeippool diff main", "nodeippool diff HEAD~1 --markdown"],
  import: ["nodeippool import nns.json", "nodeippool import addresses.csv manifests --nodes nodes.txt"],
  merge: ["nodeippool merge --install", "nodeippool merge %O %A %B"],
  migrate: ["nodeippool migrate kubernetes --namespace network", "nodeippool migrate lockfile --namespace network"],
  controller: ["nodeippool controller --context prod --namespace nodeippool", "nodeippool controller"],
  detect: ["nodeippool detect 10.30.0.10", "nodeippool detect --checks gateway --gateway 10.30.0.1"],
  completion: ["source <(nodeippool completion bash)", "source <(nodeippool completion zsh)"],
  version: ["nodeippool version", "nodeippool --version"],
};

/** What each exit status means. */
export const exitStatuses: Readonly<Record<number, string>> = {
  0: "fine",
  1: "a bug of nodeippool",
  2: "invalid input",
  3: "the plan is refused: no free address, one in use, or a large release",
  4: "conflict",
  5: "drift, stale or corrupt state",
  6: "unavailable",
};

/** Ends the help of the program and of every verb: two examples, the exit statuses, where the documentation is. */
export function addHelpEnd(program: Command): void {
  for (const command of [program, ...program.commands]) {
    const own = examples[command === program ? "" : command.name()] ?? [];
    const statuses = Object.entries(exitStatuses).map(([status, means]) => `  ${status}  ${means}`);
    const documentation = "Documentation: docs/command-line.md in the package nodeippool";
    const lines = [
      "",
      "Examples:",
      ...own.map((example) => `  ${example}`),
      "",
      "Exit status:",
      ...statuses,
      "",
      documentation,
    ];
    command.addHelpText("after", lines.join("\n"));
  }
}
