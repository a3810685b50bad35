import fc from "fast-check";
import { keysOf } from "../../../cli/history/claims-at.ts";
import { formatAddress } from "../../../core/address.ts";
import type { Allocation, Snapshot } from "../../../core/allocation.ts";
import { emptySnapshot } from "../../../core/allocation.ts";
import { type Claim, claimKey } from "../../../core/claim.ts";
import { IpamError } from "../../../core/errors.ts";
import { type Plan, plan } from "../../../core/plan/plan.ts";
import { planRelease } from "../../../core/plan/release.ts";
import { planRename } from "../../../core/plan/rename.ts";
import { encode } from "../../../state/codec.ts";
import { memory } from "../../../state/memory.ts";
import { claimOf, poolOf } from "../core/text.ts";

/** Three pools that are soon full: both families, and one address space in two networks. */
export const pools = [
  poolOf("p", "10.0.0.0/24 10.0.0.1 10.0.0.30"),
  poolOf("q", "2001:db8::/64 2001:db8::1 2001:db8::1e"),
  poolOf("r", "10.0.0.0/24 10.0.0.1 10.0.0.30", { network: "blue", allocationOrder: "Next" }),
];

/** What the manifests of a branch say of one node. */
interface Node {
  /** Which one it is, whatever it is called. */
  readonly machine: string;
  readonly policy: string;
  readonly capture: string;
  readonly nic: string;
  readonly pools: readonly string[];
  /** The last part of the address it wants. */
  readonly wanted?: number;
}

/** A branch of a repository: manifests, and the lock that was committed with them. */
export interface Branch {
  readonly nodes: ReadonlyMap<string, Node>;
  readonly record: Snapshot;
  /** The commit before; none in the first one of a history. */
  readonly parent?: Branch;
}

const nameArb = fc.nat({ max: 9 }).map((n) => `n${n}`);
const poolsArb = fc.constantFrom(["p"], ["p"], ["p", "q"], ["q"], ["r"], ["p", "q", "r"]);
const spotArb = fc.integer({ min: 1, max: 30 });
const nicArb = fc.constantFrom("eth0", "eth0", "eth1");
const stepArb = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ add: fc.array(nameArb, { minLength: 1, maxLength: 3 }), pools: poolsArb, nic: nicArb }),
  },
  { weight: 4, arbitrary: fc.record({ add: fc.tuple(nameArb), pools: poolsArb, nic: nicArb, wanted: spotArb }) },
  { weight: 3, arbitrary: fc.record({ remove: nameArb }) },
  { weight: 2, arbitrary: fc.record({ free: fc.nat({ max: 0xffff }) }) },
  { weight: 3, arbitrary: fc.record({ rename: nameArb, to: nameArb }) },
  { weight: 2, arbitrary: fc.record({ policy: fc.constantFrom("a", "b"), to: fc.constantFrom("a", "b", "c") }) },
  { weight: 2, arbitrary: fc.record({ capture: fc.constantFrom("x", "y"), to: fc.constantFrom("x", "y", "z") }) },
  { weight: 2, arbitrary: fc.record({ rewire: nameArb, to: nicArb }) },
  { weight: 1, arbitrary: fc.record({ move: nameArb, wanted: spotArb }) },
);
type Step = typeof stepArb extends fc.Arbitrary<infer T> ? T : never;

/** A base and what was made of it on four branches. */
const historyArb = fc.record({
  base: fc.array(stepArb, { maxLength: 8 }),
  branches: fc.array(fc.array(stepArb, { minLength: 1, maxLength: 3 }), { minLength: 4, maxLength: 4 }),
});

/** Two branches that both changed the lock since they parted. */
export interface Fork {
  readonly base: Branch;
  readonly ours: Branch;
  readonly theirs: Branch;
}

/** The same forks for the same seed. */
export async function randomForks(count: number, seed: number): Promise<Fork[]> {
  const forks: Fork[] = [];
  for (let round = 0; forks.length < count; round++)
    for (const history of fc.sample(historyArb, { numRuns: 50, seed: seed + round })) {
      const base = await walk({ nodes: new Map(), record: emptySnapshot }, history.base);
      const branches = await Promise.all(history.branches.map((steps) => walk(base, steps)));
      const texts = new Set([encode(base.record)]);
      const changed = branches.filter(({ record }) => texts.size < texts.add(encode(record)).size);
      for (const [i, ours] of changed.entries())
        for (const theirs of changed.slice(i + 1)) forks.push({ base, ours, theirs });
    }
  return forks.slice(0, count);
}

