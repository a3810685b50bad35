import * as pulumi from "@pulumi/pulumi";
import {
  checkPools,
  choosePools,
  claimKey,
  emptySnapshot,
  formatAddress,
  IpamError,
  type PoolSpec,
  poolsAsked,
  type Snapshot,
} from "../core/index.ts";
import type { Rendered } from "../integrations/contract/integration.ts";
import { type Desired, readDesired } from "../pipeline/desired.ts";
import { readFolder } from "../pipeline/folder.ts";
import { firstRefusal } from "../pipeline/guards.ts";
import { integrations } from "../pipeline/integrations.ts";
import { refuseSharedNames } from "../pipeline/names.ts";
import { recorded } from "../pipeline/proposal.ts";
import type { ManifestDocument, Manifests as ReadManifests } from "../schema/manifest-document.ts";
import { asBag, type Bag, flat } from "../schema/objects.ts";
import { checkNodes } from "../schema/read-nodes.ts";
import { AllocationSet } from "./allocation-set.ts";
import type { AllocationSetArgs, ClaimArgs } from "./set-args.ts";
import { present, recordOf } from "./set-state.ts";

/** Kubernetes objects that take addresses, and how they are planned. */
export interface ManifestsArgs extends Omit<AllocationSetArgs, "pools" | "claims"> {
  /**
   * Plain objects that are known now, as they would stand in a folder of manifests: pools, policies, the configuration of
   * bare-metal hosts (`InfraSpec`), and any others.
   */
  readonly objects: readonly object[];
  /** The nodes: names, or names with their labels. */
  readonly nodes?: readonly (string | { readonly name: string; readonly labels: { readonly [key: string]: string } })[];
}

/**
 * A folder of manifests as a component: an AllocationSet of everything that its objects ask for, and the objects with literal
 * addresses in their place.
 */
export class Manifests extends pulumi.ComponentResource {
  readonly allocations: AllocationSet;
  /** The objects to apply, in order: what nodeippool does not know is as it was. */
  readonly objects: pulumi.Output<object[]>;

  /** Throws pulumi.RunError with everything that is wrong with the objects. */
  constructor(name: string, args: ManifestsArgs, opts?: pulumi.ComponentResourceOptions) {
    super("nodeippool:index:Manifests", name, {}, opts);
    const { objects, nodes = [], ...rest } = args;
    const given = flat(objects).map(({ object }) => object);
    const { manifests, desired, claims } = orRunError(name, () => read(given, nodes));
    const pools = { ...poolSpecs(given), ...definedSpecs(desired) };
    this.allocations = new AllocationSet(name, { ...rest, pools, claims }, { parent: this });
    const { set = "default", state = { backend: "stack" } } = args;
    const { addresses, releasing } = this.allocations;
    this.objects = pulumi.all([addresses, releasing]).apply(([addresses, releasing]) => {
      const snapshot = recordOf([{ addresses, releasing, pools, state, set }]);
      return orRunError(name, () => objectsOf(given, manifests, render(desired, snapshot, set)));
    });
    this.registerOutputs({ objects: this.objects });
  }
}

function poolSpecs(objects: readonly Bag[]): Record<string, PoolSpec> {
  const pools = objects.filter(({ kind }) => kind === "NodeIPPool");
  return Object.fromEntries(pools.map(({ metadata, spec }) => [`${asBag(metadata)?.name}`, spec as PoolSpec]));
}

/** The pools that integrations define. */
function definedSpecs({ parts }: Desired): Record<string, PoolSpec> {
  const defined = parts.flatMap(({ integration, model }) => integration.pools?.(model) ?? []);
  return Object.fromEntries(defined.map(({ pool, spec }) => [pool.name, spec]));
}

/** Each object is a file of one document. */
function read(objects: readonly Bag[], nodes: NonNullable<ManifestsArgs["nodes"]>) {
  const manifests = readFolder(objects.map((object, i) => ({ path: `objects[${i}]`, text: JSON.stringify(object) })));
  const given = checkNodes(nodes.map((node) => (typeof node === "string" ? { name: node } : node)));
  const issues = [...manifests.issues, ...given.issues];
  const source = { ...manifests, issues, nodes: [...manifests.nodes, ...given.nodes] };
  const desired = readDesired(source, integrations);
  const unserved = desired.unserved.filter(({ asks }) => asks).flatMap((one) => one.issues);
  if (unserved.length > 0) throw new IpamError("invalid", unserved);
  // By name alone, one of two pools would be gone unnoticed.
  checkPools(desired.pools, emptySnapshot);
  return { manifests, desired, claims: claimsOf(desired) };
}

function claimsOf({ claims, pools }: Desired): ClaimArgs[] {
  const choosing = claims.find((claim) => poolsAsked(claim).length > 1);
  if (choosing !== undefined)
    throw new IpamError(
      "invalid",
      `${claimKey(choosing.owner, choosing.name)} may ask pools ${poolsAsked(choosing).join(", ")}`,
      {
        hint: "A Pulumi program needs one pool of a family for it.",
      },
    );
  const [unserved] = choosePools(claims, pools, emptySnapshot).pending;
  if (unserved !== undefined)
    throw new IpamError(
      "invalid",
      `${unserved.claim}: ${unserved.message}`,
      unserved.hint ? { hint: unserved.hint } : {},
    );
  return claims.map(({ owner, name, pool, wanted, interface: nic }) => ({
    owner,
    name,
    pool,
    ...present({ address: wanted === undefined ? undefined : formatAddress(wanted), interface: nic }),
  }));
}

function render(desired: Desired, snapshot: Snapshot, set: string): Rendered {
  const proposal = recorded(() => desired, snapshot, { set });
  const refusal = firstRefusal(proposal);
  if (refusal !== undefined) throw refusal;
  return proposal.rendered();
}

/** As `renderFolder` does with texts. Throws IpamError `invalid` as it does. */
function objectsOf(given: readonly Bag[], manifests: ReadManifests, rendered: Rendered): object[] {
  refuseSharedNames(manifests, rendered);
  const own = manifests.documents.flatMap((document, i) => objectsFor(document, given[i] as Bag, rendered));
  return [...own, ...rendered.added];
}

function objectsFor(document: ManifestDocument, object: Bag, { instead }: Rendered): readonly object[] {
  switch (document.kind) {
    case "foreign":
      return [object];
    case "node":
      return [];
    case "pool":
      return [{ ...object, spec: { ...asBag(object.spec), authority: "Plan" } }];
    case "owned":
      return instead.get(document.source) ?? [];
  }
}

function orRunError<T>(name: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof IpamError) throw new pulumi.RunError(`Manifests ${name}: ${error.message}`);
    throw error;
  }
}
