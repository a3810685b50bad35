import {
  type Address,
  addressAt,
  type Claim,
  compareAddresses,
  contains,
  formatAddress,
  formatBlock,
  formatOwner,
  IpamError,
  isNamedBy,
  lineJson,
  nodeOwner,
  ownerName,
  parseAddress,
  parseOwner,
  poolsAsked,
  rangeOf,
} from "../core/index.ts";
import type { SourceFile } from "../schema/index.ts";
import { didYouMean } from "../schema/nearest.ts";
import { refuseAmbiguous } from "./ambiguous.ts";
import { isNode } from "./cluster.ts";
import { explainWorkload } from "./explain-workload.ts";
import { isNear, objectionTo, sentence } from "./pools/fact.ts";
import { wordsOn } from "./pools/pool-words.ts";
import { countJson, type Fact, type PoolOptions, type PoolView, readPools, viewNamed } from "./pools/pools.ts";
import { plain, print, printJson } from "./terminal.ts";
import { workspaceOf } from "./workspace.ts";

export interface ExplainOptions extends PoolOptions {
  readonly nodes?: string;
  readonly nodesFound?: boolean;
  readonly offset?: string;
  /** A file with workloads, in place of what is explained. */
  readonly workload?: string;
  readonly json?: boolean;
}

export async function explainVerb(what: string | undefined, options: ExplainOptions): Promise<void> {
  const { workload } = options;
  if ((what === undefined) === (workload === undefined))
    throw new IpamError("invalid", "explain needs one thing to explain", {
      hint: "Name an address, a node, a policy or a claim; or a file with pods: --workload FILE.",
    });
  if (workload !== undefined) return await explainWorkload(workload, options);
  if (what !== undefined) await explainNamed(what, options);
}

async function explainNamed(what: string, options: ExplainOptions): Promise<void> {
  const { files, views } = await readPools(options);
  if (options.offset !== undefined) {
    const view = viewNamed(views, what);
    return printAddress(withOffset(view, options.offset), [view], options);
  }
  const { value: address } = parseAddress(what);
  if (address !== undefined) return printAddress(address, views, options);
  const held = factsNamed(what, views);
  if (held.length === 0) return await printOwner(what, files, views, options);
  const addresses = held.map((fact) => ({ address: formatBlock(fact.line ?? fact), pools: [factJson(fact)] }));
  if (options.json) printJson({ name: what, addresses });
  else print(...held.map(sentence));
}

function printAddress(address: Address, where: readonly PoolView[], { json }: ExplainOptions): void {
  const facts = explained(address, where);
  if (json) printJson({ address: formatAddress(address), pools: facts.map(factJson) });
  else print(...(facts.length === 0 ? [`${formatAddress(address)}: in no pool`] : facts.map(sentence)));
}

/** A node, or another owner, that has nothing: what would give it an address, and what does not. Throws `invalid` for what is neither. */
async function printOwner(
  what: string,
  files: readonly SourceFile[],
  views: readonly PoolView[],
  options: ExplainOptions,
): Promise<void> {
  if (views.some(({ record }) => record.name === what))
    throw new IpamError("invalid", `${what} is a pool, not an address`, {
      hint: `Add --offset NUMBER, or see all of it: nodeippool show ${what}`,
    });
  if (/^[\d.]+$|[:/%]/.test(what) && parseOwner(what).value === undefined)
    throw new IpamError("invalid", parseAddress(what).issues ?? []);
  if (views.some(({ inCluster }) => inCluster !== undefined) && (await isNode(what, options)))
    return sayNothingHeld(what, problemsOf(views), options);
  const { nodes, desired } = await workspaceOf(files, options.pools, options);
  const node = nodes.find(({ name }) => name === what || nodeOwner(name) === what);
  const isMeant = ({ owner }: Claim) =>
    node === undefined ? [owner.name, formatOwner(owner)].includes(what) : formatOwner(owner) === nodeOwner(node.name);
  const claims = desired.claims.filter(isMeant);
  if (node === undefined && claims.length === 0) {
    const lines = views.flatMap(({ live, releasing }) => [...live, ...releasing]);
    const names = [...views.map(({ record }) => record.name), ...lines.map(({ claim }) => ownerName(claim))];
    const wanted = desired.claims.map(({ owner }) => owner.name);
    const host = wanted.find((name) => name.endsWith(`.${what}`));
    const near = didYouMean(host ?? what, [...names, ...wanted, ...nodes.map(({ name }) => name)]);
    throw new IpamError("invalid", `${JSON.stringify(what)} is not an address, a pool, a node or an owner${near}`);
  }
  const reasons = [
    ...claims.map(
      (claim) =>
        `${claim.name} asks pool ${poolsAsked(claim).join(" or ")} for an address: nodeippool allocate gives it one`,
    ),
    ...desired.parts.flatMap(
      ({ integration, model }) =>
        (node && integration.explain?.idle?.(model, { ...desired.facts, nodes: [node] })?.map(({ why }) => why)) ?? [],
    ),
  ];
  sayNothingHeld(claims[0] === undefined ? what : formatOwner(claims[0].owner), reasons, options);
}

function sayNothingHeld(name: string, reasons: readonly string[], { json }: ExplainOptions): void {
  if (json) printJson({ name, addresses: [], reasons });
  else
    print(
      `${name.includes("/") ? name.replace(/^Node\//, "node ") : `node ${name}`} has no address`,
      ...reasons.map((reason) => `  ${plain(reason)}`),
    );
}

/** What the pools of a cluster say is wrong with them. */
function problemsOf(views: readonly PoolView[]): string[] {
  return views.flatMap(({ record, inCluster }) =>
    inCluster?.problem === undefined ? [] : [`pool ${record.name}: ${inCluster.problem}`],
  );
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
    return [...addresses].sort(compareAddresses).map(view.at);
  });
}

function withOffset({ record, pool }: PoolView, text: string): Address {
  if (pool === undefined)
    throw new IpamError("invalid", `pool ${record.name} is recorded, but not defined here: its offsets are unknown`, {
      hint: "Say where it is defined: --pools FOLDER.",
    });
  if (!/^\d+$/.test(text))
    throw new IpamError("invalid", `${JSON.stringify(text)} is not an offset: expected a number`);
  const address = addressAt(pool, BigInt(text));
  if (address !== undefined && contains(pool.range, address)) return address;
  const { place } = wordsOn({ record, pool, live: [], releasing: [] });
  throw new IpamError("out-of-range", `offset ${text} is not in pool ${pool.name} (${place})`);
}

/**
 * Every pool that has to do with an address. Those that have it in their subnet alone are left out where another
 * pool of the network has more to say.
 */
export function explained(address: Address, views: readonly PoolView[]): Fact[] {
  const facts = views
    .map((view) => view.at(address))
    .filter(({ record, line }) => line !== undefined || contains(rangeOf(record.prefix), address));
  const settled = new Set(facts.filter((fact) => !isNear(fact)).map((fact) => fact.record.network));
  return facts.filter((fact) => !isNear(fact) || !settled.has(fact.record.network));
}

function factJson(fact: Fact) {
  const { record, pool, offset, state, standing, line } = fact;
  const note = line === undefined ? standing?.text : objectionTo(fact);
  return {
    pool: record.name,
    network: record.network,
    defined: pool !== undefined,
    ...(offset === undefined ? {} : { offset: countJson(offset) }),
    state,
    ...(note === undefined ? {} : { note }),
    ...(line === undefined ? {} : { allocation: lineJson(line) }),
  };
}
