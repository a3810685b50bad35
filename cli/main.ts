import { createRequire, enableCompileCache } from "node:module";
import { Argument, Command, Option } from "commander";
import { afterDashes } from "./argv.ts";
import { addControllerOptions } from "./controller-options.ts";
import { addHelpEnd } from "./help.ts";
import { reportError } from "./report-error.ts";
import { outputLost, print } from "./terminal.ts";

enableCompileCache();

// Verbs load on use: `--help` needs nothing but this file.
const program = new Command("nodeippool")
  .description("Static IP addresses for cluster nodes, decided at plan time.")
  .version(version())
  .showHelpAfterError("Run nodeippool --help for the verbs, nodeippool VERB --help for one of them.")
  .exitOverride();

const manifests =
  "folder or file of manifests; - is standard input; default: manifests/ or infra.yaml if it exists, else this folder";

/** A verb that reads the record. */
function withState(verb: Command): Command {
  return verb
    .option("--lock <file>", "the lockfile", "nodeippool.lock")
    .addOption(new Option("--backend <name>", "where the record is").choices(["lockfile", "kubernetes"]))
    .option("--context <name>", "with --backend kubernetes: context of the kubeconfig")
    .option(
      "--namespace <name>",
      "with --backend kubernetes: where its ConfigMaps are; default is that of the context",
    );
}

const init = ["--init", "begin the lockfile although the repository has another lock, or ignores this one"] as const;
const released = ["--released <owners>", "node01=10.0.0.5,...: released, though git does not show it"] as const;

/** The manifests define the pools, unless --pools says otherwise. */
function poolsOf<T>(options: T & { manifests: string }): T & { pools: string } {
  return { pools: options.manifests, ...options };
}

/** A verb that reads manifests, nodes and the record. */
function planning(name: string, summary: string): Command {
  return withState(program.command(name))
    .summary(summary)
    .description(summary)
    .option("--nodes <file>", "nodes: a kubectl dump, or a list of names (with labels); - is standard input")
    .option("--set <name>", "claim set; lines of other sets are left alone", "default");
}

planning("plan", "show what allocate would do; reads only")
  .argument("[manifests]", manifests)
  .option(...init)
  .option("--allow-move", "let nodes lose an address and get another one of the same pool")
  .option(...released)
  .option("--detailed-exitcode", "exit status as Terraform's: 0 no changes, 2 changes, 1 any error")
  .option("--json", "print JSON and nothing else")
  .action(async (path, options) => (await import("./plan.ts")).planVerb(path, options));

planning("allocate", "decide addresses and record them in the lock")
  .argument("[manifests]", manifests)
  .argument("[command...]", "after --: run this, and record what it plans if it succeeds")
  .usage("[options] [manifests] | [options] -- COMMAND...")
  .option(...init)
  .option("--allow-move", "let nodes lose an address and get another one of the same pool")
  .option(...released)
  .option(
    "--confirm",
    "release addresses although nodes and policies are still there, or many at once, or leave them on an old NIC",
  )
  .option("--landed <rev>", "after a merge: the git revision whose lines keep their addresses")
  .option("--json", "print JSON and nothing else")
  .action(async (path, _command, options) => {
    const command = afterDashes();
    if (command.length === 0) return (await import("./allocate.ts")).allocateVerb(path, options);
    return (await import("./allocate-around.ts")).allocateAround(command, path, options);
  });

planning("render", "write manifests with literal addresses; fails if the lock does not cover them")
  .argument("[manifests]", manifests)
  .option("--out <folder>", "write here; - is standard output, the default where [manifests] is given")
  .option("--format <name>", "manifests; or os-net-config: files of bare-metal hosts, with --out", "manifests")
  .action(async (path, options) => (await import("./render.ts")).renderVerb(path, options));

program
  .command("fmt")
  .summary("quote what YAML cannot read without quotes")
  .description(
    "Writes quotes where YAML needs them: around templates, and in hostSelector: key: value. The rest stays.",
  )
  .argument("[manifests]", manifests)
  .action(async (path) => (await import("./fmt.ts")).fmtVerb(path));