/** Plans and commits step by step; a step that the tool refuses changes nothing. */
async function walk(start: Branch, steps: readonly Step[]): Promise<Branch> {
  let branch = start;
  for (const step of steps) {
    const next = await take(branch, step);
    if (next !== branch) branch = { ...next, parent: branch };
  }
  return branch;
}

async function take(branch: Branch, step: Step): Promise<Branch> {
  const { record } = branch;
  if ("free" in step) {
    const lines = record.releasing.filter((_, i) => (step.free >> i) & 1);
    return { ...branch, record: await memory(record).commit(planRelease(record, lines)) };
  }
  const nodes = edited(branch.nodes, step);
  const renamed = nameOf(step, branch.nodes);
  const before = renamed === undefined ? record : await committed(record, () => planRename(record, ...renamed));
  if (before === undefined) return branch;
  const after = await committed(before, () => planFor(nodes, before, "move" in step));
  return after === undefined ? branch : { nodes, record: after };
}

async function committed(record: Snapshot, make: () => Plan): Promise<Snapshot | undefined> {
  try {
    const made = make();
    return made.pending.length > 0 ? undefined : await memory(record).commit(made);
  } catch (error) {
    if (error instanceof IpamError && error.code !== "conflict") return undefined;
    throw error;
  }
}

/** What `nodeippool allocate` plans for these manifests. */
export function planFor(nodes: ReadonlyMap<string, Node>, snapshot: Snapshot, allowMove = false): Plan {
  return plan({ pools, claims: claimsOf(nodes), snapshot, allowMove });
}

/** Whether nodes claim a line, by `keysOf`. */
export function isClaimedBy(nodes: ReadonlyMap<string, Node> | undefined, line: Allocation): boolean {
  const claims = claimsOf(nodes ?? new Map()).flatMap((claim) =>
    keysOf({ ...claim, claim: claimKey(claim.owner, claim.name) }),
  );
  return keysOf(line).some((key) => claims.includes(key));
}

function claimsOf(nodes: ReadonlyMap<string, Node>): Claim[] {
  return [...nodes].flatMap(([name, node]) =>
    node.pools.map((pool) => {
      const wanted = pool === "q" ? `2001:db8::${node.wanted?.toString(16)}` : `10.0.0.${node.wanted}`;
      const rest = `pool=${pool} if=${node.nic}${node.wanted === undefined ? "" : ` wanted=${wanted}`}`;
      return claimOf(`Node/${name}/${node.policy}/${node.capture} ${rest}`);
    }),
  );
}

function edited(before: ReadonlyMap<string, Node>, step: Exclude<Step, { free: number }>): Map<string, Node> {
  const nodes = new Map(before);
  const change = (name: string, to: Partial<Node>) => {
    const node = nodes.get(name);
    if (node !== undefined) nodes.set(name, { ...node, ...to });
  };
  if ("add" in step)
    for (const name of step.add) {
      const wanted = "wanted" in step ? { wanted: step.wanted as number } : {};
      const node = { machine: newMachine(name, nodes), policy: "a", capture: "x", nic: step.nic, pools: step.pools };
      if (!nodes.has(name)) nodes.set(name, { ...node, ...wanted });
    }
  else if ("remove" in step) nodes.delete(step.remove);
  else if ("rewire" in step) change(step.rewire, { nic: step.to });
  else if ("move" in step) change(step.move, { wanted: step.wanted });
  else if ("policy" in step)
    for (const [name, node] of before) change(name, node.policy === step.policy ? { policy: step.to } : {});
  else if ("capture" in step)
    for (const [name, node] of before)
      change(name, node.policy === "a" && node.capture === step.capture ? { capture: step.to } : {});
  else if (!nodes.has(step.to) && nodes.has(step.rename)) {
    nodes.set(step.to, nodes.get(step.rename) as Node);
    nodes.delete(step.rename);
  }
  return nodes;
}

/** A node that comes back is the same machine; one that gets the former name of another is not. */
function newMachine(name: string, nodes: ReadonlyMap<string, Node>): string {
  const known = new Set([...nodes.values()].map(({ machine }) => machine));
  let machine = name;
  while (known.has(machine)) machine += "'";
  return machine;
}

/** The two names that `nodeippool mv` gets before manifests are changed so. */
function nameOf(step: Step, nodes: ReadonlyMap<string, Node>): [string, string] | undefined {
  if ("rename" in step && nodes.has(step.rename) && !nodes.has(step.to))
    return [`Node/${step.rename}`, `Node/${step.to}`];
  if ("policy" in step && step.policy !== step.to && [...nodes.values()].some((node) => node.policy === step.policy))
    return [step.policy, step.to];
  const isCaptured = ({ policy, capture }: Node) => "capture" in step && policy === "a" && capture === step.capture;
  if ("capture" in step && step.capture !== step.to && [...nodes.values()].some(isCaptured))
    return [`a/${step.capture}`, `a/${step.to}`];
  return undefined;
}

