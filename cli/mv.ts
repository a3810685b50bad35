import {
  type Allocation,
  formatOwner,
  IpamError,
  importedSet,
  nameOfKey,
  namingOf,
  ownerOfKey,
  type Plan,
  parseOwner,
  planRename,
  type Snapshot,
  shellWord,
  unwrap,
} from "../core/index.ts";
import { hostOfClaim, titleOfHost } from "../integrations/metal3/infra.ts";
import { hostNameIssue } from "../integrations/metal3/parse-unit.ts";
import { policyNameIssue } from "../integrations/nmstate/policy.ts";
import { nameIssue } from "../schema/names.ts";
import { isCaptureName } from "../schema/template.ts";
import { refuseAmbiguous } from "./ambiguous.ts";
import { changeLines } from "./report-plan.ts";
import { openState, record, type StateOptions } from "./state.ts";
import { plural, print } from "./terminal.ts";

interface Options extends StateOptions, Sets {
  readonly dryRun?: boolean;
}

interface Sets {
  readonly set: string;
  readonly toSet?: string;
}

/** Without a new name the old one stays. */
export async function mvVerb(from: string, to: string | undefined, options: Options): Promise<void> {
  const { set, toSet } = options;
  if (to === undefined && toSet === undefined)
    throw new IpamError("invalid", `say what ${from} is called now`, {
      hint: `Its new name, or the claim set that it goes to: nodeippool mv ${shellWord(from)} --to-set NAME`,
    });
  const state = await openState(options);
  const snapshot = await state.read();
  const plans = renames(snapshot, from, to ?? from, options).map(([old, now]) =>
    planRename(snapshot, old, now, set, toSet),
  );
  const proposed = { ...(plans[0] as Plan), keep: plans.flatMap(({ keep }) => keep) };
  for (const { allocation, was } of proposed.keep) refuseName(was?.claim ?? allocation.claim, allocation.claim);
  if (options.dryRun) return print(...changeLines(proposed), "Dry run: nothing was recorded.");
  await record(state, proposed);
  print(
    ...changeLines(proposed),
    `${toSet === undefined ? "Renamed" : "Moved"} ${plural(proposed.keep.length, "claim")} in ${state.name}; no address moved.`,
  );
}

/** What is renamed, each with its names in full: a unit of hosts stands for all of them, where nothing else is called so. */
function renames(snapshot: Snapshot, from: string, to: string, sets: Sets): [string, string][] {
  const lines = linesOf(snapshot, sets);
  const isNamed = lines.some((line) => namingOf(line, from) !== undefined);
  const hosts = lines.flatMap(({ claim }) => hostOfClaim(claim) ?? []).filter(({ unit }) => unit === from);
  const names = new Set(isNamed ? [] : hosts.map(({ host }) => host));
  if (names.size === 0) return [inFull(lines, from, to)];
  return [...names].map((host) => [titleOfHost(from, host), titleOfHost(to, host)]);
}

function linesOf({ allocations, releasing }: Snapshot, { set }: Sets): Allocation[] {
  return [...allocations, ...releasing].filter((line) => [set, importedSet].includes(line.set));
}

/**
 * The names in full where the old one is that of an owner without its kind (`w03`: `Node/w03`). Throws `invalid` where it
 * names several things.
 */
function inFull(lines: readonly Allocation[], from: string, to: string): [string, string] {
  for (const { claim } of lines) if (hostOfClaim(claim) && nameOfKey(claim) === from) refuseNetwork(from, to);
  refuseAmbiguous(from, lines);
  const line = lines.find((one) => namingOf(one, from) === "owner");
  if (line === undefined) return [from, to];
  const first = ownerOfKey(line.claim);
  const owner = unwrap(parseOwner(first));
  return [first, to.includes("/") ? to : formatOwner({ ...owner, name: to })];
}

/** Throws `invalid` for a node, host, policy or capture that nothing can be called: the next plan would move who has its addresses. */
function refuseName(from: string, to: string): void {
  const { kind, name } = parseOwner(ownerOfKey(to)).value ?? {};
  const host = kind === "Host" && name !== undefined ? hostNameIssue(name) : undefined;
  if (host !== undefined) throw new IpamError("invalid", `the name of a host: ${host}`);
  if (kind === "Host") refuseNetwork(nameOfKey(from), nameOfKey(to));
  if (kind !== "Node") return;
  const node = ownerOfKey(from) === ownerOfKey(to) ? undefined : nameIssue(name);
  if (node !== undefined) throw new IpamError("invalid", `the name of a node ${node}`);
  const [old, now] = [nameOfKey(from), nameOfKey(to)];
  const issue = old === now || claimIssue(old) ? undefined : claimIssue(now);
  if (issue === undefined) return;
  throw new IpamError("invalid", issue);
}

/** The lines of a host are in the pool of its network, whatever they are called. */
function refuseNetwork(from: string, to: string): void {
  if (from === to) return;
  throw new IpamError("invalid", `${from} is a network, whose hosts have addresses of it; mv renames hosts and units`, {
    hint: `Call it ${from} in the file, as before.`,
  });
}

/** Claims of nodes are those of policies, unless a program chose their names. */
function claimIssue(name: string): string | undefined {
  const [policy, capture = "", ...rest] = name.split("/");
  const issue = policyNameIssue(policy);
  if (issue !== undefined) return `the name of a policy ${issue}`;
  return isCaptureName(capture) && rest.length === 0
    ? undefined
    : `expected POLICY/CAPTURE, got ${JSON.stringify(name)}`;
}
