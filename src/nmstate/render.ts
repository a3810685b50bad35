import { stringify } from "yaml";
import {
  type Allocation,
  familyOf,
  formatOwner,
  IpamError,
  nameOfKey,
  ownerOfKey,
  type Pool,
  type Snapshot,
} from "../core/index.ts";
import type { ClusterNode, ManifestDocument, Manifests, Policy, PolicyObject, SourceFile } from "../schema/index.ts";
import { cleanupPolicy } from "./cleanup.ts";
import { expandPolicy, parkPolicy } from "./expand.ts";
import { claimName, selectNodes } from "./select.ts";

export interface RenderInput {
  readonly files: readonly SourceFile[];
  readonly manifests: Manifests;
  readonly nodes: readonly ClusterNode[];
  /** The record, with an allocation for every claim of the policies. */
  readonly snapshot: Snapshot;
  readonly set: string;
}

/** Where clean-up policies go whose own policy is in no manifest any more. */
export const releasingFile = "nodeippool-releasing.yaml";

/**
 * The same files, with every policy that uses pools replaced by one policy per node. Documents that are not ours
 * pass through byte for byte; Node documents are input and stay behind. Pure.
 */
export function render(input: RenderInput): SourceFile[] {
  const lines = new Lines(input);
  const byFile = Map.groupBy(input.manifests.documents, (document) => document.file);
  const rendered = input.files.flatMap((file): SourceFile[] => {
    const documents = byFile.get(file.path) ?? [];
    if (documents.every((document) => document.kind === "foreign")) return [file];
    const texts = documents.flatMap((document) => renderDocument(document, input, lines));
    return texts.length === 0 ? [] : [{ path: file.path, text: joined(texts) }];
  });
  const orphans = lines.orphans(input.manifests.policies, input.nodes).map(yamlOf);
  return orphans.length === 0 ? rendered : [...rendered, { path: releasingFile, text: joined(orphans) }];
}

/** Documents as one text. Directives may follow `...` only. */
function joined(texts: readonly string[]): string {
  return texts
    .map((text, i) => {
      const separator = i === 0 ? "" : /^%/m.test(text) ? "...\n" : "---\n";
      return `${separator}${text}${text.endsWith("\n") ? "" : "\n"}`;
    })
    .join("");
}

function renderDocument(document: ManifestDocument, input: RenderInput, lines: Lines): string[] {
  switch (document.kind) {
    case "foreign":
      return [document.text];
    case "node":
      return [];
    case "pool":
      return [poolText(document)];
    case "policy":
      return policyObjects(document.policy, input, lines).map(yamlOf);
  }
}

/** The pool as it was written, its authority said: in a cluster an absent one would mean Cluster. */
function poolText({ yaml, path }: Extract<ManifestDocument, { kind: "pool" }>): string {
  const document = yaml.part(path);
  document.deleteIn(["status"]);
  document.setIn(["spec", "authority"], "Plan");
  return document.toString({ lineWidth: 0 });
}

function policyObjects(policy: Policy, input: RenderInput, lines: Lines): PolicyObject[] {
  const pools = new Map(input.manifests.pools.map((pool) => [pool.name, pool]));
  const selected = new Set(selectNodes(policy, input.nodes));
  const handwritten = new Set(
    input.manifests.documents.flatMap((d) => (d.kind === "foreign" ? (d.policyName ?? []) : [])),
  );
  const children = input.nodes.flatMap((node): PolicyObject[] => {
    const releasing = lines.releasing(policy.name, node);
    if (selected.has(node))
      return [expandPolicy({ policy, node, addresses: lines.addresses(policy, node, pools), releasing })];
    return releasing.length === 0 ? [] : [cleanupPolicy(policy, node, releasing)];
  });
  const clash = children.find((child) => handwritten.has(child.metadata.name));
  if (clash !== undefined)
    throw new IpamError(
      "invalid",
      `policy ${clash.metadata.name} is written by hand, and ${policy.name} would make one of that name`,
      {
        hint: "Rename one of them.",
      },
    );
  const joinsLater = [...policy.captures.values()].some(({ pool }) => pools.get(pool)?.clusterRange.length);
  return joinsLater ? [...children, parkPolicy(policy)] : children;
}

function yamlOf(object: PolicyObject): string {
  // 1.1 quotes what older parsers would misread: on, 11:22:33:44:55:10.
  return stringify(object, { version: "1.1", lineWidth: 0, aliasDuplicateObjects: false });
}

/** The record, looked up the way a renderer asks. */
class Lines {
  private readonly live: Map<string, Allocation>;
  private readonly leaving: Map<string, Allocation[]>;

  constructor({ snapshot, set }: RenderInput) {
    this.live = new Map(snapshot.allocations.filter((l) => l.set === set).map((l) => [`${l.pool} ${l.claim}`, l]));
    const replaced = new Set(snapshot.allocations.map(nicOf));
    const leaving = snapshot.releasing.filter((line) => line.set === set && !replaced.has(nicOf(line)));
    this.leaving = Map.groupBy(leaving, (line) => `${policyOf(line)} ${ownerOfKey(line.claim)}`);
  }

  addresses(policy: Policy, node: ClusterNode, pools: ReadonlyMap<string, Pool>) {
    const entries = [...policy.captures].map(([capture, { pool }]) => {
      const key = `${ownerOf(node)}/${claimName(policy, capture)}`;
      const line = this.live.get(`${pool} ${key}`);
      if (line === undefined) throw new IpamError("stale", `no address is recorded for ${key} in pool ${pool}`);
      return [capture, { address: line.address, pool: pools.get(pool) as Pool }] as const;
    });
    return new Map(entries);
  }

  /** What this policy gave the node and the node is to give up, but where a live allocation replaces it on its NIC. */
  releasing(policy: string, node: ClusterNode): readonly Allocation[] {
    return this.leaving.get(`${policy} ${ownerOf(node)}`) ?? [];
  }

  /** Clean-up policies of policies that are in no manifest. */
  orphans(policies: readonly Policy[], nodes: readonly ClusterNode[]): PolicyObject[] {
    const known = new Set(policies.map((policy) => policy.name));
    const gone = [...new Set([...this.leaving.values()].flat().map(policyOf))]
      .filter((name) => !known.has(name))
      .sort();
    return gone.flatMap((name) =>
      nodes.flatMap((node) => {
        const releasing = this.releasing(name, node);
        return releasing.length === 0 ? [] : [cleanupPolicy({ name }, node, releasing)];
      }),
    );
  }
}

function ownerOf(node: ClusterNode): string {
  return formatOwner({ kind: "Node", name: node.name });
}

/** Claims of policies are named `<policy>/<capture>`. */
function policyOf(line: Allocation): string {
  return nameOfKey(line.claim).replace(/\/.*/s, "");
}

/** nmstate replaces addresses per NIC and family. */
function nicOf(line: Allocation): string {
  return `${ownerOfKey(line.claim)} ${line.interface} ${familyOf(line.address)}`;
}
