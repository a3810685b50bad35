import {
  type Authority,
  type Claim,
  IpamError,
  type Issue,
  nodeOwner,
  type Pending,
  type Pool,
  type Use,
} from "../core/index.ts";
import { partition } from "../core/partition.ts";
import type {
  Conflict,
  DefinedPool,
  Facts,
  Holdings,
  Integration,
  ReadObjects,
  Rendered,
  UseReader,
} from "../integrations/contract/integration.ts";
import type { Unserved } from "../integrations/contract/unserved.ts";
import { emptyFindings, type Findings, type NicNames } from "../schema/findings.ts";
import type { UnreadDocument } from "../schema/manifest-document.ts";
import type { ClusterNode } from "../schema/node.ts";
import type { Bag, LocatedObject } from "../schema/objects.ts";

/** What the user wants, read: who claims what, and which addresses stand written out besides. */
export interface Desired {
  readonly facts: Facts;
  readonly pools: readonly Pool[];
  readonly claims: readonly Claim[];
  /** Where a claim is written, if that can be told. */
  readonly placeOf?: (claim: Pick<Pending, "claim" | "pool">) => Pick<Issue, "path" | "at">;
  /** The addresses that objects write out themselves. Throws IpamError `invalid` for what is none. */
  readonly uses: () => readonly Use[];
  /** How objects find NICs that they call by a name of their own. Throws as `uses` does. */
  readonly names: () => NicNames;
  /** What each integration has read. */
  readonly parts: readonly Part[];
  /** The objects that get nothing because something is wrong with them. */
  readonly unserved: readonly Unserved[];
  /** The objects that were read; absent where claims come from a program that has none. */
  readonly objects?: readonly Bag[];
}

/** An integration, and what it has read. */
export interface Part {
  readonly integration: Integration;
  readonly model: unknown;
  /** What it is told of the world. */
  readonly facts: Facts;
  readonly claims: readonly Claim[];
}

/** The objects of a source, and what is known besides. */
export interface Source extends ReadObjects {
  /** What is wrong with it already. */
  readonly issues?: readonly Issue[];
  readonly pools: readonly Pool[];
  /** Documents of other programs that cannot be read. */
  readonly unread?: readonly UnreadDocument[];
  /** Whether these are all pools, also those that the objects define. */
  readonly hasAllPools?: boolean;
  readonly nodes: readonly ClusterNode[];
  readonly poolUids?: NonNullable<Facts["poolUids"]>;
  readonly conflicting?: NonNullable<Facts["conflicting"]>;
  readonly unsound?: NonNullable<Facts["unsound"]>;
  readonly find?: NonNullable<Facts["find"]>;
  readonly allOf?: NonNullable<Facts["allOf"]>;
  readonly authority?: Authority;
  /** Returns whether an integration can make nothing for an owner. It does not get that node; other integrations do. */
  readonly isBarred?: (integration: Integration, owner: string) => boolean;
}

/** Those of the kinds that an integration reads; of the others, the reports that it understands, too. */
export function objectsFor({ reads, uses }: Integration, { owned, others }: ReadObjects): ReadObjects {
  const kinds = new Set<unknown>(reads.map(({ kind }) => kind));
  const seen = new Set<unknown>([...kinds, ...uses.map(({ kind }) => kind)]);
  return {
    owned: owned.filter(({ object }) => kinds.has(object.kind)),
    others: others.filter(({ object }) => seen.has(object.kind)),
  };
}

/** Lets each integration read its kinds. Throws IpamError `invalid` with everything that is wrong with the source. */
export function readDesired(source: Source, integrations: readonly Integration[]): Desired {
  const { nodes, poolUids, conflicting, unsound, find, allOf, authority = "Plan", isBarred = () => false } = source;
  const issues = [...(source.issues ?? [])];
  const read = integrations.map((integration) => {
    const { value: model, issues: found = [] } = integration.read(objectsFor(integration, source));
    issues.push(...found);
    return { integration, model };
  });
  if (issues.length > 0) throw new IpamError("invalid", issues);
  const defined = read.flatMap(({ integration, model }) => integration.pools?.(model) ?? []);
  const pools = source.hasAllPools ? source.pools : [...source.pools, ...defined.map(placedPool)];
  const named = new Map(pools.map((pool) => [pool.name, pool]));
  const known = { ...(poolUids && { poolUids }), ...(conflicting && { conflicting }), ...(unsound && { unsound }) };
  const facts = { nodes, pools: named, authority, ...known, ...(find && { find }), ...(allOf && { allOf }) };
  const parts = read.map(({ integration, model }): Part => {
    const served = nodes.filter(({ name }) => !isBarred(integration, nodeOwner(name)));
    const own = { ...facts, nodes: served };
    return { integration, model, facts: own, claims: integration.claims(model, own) };
  });
  const claims = parts.flatMap((part) => part.claims);
  const unserved = [
    ...parts.flatMap((part) => part.integration.unserved?.(part.model, part.facts) ?? []),
    ...(source.unread ?? []).map((document) => unservedIn(document, integrations)),
  ];
  const found = () => usesIn(source, integrations);
  const objects = [...source.owned, ...source.others].map(({ object }) => object);
  return { facts, pools, claims, uses: () => found().uses, names: () => found().names, parts, unserved, objects };
}

