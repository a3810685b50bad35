import {
  type Address,
  addressAt,
  compareAddresses,
  contains,
  formatAddress,
  formatOwner,
  IpamError,
  isNamedBy,
  lineJson,
  nodeOwner,
  offsetOf,
  ownerName,
  type Pool,
  parseAddress,
  parseOwner,
  rangeOf,
} from "../core/index.ts";
import type { ClusterNode, SourceFile } from "../schema/index.ts";
import { refuseAmbiguous } from "./ambiguous.ts";
import { type Fact, factsAbout, isNear, objectionTo, sentence } from "./pools/fact.ts";
import {
  countJson,
  nearName,
  type PoolOptions,
  type PoolView,
  poolNames,
  readPools,
  viewNamed,
  viewsOf,
} from "./pools/pools.ts";
import { offsetIn } from "./pools/standing.ts";
import { plain, print, printJson } from "./terminal.ts";
import { type Workspace, workspaceOf } from "./workspace.ts";

export interface ExplainOptions extends PoolOptions {
  readonly nodes?: string;
  readonly nodesFound?: boolean;
  readonly offset?: string;
  readonly json?: boolean;
}

export async function explainVerb(what: string, options: ExplainOptions): Promise<void> {
  const { files, pools, snapshot } = await readPools(options);
  const views = viewsOf(pools, snapshot);
  if (options.offset !== undefined) {
    const { address, where } = withOffset(viewNamed(views, what), options.offset);
    return printAddress(address, where, options);
  }
  const { value: address } = parseAddress(what);
  if (address !== undefined) return printAddress(address, views, options);
  const held = factsNamed(what, views);
  if (held.length === 0) return printNode(what, await nodesIn(files, options), views, options);
  const addresses = held.map((fact) => ({ address: formatAddress(fact.address), pools: [factJson(fact)] }));
  if (options.json) printJson({ name: what, addresses });
  else print(...held.map(sentence));
}

/** What manifests and the list of nodes say; undefined where they cannot be read: the record can be explained all the same. */
async function nodesIn(files: readonly SourceFile[], options: ExplainOptions): Promise<Workspace | undefined> {
  try {
    return await workspaceOf(files, options.pools, options);
  } catch (error) {
    if (error instanceof IpamError && error.code === "invalid") return undefined;
    throw error;
  }
}

/** A node that has nothing: what would give it an address, and what does not. Throws `invalid` for what is no node. */
function printNode(
  what: string,
  workspace: Workspace | undefined,
  views: readonly PoolView[],
  { json }: ExplainOptions,
): void {
  const node = workspace?.nodes.find(({ name }) => name === what || nodeOwner(name) === what);
  if (workspace === undefined || node === undefined) throw unknownName(what, workspace?.nodes, views);
  const { parts, claims, facts } = workspace.desired;
  const reasons = [
    ...claims
      .filter(({ owner }) => formatOwner(owner) === nodeOwner(node.name))
      .map((claim) => `${claim.name} asks pool ${claim.pool} for an address: nodeippool allocate gives it one`),
    ...parts.flatMap(({ integration, model }) => integration.idle?.(model, { ...facts, nodes: [node] }) ?? []),
  ];
  if (json) printJson({ name: what, addresses: [], reasons });
  else print(`node ${node.name} has no address`, ...reasons.map((reason) => `  ${plain(reason)}`));
}

function printAddress(address: Address, where: readonly PoolView[], { json }: ExplainOptions): void {
  const facts = explained(address, where);
  if (json) printJson({ address: formatAddress(address), pools: facts.map(factJson) });
  else print(...(facts.length === 0 ? [`${formatAddress(address)}: in no pool`] : facts.map(sentence)));
}

/**
 * What a node, another owner, a policy or a claim has, pool by pool; an owner also what is kept for it. Throws `invalid`
 * for a name of more than one of these.
 */
function factsNamed(name: string, views: readonly PoolView[]): Fact[] {
  const isOwner = (owner: string | undefined) =>
    owner !== undefined && (owner === name || parseOwner(owner).value?.name === name);
  const found = views.map((view) => ({
    view,
    held: [...view.live, ...view.releasing].filter((line) => isNamedBy(line, name)),
    kept: view.pool?.reservations.all.filter(({ owner }) => isOwner(owner)) ?? [],
  }));
  refuseAmbiguous(
    name,
    found.flatMap(({ held }) => held),
    found.flatMap(({ kept }) => kept.flatMap(({ owner = [] }) => owner)),
  );
  return found.flatMap(({ view, held, kept }) => {
    const addresses = new Set([...held, ...kept].map(({ address }) => address));
    return [...addresses].sort(compareAddresses).map(factsAbout(view));
  });
}

