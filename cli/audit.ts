import {
  audit,
  clusterSet,
  codes,
  formatBlock,
  formatPlace,
  IpamError,
  importedSet,
  isPlanned,
  nodeNameOf,
  nodeOwner,
  ownerOfKey,
  type Pool,
  type Snapshot,
  type Use,
  usedIn,
} from "../core/index.ts";
import { definedPools } from "../pipeline/defined-pools.ts";
import { findUses } from "../pipeline/find-uses.ts";
import { OwnerNames } from "../pipeline/owner-names.ts";
import { NicNames, nicOfLine } from "../schema/findings.ts";
import type { ClusterNode, Evidence, SourceFile } from "../schema/index.ts";
import { type AuditFinding, auditHistory } from "./audit-history.ts";
import { poolsOfCluster } from "./cluster.ts";
import { exists, readDeployed, readFile, readInputs, realPath } from "./files.ts";
import type { Accepted } from "./history/released.ts";
import { isLockfile, isToBegin, openState, type StateOptions } from "./state.ts";
import { paint, plural, print, printJson } from "./terminal.ts";
import { readNodesOf } from "./workspace.ts";

export interface AuditOptions extends StateOptions, Accepted {
  readonly set: string;
  readonly nodes?: string;
  readonly pools?: string;
  /** Where pools are defined that are not there. */
  readonly manifests: string;
  readonly json?: boolean;
}

/** Findings are what the verb is asked for, so they are its output and no error: only the exit status tells of them. */
export async function auditVerb(paths: readonly string[], options: AuditOptions): Promise<void> {
  const inputs = [...paths, options.nodes, options.pools].filter((input) => input === "-");
  if (inputs.length > 1) throw new IpamError("invalid", "only one input can come from standard input");
  const path = paths.join(", ");
  const files = await readAll(paths);
  const nodes = options.nodes === undefined ? [] : await readNodesOf(options.nodes);
  const snapshot = await (await openState(options)).read();
  const { pools, set } = await readPools(path, files, snapshot, options);
  const shown = findUses(files, pools, nodes);
  const known = [...snapshot.allocations, ...snapshot.releasing].map(nicOfLine);
  const called = NicNames.of(shown.names, await namesFor(shown, known, nodes, options)).calledAs([
    ...known,
    ...shown.uses,
  ]);
  const names = OwnerNames.of(snapshot);
  const [uses, elsewhere] = [shown.uses, shown.elsewhere].map((some) => some.map(called).map(names.resolve)) as [
    Use[],
    Use[],
  ];
  const reports = names.reports(shown.nodes);
  if (uses.length + elsewhere.length + reports.size === 0) refuseNothingUsed(path, pools, snapshot);
  const existing = nodes.length === 0 ? {} : { owners: ownersOf(nodes, snapshot) };
  const placed = isLockfile(options) ? placesIn(options.lock) : (finding: AuditFinding) => finding;
  const owners = new Set(reports.keys());
  const shows = { owners, sets: new Set([set, ...setsShown(snapshot, uses, owners)]) };
  const history = auditHistory(snapshot, options, nodes);
  const all = [...history, ...audit({ pools, snapshot, uses, elsewhere, shows, ...existing })];
  const found = all.filter((finding) => (finding.set ?? set) === set).map(placed);
  const notes = found.length > 0 ? noLockNote(options) : [];
  const checked = countChecked(pools, snapshot, uses);
  if (options.json) printJson({ checked, findings: found.map(findingJson), notes });
  else
    print(
      ...found.map(findingLine),
      ...notes,
      `${plural(checked, "address")} checked, ${plural(found.length, "finding")}${othersIn(all.length - found.length)}`,
    );
  if (found.length > 0) process.exitCode = codes.stale.exit;
}

/** All that is named, each file once, whatever ways lead to it. */
async function readAll(paths: readonly string[]): Promise<SourceFile[]> {
  const files = new Map<string, SourceFile>();
  for (const path of paths)
    for (const file of await readDeployed(path)) {
      const real = realPath(file.label ?? file.path);
      if (!files.has(real)) files.set(real, file);
    }
  return [...files.values()];
}

/** Of what nothing uses, nothing can be said: a folder that was not rendered, or another one. */
function refuseNothingUsed(path: string, pools: readonly Pool[], { allocations }: Snapshot): void {
  const names = new Set(pools.map((pool) => pool.name));
  if (!allocations.some((line) => names.has(line.pool))) return;
  throw new IpamError("invalid", `nothing in ${path} uses any address`, {
    hint: "Name what render has written, or what nodes report: kubectl get nns -o json.",
  });
}

/**
 * The pools that the record is for: where the controller allocates, the lock is not. Its own record is for those of the
 * cluster, and for its own claim set.
 */
