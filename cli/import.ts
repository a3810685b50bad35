import {
  type Address,
  type Allocation,
  audit,
  BlockIndex,
  type Claim,
  checkSet,
  contains,
  describeUse,
  formatAddress,
  formatBlock,
  formatOwner,
  howToKeep,
  IpamError,
  type Issue,
  importedSet,
  isNoop,
  nodeNameOf,
  nodeOwner,
  ownerName,
  ownerOfKey,
  type Plan,
  type Pool,
  planImport,
  type Snapshot,
  type Use,
} from "../core/index.ts";
import { readEvidence } from "../pipeline/evidence.ts";
import { noConflicts } from "../pipeline/guards.ts";
import { freeOnce, tellsAddresses } from "../pipeline/integrations.ts";
import { LikeNames } from "../pipeline/like-names.ts";
import { askersIn, OwnerNames } from "../pipeline/owner-names.ts";
import { NicNames, nicOfLine } from "../schema/findings.ts";
import type { ClusterNode, Evidence, SourceFile } from "../schema/index.ts";
import { didYouMean } from "../schema/nearest.ts";
import { hostnameLabel } from "../schema/node.ts";
import { applyPlan } from "../state/apply.ts";
import { readDeployed } from "./files.ts";
import { planJson } from "./json.ts";
import { missed, refuseOtherNics } from "./missed.ts";
import { reportPlan } from "./report-plan.ts";
import { openToPlan, record } from "./state.ts";
import { fewOf, plural, print, printJson } from "./terminal.ts";
import { type PlanningOptions, proposeFor, readWorkspace } from "./workspace.ts";

