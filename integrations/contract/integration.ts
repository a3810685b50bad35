import type { Allocation, Claim, Issue, Parsed, Place, Pool, PoolSpec, Snapshot, Verdict } from "../../core/index.ts";
import type { Findings } from "../../schema/findings.ts";
import type { ReadKind, SourceObject } from "../../schema/manifest-document.ts";
import type { ClusterNode } from "../../schema/node.ts";
import type { Bag, LocatedObject } from "../../schema/objects.ts";
import type { SourceFile } from "../../schema/yaml.ts";
import type { Facts } from "./facts.ts";
import type { Unserved } from "./unserved.ts";

export type { Facts, UnsoundPool } from "./facts.ts";

/** The record, and the claim set whose allocations are rendered. */
export interface Holdings {
  readonly snapshot: Snapshot;
  readonly set: string;
  /** The record before the plan, if `snapshot` has a plan in it that is to be held against that. */
  readonly before?: Snapshot;
}

/** A Kubernetes object, as it is written out. */
export interface RenderedObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly [field: string]: unknown };
  readonly [field: string]: unknown;
}

/** One that was read is written out. */
export function asRendered(object: Bag): RenderedObject {
  return object as Bag & RenderedObject;
}

/** A releasing address that nothing rendered takes off its owner, and why; in a cluster also one that is not taken off yet. */
export interface Left {
  readonly line: Allocation;
  readonly why: string;
  /** In a cluster: the next step, where a reset of the pool does not free the address; absent where only a release by its name does. */
  readonly next?: string;
}

/** The objects that are to exist, and what they leave to do by hand. */
export interface Rendered {
  /** What stands in for each object that the integration owns. */
  readonly instead: ReadonlyMap<SourceObject, readonly RenderedObject[]>;
  /** What stands in for none of them: clean-up after objects that are gone. */
  readonly added: readonly RenderedObject[];
  /** Releasing addresses that none of them takes off. */
  readonly left: readonly Left[];
  /** What no object can express, and files of a format can: writing objects refuses it. */
  readonly inexpressible?: readonly Issue[];
  /** In a cluster: owners whose objects stay as they are, because nobody can tell what they are to be. */
  readonly kept?: readonly string[];
}

/** A pool, what a NodeIPPool would say for it, and where it is defined. */
export interface DefinedPool {
  readonly pool: Pool;
  readonly spec: PoolSpec;
  readonly at: Place;
}

/** How pools were selected for what an object asks. */
export interface PoolSelection {
  readonly source: SourceObject;
  /** For whom, in words for people. */
  readonly title: string;
  /** Each pool that somebody names, in the order in which they are tried. */
  readonly verdicts: readonly Verdict[];
  /** Where nobody names any: why there is no address. */
  readonly why?: string;
}

/** An object that asks for an address of none of the nodes. */
export interface IdleObject {
  /** What claims of it have before the `/` of their names: of a policy, its name. */
  readonly name: string;
  /** One sentence, without its full stop. */
  readonly why: string;
  /** Where its selector stands. */
  readonly at: Place;
}

/** What cannot hold together. */
export interface Conflict extends Issue {
  /** The claims, by their keys, that get nothing new for that; absent where none of what asks for them is acted upon. */
  readonly claims?: readonly string[];
}

/** The objects that an integration reads: those that it owns, and those that it only looks at. */
export interface ReadObjects {
  readonly owned: readonly SourceObject[];
  readonly others: readonly LocatedObject[];
}

/** A kind of object that shows which addresses owners use. */
export interface UseKind {
  readonly kind: string;
  /** Words of which the text of such an object has one, besides its kind; absent where its kind says enough, empty where documents say no kind. */
  readonly marks?: readonly string[];
  /**
   * Returns what adds the addresses that such an object uses to findings, where these are the nodes. Where an object does not tell for
   * whom, its uses have no owner.
   */
  reader(nodes: readonly ClusterNode[]): UseReader;
}

