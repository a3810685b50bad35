import * as pulumi from "@pulumi/pulumi";
import { claimKey, formatOwner, isNamedInFull, isOfAddresses } from "../core/index.ts";
import { didYouMean } from "../schema/nearest.ts";
import { parsePoolSpec } from "../schema/node-ip-pool.ts";
import { checkArgs, checkClaims } from "./check-args.ts";
import { dispatcher } from "./dispatcher.ts";
import { isUnitTest, takeSet } from "./pools-of-program.ts";
import { previousStates, setType } from "./previous.ts";
import { isText } from "./refuse.ts";
import { secretMarks } from "./secrets.ts";
import type { AllocationSetArgs, ClaimArgs } from "./set-args.ts";
import { type Addresses, type Previous, present, recordOf, statesOf } from "./set-state.ts";

/**
 * The addresses of some pools, for everybody who claims one. They are planned in `pulumi preview`, shown there as
 * plain values, and committed by `pulumi up`, or that fails and changes nothing.
 */
export class AllocationSet extends pulumi.dynamic.Resource {
  /** Addresses by pool and claim key; known in preview. */
  declare readonly addresses: pulumi.Output<Addresses>;
  /** Addresses that were given up and that nobody else gets until they are released. */
  declare readonly releasing: pulumi.Output<Addresses>;

  private readonly called: string;
  private readonly specs: AllocationSetArgs["pools"];
  /** By claim key; undefined where the claims are not known when the program is. */
  private readonly poolsOf: ReadonlyMap<string, readonly string[]> | undefined;

  /**
   * Throws pulumi.RunError for arguments that are none, for a record in a cluster without `set`, and if another set of the
   * program has one of the pools, a pool that shares addresses with one, or the same `set` of a shared record.
   */
  constructor(name: string, args: AllocationSetArgs, opts: pulumi.CustomResourceOptions = {}) {
    checkArgs(name, args, opts);
    const { state = { backend: "stack" }, set = "default", release = [], moved = [], allowMove = false, pools } = args;
    const { confirmRelease = false } = args;
    if (state.backend === "kubernetes" && args.set === undefined)
      throw new pulumi.RunError(
        `allocation set ${name}: a record in a cluster is shared: give this part of it a name that nobody else uses, as in set: "shop"`,
      );
    takeSet(name, pools, state, set);
    const listed = isList(args.claims) ? claimsOf(name, args.claims) : undefined;
    const late = pulumi.output(args.claims as pulumi.Input<ClaimArgs[]>);
    const claims = listed ?? late.apply((known) => claimsOf(name, known as ClaimArgs[]));
    const previous = previousStates(name, opts.parent);
    previous.apply((held) => warnOfIdle(name, release, held));
    const isPlain = listed?.every((claim) => [claim.owner ?? "", claim.address ?? ""].every(isText));
    const sent = {
      claims: isPlain ? JSON.stringify(listed) : claims,
      previous: pulumi.secret(previous.apply((held) => JSON.stringify(held))),
    };
    const marks = secretMarks(pools, claims, previous);
    const isLate = listed === undefined;
    const props = { pools, state, set, release, moved, allowMove, confirmRelease, isLate, ...sent, ...marks };
    super(dispatcher, name, props, opts, setType.module, setType.name);
    // Of a state without, the engine gives what the input of this name is: a mark that is only there to be secret.
    this.releasing = this.releasing.apply((held) => held || {});
    this.called = name;
    this.specs = pools;
    this.poolsOf =
      listed &&
      new Map([...Map.groupBy(listed, ({ key }) => key)].map(([key, same]) => [key, same.map(({ pool }) => pool)]));
  }

  /**
   * The address of a claim, by its key, for example `Node/node01/eth1`. Throws pulumi.RunError for a key that is not
   * claimed, or is claimed of several pools where none is named; so does the output, where an update leaves the set
   * without a claim that is new.
   */
  address(key: string, pool?: string): pulumi.Output<string> {
    // Lifted access: it stays known while another address of the map is not.
    const lifted = this.addresses as unknown as Record<string, Record<string, pulumi.Output<string>>>;
    const address = lifted[this.poolOf(key, pool)]?.[key] as pulumi.Output<string | undefined>;
    return address.apply((known): pulumi.Input<string> => known ?? this.without(key)) as pulumi.Output<string>;
  }