/** A pool that an integration defines, with its place. */
export function placedPool({ pool, at }: DefinedPool): Pool {
  return { ...pool, at: () => at };
}

/** What any object of these kinds may have is kept. */
function unservedIn({ issues, kinds, asks }: UnreadDocument, integrations: readonly Integration[]): Unserved {
  const readers = integrations.filter(({ reads }) => reads.some(({ kind }) => kinds.includes(kind)));
  return { issues, asks, mayHave: (claim) => readers.some(({ isClaim }) => isClaim(claim)) };
}

/** Claims that come from no objects. */
export function desiredClaims(
  pools: readonly Pool[],
  claims: readonly Claim[],
  placeOf: NonNullable<Desired["placeOf"]>,
): Desired {
  const { objects: _, ...empty } = readDesired({ owned: [], others: [], pools, nodes: [] }, []);
  return { ...empty, claims, placeOf };
}

/** What cannot be read in an object that passes as it is, or that other programs run, stays text. */
function usesIn({ owned, others, nodes }: Source, integrations: readonly Integration[]): Findings {
  const kinds = new Set<unknown>(
    integrations.flatMap(({ reads }) => reads.flatMap(({ kind, runsAsIs }) => (runsAsIs ? kind : []))),
  );
  const [foreign, own] = partition(owned, ({ object }) => kinds.has(object.kind));
  const found = emptyFindings();
  addUses(own, nodes, integrations, found);
  if (found.issues.length > 0) throw new IpamError("invalid", found.issues);
  addUses([...foreign, ...others], nodes, integrations, found);
  return found;
}

function addUses(
  objects: ReadObjects["owned"],
  nodes: readonly ClusterNode[],
  integrations: readonly Integration[],
  found: Findings,
): void {
  for (const [known, group] of Map.groupBy(objects, (object) => object.nodes ?? nodes)) {
    const readers = readersOfUses(integrations, known);
    for (const object of group) found.uses.push(...usesOf(object, readers, found));
  }
}

/** What reads the uses of objects, by the kinds of these. */
export type ReadersOfUses = ReadonlyMap<unknown, readonly UseReader[]>;

/** Those of integrations, where these are the nodes. */
export function readersOfUses(integrations: readonly Integration[], nodes: readonly ClusterNode[]): ReadersOfUses {
  const byKind = Map.groupBy(
    integrations.flatMap(({ uses }) => uses),
    ({ kind }) => kind,
  );
  return new Map([...byKind].map(([kind, all]) => [kind, all.map((one) => one.reader(nodes))]));
}

/** The uses that an object is. Of one that nobody knows for whom it is, it is the owner itself: nobody who has the address on record. */
export function usesOf(located: LocatedObject, readers: ReadersOfUses, found: Findings): Use[] {
  const first = found.uses.length;
  const { kind, metadata } = located.object;
  for (const read of readers.get(kind) ?? []) read(located, found);
  const self = `${kind}/${(metadata as { name?: unknown } | undefined)?.name}`;
  return found.uses.splice(first).map(({ owner = self, ...use }) => ({ ...use, owner }));
}

/** What cannot hold together once this is the record. */
export function conflictsIn({ parts }: Desired, holdings: Holdings): Conflict[] {
  return parts.flatMap(
    ({ integration, model, facts, claims }) => integration.conflicts?.(model, facts, claims, holdings) ?? [],
  );
}

/** What all integrations render. */
export function renderDesired({ parts }: Desired, holdings: Holdings): Rendered {
  const all = parts.map(({ integration, model, facts }) =>
    integration.render(model, facts, ownReleasing(holdings, integration)),
  );
  return {
    instead: all.map(({ instead }) => instead).reduce(together, new Map()),
    added: all.flatMap(({ added }) => added),
    left: all.flatMap(({ left }) => left),
    inexpressible: all.flatMap(({ inexpressible = [] }) => inexpressible),
    kept: all.flatMap(({ kept = [] }) => kept),
  };
}

/** What stands in for an object that two of them own: itself once, and what each adds to it. */
function together(some: Rendered["instead"], others: Rendered["instead"]): Rendered["instead"] {
  const all = new Map(some);
  for (const [source, objects] of others) all.set(source, [...new Set([...(all.get(source) ?? []), ...objects])]);
  return all;
}

/** What is releasing of the claims of an integration: nobody else takes it off. */
function ownReleasing(holdings: Holdings, { isClaim }: Integration): Holdings {
  const { snapshot } = holdings;
  const releasing = snapshot.releasing.filter(({ claim }) => isClaim(claim));
  return { ...holdings, snapshot: { ...snapshot, releasing } };
}