withState(program.command("release"))
  .summary("free addresses that are releasing")
  .description(
    "Frees releasing addresses: those named, or with --evidence those that their nodes no longer have. Without either, lists them.",
  )
  .argument("[names...]", "claims, nodes, policies or addresses")
  .option("--evidence <file>", "NodeNetworkState dump: kubectl get nns -o json; - is standard input")
  .option("--confirm", "you know that the nodes no longer use the addresses")
  .option("--dry-run", "show what would be freed; records nothing")
  .action(async (names, options) => (await import("./release.ts")).releaseVerb(names, options));

withState(program.command("mv"))
  .summary("declare a rename; nobody moves")
  .description(
    "Renames claims in the lock: a node, a policy, POLICY/CAPTURE, a unit of hosts, another owner (Kind/name), or a whole claim.",
  )
  .argument("<from>")
  .argument("[to]", "may be left out with --to-set")
  .option("--set <name>", "claim set; lines of other sets are left alone", "default")
  .option("--to-set <name>", "take them to this claim set: a policy that goes to another folder")
  .option("--dry-run", "show what would be renamed; records nothing")
  .action(async (from, to, options) => (await import("./mv.ts")).mvVerb(from, to, options));

planning("audit", "find duplicates, strangers and leaks in any manifests")
  .argument("<files...>", "what is deployed: rendered manifests, NodeNetworkState dumps")
  .option("--pools <manifests>", "where the pools are defined; default: there, else the manifests")
  .option(...released)
  .option("--json", "print JSON and nothing else")
  .action(async (paths, options) => (await import("./audit.ts")).auditVerb(paths, options));

withState(program.command("explain"))
  .summary("say who has an address, what a node has, or what an offset means")
  .description(
    "Explains an address; all that a node, policy or claim has; a pool's offset: nodeippool explain traffic-1 --offset 251; or which pools the pods of a file may have addresses of, and why: nodeippool explain --workload db.yaml.",
  )
  .argument("[what]", "an address, a node, a policy, a claim, or with --offset a pool")
  .option("--workload <file>", "a StatefulSet or Deployment: its pools, in the order in which they are tried")
  .option("--offset <number>", "offset in the pool")
  .option("--nodes <file>", "nodes: a kubectl dump, or a list of names (with labels)")
  .option("--pools <manifests>", "where the pools are defined; default: the manifests")
  .option("--json", "print JSON and nothing else")
  .action(async (what, options) => (await import("./explain.ts")).explainVerb(what, poolsOf(options)));

withState(program.command("show"))
  .summary("draw a map of a pool")
  .description("Draws a pool and lists who holds what.")
  .argument("[pool]", "default: all pools")
  .option("--pools <manifests>", "where the pools are defined; default: the manifests")
  .option("--svg <file>", "draw into an SVG file; - is standard output")
  .option("--configmap <name>", "print a ConfigMap of this name with a line `node: address` under each pool")
  .option("--json", "print JSON and nothing else")
  .action(async (pool, options) => (await import("./show.ts")).showVerb(pool, poolsOf(options)));

program
  .command("diff")
  .summary("compare the lock with a git revision")
  .description("Compares the lock with a git revision.")
  .argument("[revision]", "git revision", "HEAD")
  .option("--lock <file>", "the lockfile", "nodeippool.lock")
  .option("--markdown", "for a pull request")
  .option("--exit-code", "exit status 5 if lines differ")
  .option("--json", "print JSON and nothing else")
  .action(async (revision, options) => (await import("./diff.ts")).diffVerb(revision, options));

planning("import", "record addresses that nodes already have; nothing moves")
  .argument(
    "<evidence>",
    "NodeNetworkStates, NNCPs with literal addresses, IPAMClaims, a ConfigMap of pool and node: address, or CSV: node,interface,address or vm,network,address (vm: name or namespace/name; network: as the VM calls it)",
  )
  .argument("[manifests]", manifests)
  .option(...init)
  .option("--dry-run", "show what it would record; writes nothing")
  .option("--json", "print JSON and nothing else")
  .action(async (evidence, path, options) => (await import("./import.ts")).importVerb(evidence, path, options));

