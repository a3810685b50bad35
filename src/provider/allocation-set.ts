import * as pulumi from "@pulumi/pulumi";
import { claimKey, type PoolSpec } from "../core/index.ts";
import { dispatcher } from "./dispatcher.ts";
import { previousStates } from "./previous.ts";
import type { Addresses, ClaimInput, StateArgs } from "./set-state.ts";

/** One address for one owner, from one pool. */
export interface ClaimArgs {
  /** Who gets the address, as on every other surface: a Node by its name in the cluster. */
  readonly owner: { readonly kind: string; readonly namespace?: string; readonly name: pulumi.Input<string> };
  /** Tells the claims of one owner apart. The claim key is `Kind/name/<this>`. */
  readonly name: string;
  /** Name of one of the set's pools. */
  readonly pool: string;
  /**
   * `Kind/name` in place of the owner in the claim key; needed where the owner's name is not known before the
   * update. Addresses are planned by it, so that they are known in preview even then.
   */
  readonly id?: string;
  /** An address of the pool that the owner must have, instead of the lowest free one. */
  readonly address?: pulumi.Input<string>;
  /** The NIC that gets the address; it is recorded. */
  readonly interface?: string;
}

/** Pools and claims of one set. */
export interface AllocationSetArgs {
  /** The pools, by name, each as `spec` of a NodeIPPool. No other set of the program may have one of them. */
  readonly pools: { readonly [name: string]: PoolSpec };
  /** Everything that is claimed of these pools. What is claimed no more becomes `releasing`. */
  readonly claims: readonly ClaimArgs[];
  /** Where the record is. Default: in the stack, which then is the only one to use these pools. */
  readonly state?: StateArgs;
  /** The claim set in a record that is shared. Default `default`. */
  readonly set?: string;
  /** Claim keys, owners or addresses among `releasing` that are off their nodes; only with the backend `stack`. */
  readonly release?: readonly string[];
  /** Let owners lose an address and get another one of the same pool. Default false. */
  readonly allowMove?: boolean;
}

/**
 * The addresses of some pools, for everybody who claims one. They are planned in `pulumi preview`, shown there as
 * plain values, and committed by `pulumi up`, or that fails and changes nothing.
 */
export class AllocationSet extends pulumi.dynamic.Resource {
  /** Addresses by pool and claim key; known in preview. */
  declare readonly addresses: pulumi.Output<Addresses>;
  /** Addresses that were given up and that nobody else gets until they are released. */
  declare readonly releasing: pulumi.Output<Addresses | undefined>;

  private readonly specs: AllocationSetArgs["pools"];
  private readonly poolsOf: ReadonlyMap<string, readonly string[]>;

  /** Throws pulumi.RunError if another set of the program has one of the pools. */
  constructor(name: string, args: AllocationSetArgs, opts?: pulumi.CustomResourceOptions) {
    const { state = { backend: "stack" }, set = "default", release = [], allowMove = false, pools } = args;
    takePools(name, Object.keys(pools));
    const claims = args.claims.map(claimInput);
    const previous = state.backend === "stack" ? previousStates(name) : { others: [] };
    // Carries the secretness of the claims over to the addresses.
    const addresses = pulumi.output(claims).apply(() => "");
    const props = { pools, claims, state, set, release, allowMove, addresses, releasing: undefined };
    super(dispatcher, name, { ...props, previous }, opts, "nodeippool", "AllocationSet");
    this.specs = pools;
    this.poolsOf = new Map(
      [...Map.groupBy(claims, ({ key }) => key)].map(([key, made]) => [key, made.map(({ pool }) => pool)]),
    );
  }

  /**
   * The address of a claim, by its key, for example `Node/node01/eth1`. Throws pulumi.RunError for a key that is not
   * claimed, or is claimed of several pools where none is named.
   */
  address(key: string, pool?: string): pulumi.Output<string> {
    const pools = this.poolsOf.get(key) ?? [];
    const chosen = pool ?? pools[0];
    if (chosen === undefined || !pools.includes(chosen))
      throw new pulumi.RunError(`${key} is not claimed${pool === undefined ? "" : ` of pool ${pool}`}`);
    if (pool === undefined && pools.length > 1)
      throw new pulumi.RunError(`${key} is claimed of several pools: ${pools.join(", ")}; name one`);
    // Lifted access: it stays known while another address of the map is not.
    const lifted = this.addresses as unknown as Record<string, Record<string, pulumi.Output<string>>>;
    return lifted[chosen]?.[key] as pulumi.Output<string>;
  }

  /** An entry for the address list of a node's interface: the address of the node's claim, and the pool's prefix length. */
  claim(
    node: string,
    name: string,
    pool?: string,
  ): { readonly ip: pulumi.Output<string>; readonly "prefix-length": number } {
    const key = claimKey({ kind: "Node", name: node }, name);
    const ip = this.address(key, pool);
    const [only = ""] = pool === undefined ? (this.poolsOf.get(key) ?? []) : [pool];
    return { ip, "prefix-length": Number(this.specs[only]?.range.cidr.split("/")[1]) };
  }
}

function claimInput({
  owner,
  name,
  pool,
  id,
  address,
  interface: nic,
}: ClaimArgs): pulumi.Inputs & Pick<ClaimInput, "key" | "pool"> {
  if (id === undefined && typeof owner.name !== "string")
    throw new pulumi.RunError(
      `the owner of a claim ${name} on ${pool} has a name that is not known yet: give the claim an id, as in id: "${owner.kind}/worker-1"`,
    );
  const key = id === undefined ? claimKey({ ...owner, name: owner.name as string }, name) : `${id}/${name}`;
  return { key, pool, ...(address === undefined ? {} : { address }), ...(nic === undefined ? {} : { interface: nic }) };
}

/** Pools by the root of the program: the engine calls check in no order, so only the program knows all sets. */
const registry = globalThis as unknown as Record<symbol, WeakMap<object, Map<string, string>> | undefined>;
const registryKey = Symbol.for("nodeippool.sets");

function takePools(name: string, pools: readonly string[]): void {
  const root = pulumi.runtime.getStackResource();
  if (root === undefined) return;
  const roots = registry[registryKey] ?? new WeakMap<object, Map<string, string>>();
  registry[registryKey] = roots;
  const owners = roots.get(root) ?? new Map<string, string>();
  roots.set(root, owners);
  for (const pool of pools) {
    const other = owners.get(pool);
    if (other !== undefined)
      throw new pulumi.RunError(
        `pool ${pool} is in two allocation sets, ${other} and ${name}: put all its claims into one`,
      );
    owners.set(pool, name);
  }
}