async function readPools(
  path: string,
  files: readonly SourceFile[],
  snapshot: Snapshot,
  options: AuditOptions,
): Promise<{ readonly pools: readonly Pool[]; readonly set: string }> {
  const defined =
    options.pools === undefined ? poolsFor(files, snapshot, options) : readInputs(options.pools).then(definedPools);
  const pools = (await defined).filter(isPlanned);
  if (pools.length > 0) return { pools, set: options.set };
  const inCluster = isLockfile(options) ? [] : await poolsOfCluster(options);
  if (inCluster.length > 0) return { pools: inCluster.map(({ pool }) => pool), set: clusterSet };
  throw new IpamError("invalid", `no pool of authority Plan is defined in ${options.pools ?? path}`, {
    hint: "Say where the pools are defined: --pools MANIFESTS.",
  });
}

/** The pools that files define; where the claim set has addresses of others, or there are none, those of the manifests, too. */
async function poolsFor(
  files: readonly SourceFile[],
  { allocations }: Snapshot,
  { set, manifests }: AuditOptions,
): Promise<readonly Pool[]> {
  const there = definedPools(files);
  const names = new Set(there.map(({ name }) => name));
  const isWhole = there.length > 0 && allocations.every((line) => line.set !== set || names.has(line.pool));
  if (isWhole || !exists(manifests)) return there;
  return [...there, ...definedPools(await readInputs(manifests)).filter(({ name }) => !names.has(name))];
}

/**
 * The names that policies give to NICs, where one of `known` is in none of the files: a node's report may have the MAC address
 * of a NIC, and only the policy the name that the record has.
 */
async function namesFor(
  { uses, names }: Pick<Evidence, "uses" | "names">,
  known: readonly ReturnType<typeof nicOfLine>[],
  nodes: readonly ClusterNode[],
  { pools, manifests }: AuditOptions,
): Promise<NicNames> {
  const path = pools ?? manifests;
  const called = uses.map(names.calledAs(known));
  const shown = new Set(called.map(({ owner, interface: nic }) => `${owner} ${nic}`));
  const owners = new Set(uses.map(({ owner }) => owner));
  const isUnknown = known.some(({ owner, interface: nic }) => owners.has(owner) && !shown.has(`${owner} ${nic}`));
  return isUnknown && path !== "-" && exists(path) ? findUses(await readInputs(path), [], nodes).names : new NicNames();
}

/**
 * The claim sets of which manifests give an owner its address. A node's own report (of `reports`) is of that node alone,
 * whatever the set.
 */
function setsShown({ allocations }: Snapshot, uses: readonly Use[], reports: ReadonlySet<string>): string[] {
  const given = uses.filter(({ owner }) => owner !== undefined && !reports.has(owner));
  const known = new Set(given.map(({ owner, address }) => `${owner} ${address}`));
  return allocations
    .filter(({ claim, address, set }) => set !== importedSet && known.has(`${ownerOfKey(claim)} ${address}`))
    .map(({ set }) => set);
}

function othersIn(count: number): string {
  return count === 0 ? "" : `, ${count} more of other claim sets (--set NAME)`;
}

function noLockNote(options: StateOptions): string[] {
  if (!isToBegin(options)) return [];
  return [`Note: there is no ${options.lock} here, so no address counts as recorded. Name the lock: --lock FILE.`];
}

/** The nodes; of owners of other kinds nothing is known, so those on record are taken to exist. */
function ownersOf(nodes: readonly ClusterNode[], { allocations }: Snapshot): Set<string> {
  const others = allocations.map((line) => ownerOfKey(line.claim)).filter((owner) => nodeNameOf(owner) === undefined);
  return new Set([...nodes.map(({ name }) => nodeOwner(name)), ...others]);
}

/** Gives findings about a line of the lock its place. */
function placesIn(lock: string): (finding: AuditFinding) => AuditFinding {
  const numbers = new Map<string, number>();
  (exists(lock) ? readFile(lock) : "").split("\n").forEach((text, i) => {
    const start = /^- \{"address":"[^"]*","pool":"[^"]*"/.exec(text)?.[0];
    if (start !== undefined) numbers.set(start, i + 1);
  });
  return (finding) => {
    if (finding.line === undefined) return finding;
    const start = `- {"address":"${formatBlock(finding.line)}","pool":"${finding.line.pool}"`;
    return { ...finding, at: { file: lock, line: numbers.get(start) ?? 1, column: 1 } };
  };
}

function countChecked(pools: readonly Pool[], { allocations, releasing }: Snapshot, uses: readonly Use[]): number {
  const names = new Set(pools.map((pool) => pool.name));
  const recorded = [...allocations, ...releasing].filter((line) => names.has(line.pool)).map((line) => line.address);
  return new Set([...usedIn(pools, uses), ...recorded]).size;
}

function findingLine({ kind, message, at }: AuditFinding): string {
  const place = at === undefined ? "" : `${formatPlace(at)}: `;
  return `${place}${paint("red", `${kind}:`)} ${message}`;
}

function findingJson({ kind, address, line, message, at }: AuditFinding) {
  const about = line ?? (address === undefined ? undefined : { address });
  return { kind, ...(about && { address: formatBlock(about) }), message, at };
}