/** Adds what an object uses to findings. */
export type UseReader = (object: LocatedObject, found: Findings) => void;

/** A format with plain files instead of objects. */
export interface Format<Model = unknown> {
  readonly name: string;
  /** Returns the files, their paths below a folder. Throws IpamError as `render` does. */
  files(model: Model, holdings: Holdings): readonly SourceFile[];
}

/** What lists, reports of nodes and other objects call an owner. */
export interface Aliases {
  /** The surest first. */
  readonly names: readonly string[];
  /** Returns whether the owner is the one for what a list calls a NIC; absent where owners are not for one NIC each. */
  isNic?(nic: string): boolean;
}

/** What people are told beside errors. */
export interface Explanations<Model = unknown> {
  /** Returns the objects that ask for none of the nodes, which is probably a mistake of typing; absent where its owners are not nodes. */
  idle?(model: Model, facts: Facts): readonly IdleObject[];
  /** Returns which pools are tried for whom, and why others are not; absent where each claim names its pool. */
  selected?(model: Model, facts: Facts, snapshot: Snapshot): readonly PoolSelection[];
  /** After `Once`, as in `its IPAMClaim is gone (kubectl get ipamclaims -A)`; absent where nodes report what they have (NodeNetworkState). */
  readonly freeOnce?: string;
}

/**
 * What nodeippool knows of one foreign system: a handful of pure functions. A folder of YAML, a cdk8s app, a Pulumi program
 * and the controller differ only in where objects come from and where results go.
 *
 * | required   | question it answers                                                                  |
 * | ---------- | ------------------------------------------------------------------------------------ |
 * | `reads`    | which kinds do I look at, and which of their objects do I replace                    |
 * | `read`     | what do they say: a model of my own, or every issue with its place                   |
 * | `claims`   | who asks which pool for what                                                         |
 * | `isClaim`  | is a claim on record one of mine: nobody else renders it, or says that it is gone    |
 * | `render`   | which objects are to exist, and which releasing addresses does none of them take off |
 * | `uses`     | which kinds show which addresses are used, where, for whom; often none               |
 *
 * | optional    | for a system                                                                        |
 * | ----------- | ----------------------------------------------------------------------------------- |
 * | `pools`     | whose objects define pools, besides those that are objects of their own             |
 * | `unserved`  | whose objects may be other programs': one with something wrong does not stop a plan |
 * | `conflicts` | whose objects cannot all hold together: two policies for one NIC                    |
 * | `formats`   | that is rendered as plain files, too                                                |
 * | `aliases`   | whose owners are called otherwise in lists and reports                              |
 * | `explain`   | about which people are told more than errors                                        |
 */
export interface Integration<Model = unknown> {
  readonly name: string;
  readonly reads: readonly ReadKind[];
  read(objects: ReadObjects): Parsed<Model>;
  /** Throws IpamError `invalid` with everything that pools and nodes cannot give. */
  claims(model: Model, facts: Facts): readonly Claim[];
  /** By its key, as `claimKey` writes it. */
  isClaim(claim: string): boolean;
  /** Of releasing lines it is given those of its own claims. Throws IpamError `stale` if the record does not cover the claims, `invalid` for what cannot be written. */
  render(model: Model, facts: Facts, holdings: Holdings): Rendered;
  readonly uses: readonly UseKind[];
  /** Throws IpamError `invalid` for what cannot be pools. In a cluster the objects that define pools are those that it owns. */
  pools?(model: Model): readonly DefinedPool[];
  /** Returns the objects that get nothing because something is wrong with them; absent where that stops everything. */
  unserved?(model: Model, facts: Facts): readonly Unserved[];
  /** Returns what cannot hold together once the plan is met. `claims` are those of the model. */
  conflicts?(model: Model, facts: Facts, claims: readonly Claim[], holdings: Holdings): readonly Conflict[];
  readonly formats?: readonly Format<Model>[];
  /** Undefined for owners of others. */
  aliases?(owner: string): Aliases | undefined;
  readonly explain?: Explanations<Model>;
}