export interface ImportOptions extends PlanningOptions {
  /** Show what it would record, and write nothing. */
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

export async function importVerb(evidence: string, path: string, options: ImportOptions): Promise<void> {
  if (evidence === "-" && (path === "-" || options.nodes === "-"))
    throw new IpamError("invalid", "the evidence and another input cannot both come from standard input");
  checkSet(options.set);
  const workspace = await readWorkspace(path, options);
  const { nodes, desired } = workspace;
  const { pools, claims } = desired;
  const files = await readShowing(evidence);
  const state = await openToPlan(options);
  const snapshot = await state.read();
  const asking = claims.map(({ owner, pool }) => ({ owner: formatOwner(owner), pool }));
  const owners = new OwnerNames(pools, [...asking, ...askersIn(snapshot)]);
  const read = files.map((file) => readEvidence(file, nodes, owners));
  const found = named(read, nodes, owners, pools);
  if (found.length === 0 && read.every((one) => one.nodes.size === 0))
    throw new IpamError("invalid", `${evidence} shows nobody's addresses`, {
      hint: "Evidence comes first, the manifests second: nodeippool import nns.json manifests.",
    });
  refuseUnknownPools(found, pools);
  const names = NicNames.of(desired.names(), ...read.map((one) => one.names));
  const uses = found.map(names.calledAs([...claims.map(nicOfClaim), ...snapshot.allocations.map(nicOfLine)]));
  const refusal = noConflicts(proposeFor(workspace, snapshot, options));
  if (refusal !== undefined) throw refusal;
  const proposed = planImport({ pools, claims, snapshot, uses, set: options.set });
  const after = applyPlan(snapshot, proposed) ?? snapshot;
  refuseOtherNics(claims, uses, pools, after);
  if (!options.dryRun && !isNoop(proposed)) await record(state, proposed);
  const passed = passedOver(uses, after);
  if (options.json)
    return printJson({ ...planJson(proposed), ignored: passed.ignored.length, temporary: passed.temporary.length });
  print(...reportPlan(proposed, pools, snapshot), ...missed(claims, read, uses, after));
  print(
    ...passedNotes(passed, pools),
    ...dynamicNotes(proposed, uses),
    ...prefixNotes(pools, after, uses),
    ...absentNotes(proposed, nodes),
  );
  const done = options.dryRun ? `Dry run: nothing recorded in ${state.name}.` : `Recorded in ${state.name}.`;
  print(isNoop(proposed) ? "Nothing to record." : done);
}

/** A file; of a folder, those that say what nodes have. */
async function readShowing(path: string): Promise<SourceFile[]> {
  const files = await readDeployed(path);
  const showing = files.filter((file) => tellsAddresses(file.text));
  const chosen = files.length === 1 ? files : showing;
  if (chosen.length === 0)
    throw new IpamError("invalid", `no file in ${path} shows a node's addresses`, {
      hint: "A list (CSV) or a ConfigMap of addresses is given by its own name, not by its folder's.",
    });
  return chosen;
}

function nicOfClaim({ owner, interface: nic }: Claim) {
  return { owner: formatOwner(owner), interface: nic };
}

/** Uses by node name: a hostname label stands for its node. A node that neither the nodes nor its own report knows is refused. */
function named(
  read: readonly Evidence[],
  nodes: readonly ClusterNode[],
  owners: OwnerNames,
  pools: readonly Pool[],
): Use[] {
  const reporting = new Set(read.flatMap((one) => [...one.nodes.keys()]));
  const names = new Map([
    ...nodes.map(({ name, labels }) => [labels.get(hostnameLabel) ?? name, name] as const),
    ...nodes.map(({ name }) => [name, name] as const),
  ]);
  const like = new LikeNames(names.keys());
  const issues = new Map<string, Issue>();
  const known = read
    .flatMap(({ uses }) => uses)
    .map((use) => {
      const meant = owners.meant(use);
      const why = owners.whyNobody(use);
      if (why !== undefined) {
        issues.set(`${use.owner} ${use.interface} ${use.address}`, { message: why, at: use.at });
        return use;
      }
      if (meant.length > 1) issues.set(`${use.owner}`, unclear(use, meant, owners));
      // A unit and a host, as somebody may call one: the kinds of owners have a capital.
      if (/^[a-z0-9]/.test(use.owner ?? ""))
        issues.set(`${use.owner}`, { message: `nobody is called ${use.owner}`, at: use.at });
      const node = nodeNameOf(use.owner ?? "");
      if (meant.length > 1 || node === undefined || reporting.has(nodeOwner(node))) return use;
      // A record of addresses may name nodes that are not there yet; and of a block that was given, pods may have addresses still.
      if (use.pool !== undefined && (nodes.length === 0 || use.length !== undefined)) return use;
      const name = names.get(node);
      if (name !== undefined) return { ...use, owner: nodeOwner(name) };
      issues.set(node, unknown(node, use, owners, pools, like.like(node)));
      return use;
    });
  if (issues.size > 0) throw new IpamError("invalid", [...issues.values()]);
  return known;
}

function unknown(node: string, use: Use, owners: OwnerNames, pools: readonly Pool[], meant?: string): Issue {
  const pool = pools.find(({ range }) => contains(range, use.address));
  const isVm = use.listed === "VM" || (use.listed !== undefined && owners.hasNics(use));
  const who = isVm ? "VMs that ask for addresses" : "nodes";
  const besides = isVm || pool?.words === undefined ? "" : `, and nobody of ${pool.name} is called so`;
  const keep = pool === undefined ? "reserve its address in the pool" : howToKeep(pool);
  return {
    message: `${node} is not among the ${who}${besides}${meant === undefined ? "" : `; did you mean ${meant}?`}`,
    at: use.at,
    hint: `If it is no ${isVm ? "VM of these manifests" : "node"}, ${keep}, and leave this line out.`,
  };
}

function unclear({ owner = "", at, listed }: Use, meant: readonly string[], owners: OwnerNames): Issue {
  const message = `${nodeNameOf(owner) ?? owner} may be ${meant.join(" or ")}`;
  const name = listed === undefined ? meant[0] : owners.inLists(`${meant[0]}`);
  return { message, at, hint: `Write which one it is: ${name}, say.` };
}

function refuseUnknownPools(uses: readonly Use[], pools: readonly Pool[]): void {
  const names = new Set(pools.map(({ name }) => name));
  const unknown = new Map(
    uses.flatMap(({ pool, at }) => (pool === undefined || names.has(pool) ? [] : [[pool, at] as const])),
  );
  const issues = [...unknown].map(
    ([pool, at]): Issue => ({
      message: `pool ${JSON.stringify(pool)} is not defined${didYouMean(pool, names)}`,
      at,
      hint: "Put what defines it among the manifests: a NodeIPPool, or the NetworkAttachmentDefinition of that network.",
    }),
  );
  if (issues.length > 0) throw new IpamError("invalid", issues);
}

/** What nodes have, and an import does not record: from DHCP or SLAAC alone; what no pool hands out. */
function passedOver(uses: readonly Use[], { allocations, releasing }: Snapshot) {
  const lasting = new Set(uses.filter((use) => !use.isTemporary).map((use) => use.address));
  const recorded = new BlockIndex([...allocations, ...releasing]);
  return {
    temporary: [...new Set(uses.map((use) => use.address))].filter((address) => !lasting.has(address)),
    ignored: [...lasting].filter((address) => recorded.at({ address }).length === 0),
  };
}

function passedNotes({ temporary, ignored }: ReturnType<typeof passedOver>, pools: readonly Pool[]): string[] {
  const poolOf = (address: Address) => pools.find((pool) => contains(pool.automatic, address));
  const few = (addresses: readonly Address[]) => fewOf(addresses.map(formatAddress));
  const free = temporary.filter((address) => poolOf(address) !== undefined);
  const keep = free.slice(0, 1).map((address) => howToKeep(poolOf(address) ?? {}));
  return [
    ...(temporary.length > 0 ? [`${plural(temporary.length, "address")} of DHCP or SLAAC passed over.`] : []),
    ...(free.length > 0
      ? [`Note: allocate may give ${few(free)} to a node, and DHCP or SLAAC to another one: ${keep}`]
      : []),
    ...(ignored.length > 0
      ? [`${plural(ignored.length, "other address")} passed over, as no pool hands them out: ${few(ignored)}`]
      : []),
  ];
}

/** What was recorded although a DHCP server, or SLAAC, may have given it: that goes on to give it away. */
function dynamicNotes({ assign }: Plan, uses: readonly Use[]): string[] {
  const recorded = new BlockIndex(assign);
  const found = uses.filter((use) => use.mayBeTemporary && recorded.at(use).length > 0);
  if (found.length === 0) return [];
  const which = fewOf(found.map((use) => `${formatAddress(use.address)} of ${describeUse(use)}`));
  return [`Note: may be from DHCP or SLAAC, which is on for the NIC: ${which}. Exclude it in the DHCP server`];
}

/** What was recorded for nodes that are not there: nobody else gets it, and no plan releases it. */
function absentNotes({ assign }: Plan, nodes: readonly ClusterNode[]): string[] {
  const there = new Set(nodes.map(({ name }) => name));
  const isAbsent = ({ claim }: Allocation) => !there.has(nodeNameOf(ownerOfKey(claim)) ?? "");
  const absent = nodes.length === 0 ? [] : assign.filter((line) => line.set === importedSet && isAbsent(line));
  return absent.map((line) => {
    const once = freeOnce(line) ?? "it is no longer in use";
    const isNode = nodeNameOf(ownerOfKey(line.claim)) !== undefined;
    return `Note: ${ownerName(line.claim)} ${isNode ? "is not among the nodes" : "asks for nothing here"}, and keeps ${formatBlock(line)}. Once ${once}: nodeippool release ${formatBlock(line)} --confirm`;
  });
}

/** Recorded addresses that their nodes have with another prefix length than the pool's. */
function prefixNotes(pools: readonly Pool[], snapshot: Snapshot, uses: readonly Use[]): string[] {
  const wrong = audit({ pools, snapshot, uses }).filter(({ kind }) => kind === "wrong-prefix");
  return wrong.map(({ message }) => `Note: ${message}: render will write that one`);
}