type Nodes = Record<keyof Fork, Pick<Branch, "nodes">>;

/** What the merged manifests say: machine by machine, field by field; a change wins over none, and ours over theirs. */
export function mergedNodes({ base, ours, theirs }: Nodes): Map<string, Node> {
  const [b, o, t] = [base, ours, theirs].map(({ nodes }) => machinesIn(nodes)) as [Named, Named, Named];
  const merged = new Map<string, Node>();
  for (const machine of new Set([...o.keys(), ...t.keys()])) {
    const node = mergedNode(b.get(machine), o.get(machine), t.get(machine));
    if (node !== undefined && !merged.has(node.name)) merged.set(node.name, node.node);
  }
  return merged;
}

interface NamedNode {
  readonly name: string;
  readonly node: Node;
}
type Named = Map<string, NamedNode>;

function machinesIn(nodes: ReadonlyMap<string, Node>): Named {
  return new Map([...nodes].map(([name, node]) => [node.machine, { name, node }]));
}

function mergedNode(
  base: NamedNode | undefined,
  ours: NamedNode | undefined,
  theirs: NamedNode | undefined,
): NamedNode | undefined {
  if (base === undefined || ours === undefined || theirs === undefined)
    return JSON.stringify(ours) === JSON.stringify(base) ? theirs : ours;
  const pick = <T>(of: (one: NamedNode) => T) => (Object.is(of(ours), of(base)) ? of(theirs) : of(ours));
  const wanted = pick(({ node }) => node.wanted);
  return {
    name: pick(({ name }) => name),
    node: {
      machine: base.node.machine,
      policy: pick(({ node }) => node.policy),
      capture: pick(({ node }) => node.capture),
      nic: pick(({ node }) => node.nic),
      pools: pick(({ node }) => node.pools),
      ...(wanted === undefined ? {} : { wanted }),
    },
  };
}

/** Where each machine has its address of each pool. */
function addressesIn({ nodes, record }: Pick<Branch, "nodes" | "record">): Map<string, string> {
  return new Map(
    record.allocations.flatMap((line): [string, string][] => {
      const node = nodes.get(line.claim.split("/")[1] ?? "");
      return node === undefined ? [] : [[`${node.machine} in ${line.pool}`, formatAddress(line.address)]];
    }),
  );
}

/**
 * Machines that are elsewhere after a merge than where the one side that moved them, or both, had them; if one side has
 * landed, those of that side.
 */
export function movedMachines(fork: Fork, after: Branch, landed?: "ours" | "theirs"): string[] {
  const [base, ours, theirs, now] = [fork.base, fork.ours, fork.theirs, after].map(addressesIn) as [
    Map<string, string>,
    Map<string, string>,
    Map<string, string>,
    Map<string, string>,
  ];
  const contested = contestedMachines(fork);
  return [...now].flatMap(([key, address]) => {
    const [b, o, t] = [base.get(key), ours.get(key), theirs.get(key)];
    const isClear = o === t || o === b || t === b;
    const want = isClear ? (o === b ? t : o) : undefined;
    // Whoever did not land may lose, and be planned anew.
    const mayMove = landed !== undefined && { ours: o, theirs: t }[landed] !== want;
    if (want === undefined || want === address || mayMove || contested.has(key.split(" ")[0] ?? "")) return [];
    return [`${key} moved from ${want} to ${address}`];
  });
}

/** Machines that had a name which is, or was, that of another one; and those that got two names. */
function contestedMachines({ base, ours, theirs }: Fork): Set<string> {
  const all = [base, ours, theirs].flatMap(({ nodes }) => [...nodes].map(([name, { machine }]) => ({ name, machine })));
  const names = Map.groupBy(all, ({ name }) => name);
  const known = machinesIn(base.nodes);
  const isContested = (machine: string, list: typeof all) => {
    const own = new Set(list.map(({ name }) => name));
    return own.size > (known.has(machine) ? 2 : 1) || [...own].some((name) => isShared(name));
  };
  const isShared = (name: string) => new Set(names.get(name)?.map(({ machine }) => machine)).size > 1;
  const machines = Map.groupBy(all, ({ machine }) => machine);
  return new Set([...machines].flatMap(([machine, list]) => (isContested(machine, list) ? [machine] : [])));
}