/** Why a word is explained by nothing. `nodes` is undefined where the manifests or the nodes cannot be read. */
function unknownName(what: string, nodes: readonly ClusterNode[] | undefined, views: readonly PoolView[]): IpamError {
  const pools = views.map(({ record }) => record.name);
  if (pools.includes(what))
    return new IpamError("invalid", `${what} is a pool, not an address`, {
      hint: `Add --offset NUMBER, or see all of it: nodeippool show ${what}`,
    });
  if (/^[\d.]+$|[:/%]/.test(what)) return new IpamError("invalid", parseAddress(what).issues ?? []);
  const lines = views.flatMap(({ live, releasing }) => [...live, ...releasing]);
  const owners = [...lines.map(({ claim }) => ownerName(claim)), ...(nodes ?? []).map(({ name }) => name)];
  const longer = owners.find((owner) => owner.startsWith(`${what}.`));
  const near = longer === undefined ? nearName(what, new Set([...pools, ...owners])) : `; did you mean ${longer}?`;
  const nothing = nodes === undefined ? "no pool, and no owner of an address" : "no pool, no node and no owner";
  const unread = nodes === undefined ? " Which nodes there are is unknown: nodeippool plan says why." : "";
  return new IpamError("invalid", `${JSON.stringify(what)} is no address, ${nothing}${near}`, {
    hint: `${poolNames(pools)}${unread}`,
  });
}

function withOffset(view: PoolView, text: string): { address: Address; where: readonly PoolView[] } {
  const { record, pool } = view;
  if (pool === undefined)
    throw new IpamError("invalid", `pool ${record.name} is recorded, but not defined here: its offsets are unknown`, {
      hint: "Say where it is defined: --pools FOLDER.",
    });
  const highest = highestOffset(pool);
  const offsets = highest === undefined ? "no offsets" : `offsets 0 to ${highest}`;
  if (!/^\d+$/.test(text))
    throw new IpamError("invalid", `${JSON.stringify(text)} is no offset: pool ${pool.name} has ${offsets}`);
  // Text of so many digits is above every offset: no need to read it.
  const offset = text.length > 60 ? undefined : BigInt(text);
  const address =
    offset === undefined || highest === undefined || offset > highest ? undefined : addressAt(pool, offset);
  if (address === undefined)
    throw new IpamError(
      "out-of-range",
      `offset ${text.slice(0, 60)} is not in pool ${pool.name}, which has ${offsets}`,
    );
  return { address, where: [view] };
}

/** The offset of the last address of the range that has one. */
function highestOffset(pool: Pool): bigint | undefined {
  for (let at = pool.range.at(-1)?.last as Address; at >= pool.start; at = (at - 1n) as Address) {
    const offset = offsetOf(pool, at);
    if (offset !== undefined) return offset;
  }
  return undefined;
}

/**
 * Every pool that has to do with an address. Those that have it in their subnet alone are left out where another
 * pool of the network has more to say.
 */
export function explained(address: Address, views: readonly PoolView[]): Fact[] {
  const facts = views
    .map((view) => factsAbout(view)(address))
    .filter(({ record, line }) => line !== undefined || contains(rangeOf(record.prefix), address));
  const settled = new Set(facts.filter((fact) => !isNear(fact)).map((fact) => fact.record.network));
  return facts.filter((fact) => !isNear(fact) || !settled.has(fact.record.network));
}

function factJson(fact: Fact) {
  const { record, pool, standing, line, isReleasing } = fact;
  const offset = offsetIn(pool, fact.address);
  const note = line === undefined ? standing?.text : objectionTo(fact);
  return {
    pool: record.name,
    network: record.network,
    defined: pool !== undefined,
    ...(offset === undefined ? {} : { offset: countJson(offset) }),
    state: line === undefined ? (standing?.kind ?? "unknown") : isReleasing ? "releasing" : "held",
    ...(note === undefined ? {} : { note }),
    ...(line === undefined ? {} : { allocation: lineJson(line) }),
  };
}