  /**
   * An entry for the address list of an interface: the address of a claim, and the pool's prefix length. The owner is a
   * node's name, or `Kind/name`.
   */
  claim(
    owner: string,
    name: string,
    pool?: string,
  ): { readonly ip: pulumi.Output<string>; readonly "prefix-length": number } {
    if (typeof owner !== "string")
      throw new pulumi.RunError(
        `the owner of a claim ${name} must be text that is known now: a node's name, Kind/name, or the id of the claim`,
      );
    const key = owner.includes("/") ? `${owner}/${name}` : claimKey({ kind: "Node", name: owner }, name);
    const length = this.prefixLength(this.poolOf(key, pool));
    return { ip: this.address(key, pool), "prefix-length": length };
  }

  private prefixLength(pool: string): number {
    const spec = this.specs[pool];
    const names = Object.keys(this.specs);
    const { value, issues: [issue] = [] } = parsePoolSpec(pool, spec);
    if (spec === undefined)
      throw new pulumi.RunError(`allocation set ${this.called} has no pool ${pool}${didYouMean(pool, names)}`);
    if (value === undefined) throw new pulumi.RunError(`pool ${pool}: ${issue?.message}`);
    if (!isOfAddresses(value))
      throw new pulumi.RunError(
        `pool ${pool} gives blocks of /${value.blockLength}, and an address list needs an address: take it from a pool without blockLength`,
      );
    return value.prefix.length;
  }

  /**
   * A preview of other targets, as one that records another lock, goes on: who uses the address may be none of them. So
   * does the run that destroys what is left: of a set that is gone the engine knows the inputs alone, see `secretMarks`.
   */
  private without(key: string): pulumi.Output<string> {
    if (isUnitTest())
      throw new pulumi.RunError(
        `${key} has no address: the mocks of this test answer none. How they can: docs/pulumi.md, Unit tests`,
      );
    const unknown = pulumi.output(pulumi.unknown as unknown as string);
    if (pulumi.runtime.isDryRun()) return unknown;
    return this.addresses.apply((all) => (typeof all === "object" ? this.refuseWithout(key) : unknown));
  }

  private refuseWithout(key: string): never {
    const claimed = this.poolsOf === undefined ? "is not claimed, or " : "";
    throw new pulumi.RunError(
      `${key} has no address: it ${claimed}is new, and the set ${this.called} is not a target of this update; name it, too. A refresh or destroy with --run-program has it only after an up`,
    );
  }

  private poolOf(key: string, pool: string | undefined): string {
    const pools = this.poolsOf?.get(key) ?? (this.poolsOf === undefined ? Object.keys(this.specs) : []);
    const [only] = pool === undefined ? pools : pools.filter((name) => name === pool);
    if (only === undefined)
      throw new pulumi.RunError(`${key} is not claimed${pool === undefined ? "" : ` of pool ${pool}`}`);
    if (pool === undefined && pools.length > 1)
      throw new pulumi.RunError(`${key} may be of several pools: ${pools.join(", ")}; name one`);
    return only;
  }
}

function isList(claims: AllocationSetArgs["claims"]): claims is readonly ClaimArgs[] {
  return Array.isArray(claims);
}

function claimsOf(set: string, claims: readonly ClaimArgs[]): SentClaim[] {
  checkClaims(set, claims);
  return claims.map(claimInput);
}

/** Says which words of `release` name nothing that is releasing: they wait for what is released next. */
function warnOfIdle(set: string, words: readonly string[], previous: Previous): void {
  if (previous.own === undefined || words.length === 0) return;
  const { releasing } = recordOf(statesOf(previous));
  for (const word of words.filter((word) => !releasing.some((line) => isNamedInFull(line, word))))
    pulumi.log.warn(`allocation set ${set}: release: ${JSON.stringify(word)} names no address that is releasing`);
}

function claimInput({ owner, name, pool, id, address, interface: nic }: ClaimArgs) {
  if (id === undefined && typeof owner.name !== "string")
    throw new pulumi.RunError(
      `the owner of a claim ${name} on ${pool} has a name that is not known yet: give the claim an id, as in id: "${owner.kind}/worker-1"`,
    );
  const key = id === undefined ? claimKey({ ...owner, name: owner.name as string }, name) : `${id}/${name}`;
  const named = id === undefined ? undefined : formatted(owner);
  return { key, pool, ...present({ owner: named, address, interface: nic }) };
}

function formatted(owner: ClaimArgs["owner"]): pulumi.Input<string> {
  const { name } = owner;
  if (typeof name === "string") return formatOwner({ ...owner, name });
  return pulumi.output(name).apply((known) => formatOwner({ ...owner, name: known }));
}

type SentClaim = ReturnType<typeof claimInput>;