program
  .command("merge")
  .summary("git merge driver for the lock")
  .description("Merges two versions of a lock, line by line, as a git merge driver: nodeippool merge %O %A %B.")
  .argument("[base]")
  .argument("[ours]")
  .argument("[theirs]")
  .option("--install", "set it up in this git repository")
  .action(async (base, ours, theirs, options) => (await import("./merge.ts")).mergeVerb(base, ours, theirs, options));

program
  .command("migrate")
  .summary("move the record to a cluster or to a lockfile")
  .description(
    "Moves the record between the lockfile and ConfigMaps of a cluster. Killed anywhere, the same command goes on.",
  )
  .argument("<to>", "kubernetes or lockfile; the record is in the other one")
  .option(...init)
  .option("--lock <file>", "the lockfile", "nodeippool.lock")
  .option("--context <name>", "context of the kubeconfig")
  .option("--namespace <name>", "where the ConfigMaps are; default is that of the context")
  .action(async (to, options) => (await import("./migrate.ts")).migrateVerb(to, options));

addControllerOptions(program.command("controller"))
  .summary("run in a cluster: keep pools and policies true")
  .description(
    "Gives nodes their addresses in a cluster and keeps NodeIPPools and parked policies true, until it is stopped.",
  )
  .action(async (options) => (await import("./controller.ts")).controllerVerb(options, versions().nodeippool));

program
  .command("detect")
  .summary("in a pod: ask whether another host answers for its addresses")
  .description(
    "Asks the networks of a pod, from inside, whether another host answers for its addresses, and whether gateways answer. Needs arping, ndisc6 and the capability NET_RAW.",
  )
  .argument("[addresses...]", "of the pod; default: all of its NICs but eth0")
  .addOption(
    new Option("--checks <list>", "what to look for: conflict, gateway, or both; default: both").argParser(
      (one: string, others: readonly string[] = []) => [...others, one],
    ),
  )
  .addOption(
    new Option(
      "--gateway <address>",
      "also ask whether this gateway answers; a list, or given several times",
    ).argParser((one: string, others: readonly string[] = []) => [...others, one]),
  )
  .option("--termination-log <file>", "what Kubernetes shows of the pod, if it is there", "/dev/termination-log")
  .action(async (addresses, options) => (await import("./detect.ts")).detectVerb(addresses, options));

program
  .command("version")
  .summary("print the version")
  .description("Prints the versions of nodeippool and of Node.")
  .action(() => print(version()));

// What the scripts of `completion` ask for words: a verb that nobody types.
if (process.argv[2] === "complete") await (await import("./completion.ts")).addComplete(program);
else
  program
    .command("completion")
    .summary("print a script that completes words in your shell")
    .description("Prints the script with which your shell completes verbs, options and names.")
    .addArgument(new Argument("<shell>").choices(["bash", "zsh", "fish", "powershell"]))
    .action(async (shell) => (await import("./completion.ts")).completionVerb(shell));

addHelpEnd(program);

// A verb sees complete options: what is typed, what nodeippool.yaml says, and the usual places.
program.hook("preAction", async (_, verb) => (await import("./settings.ts")).completeOptions(verb));

function versions(): { readonly nodeippool: string; readonly node: string } {
  return { nodeippool: createRequire(import.meta.url)("nodeippool/package.json").version, node: process.versions.node };
}

function version(): string {
  const { nodeippool, node } = versions();
  return `nodeippool ${nodeippool}, Node ${node}`;
}

// Nobody reads on behind a closed pipe (`| head`): the verb does its work all the same, and its status stands.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") process.exit(reportError(outputLost(error)));
});
// What cannot be said there cannot be said at all.
process.stderr.on("error", () => {});

try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = reportError(error);
}
