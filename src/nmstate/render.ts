import { Document, visit } from "yaml";
import {
  type Allocation,
  byCodeUnit,
  familyOf,
  IpamError,
  nameOfKey,
  nodeOwner,
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
 * pass through byte for byte; Node documents are input and stay behind. A JSON file that had to be changed becomes
 * YAML, and says so in its name. Pure. Throws `invalid` if two policies or two files would have one name.
 */
export function render(unsorted: RenderInput): SourceFile[] {
  const input = { ...unsorted, nodes: unsorted.nodes.toSorted((a, b) => byCodeUnit(a.name, b.name)) };
  const lines = new Lines(input);
  const names = new Names(input.manifests);
  const byFile = Map.groupBy(input.manifests.documents, (document) => document.file);
  const rendered = input.files.flatMap((file): SourceFile[] => {
    const documents = byFile.get(file.path) ?? [];
    if (documents.every((document) => document.kind === "foreign")) return [file];
    const texts = documents.flatMap((document) => renderDocument(document, input, lines, names));
    return texts.length === 0 ? [] : [{ path: file.path.replace(/\.json$/, ".json.yaml"), text: joinDocuments(texts) }];
  });
  const orphans = lines.orphans(input.manifests.policies, input.nodes);
  for (const orphan of orphans) names.take(orphan.metadata.name, "a policy that is gone");
  const cleanup = orphans.length === 0 ? [] : [{ path: releasingFile, text: joinDocuments(orphans.map(yamlOf)) }];
  return distinct([...rendered, ...cleanup]);
}

function distinct(files: readonly SourceFile[]): SourceFile[] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const twice = files.find((file) => byPath.get(file.path) !== file);
  if (twice !== undefined)
    throw new IpamError("invalid", `render needs the name ${twice.path} for itself; rename that file`);
  return [...files];
}

/** The names of all policies that are written; no two may be one. */
class Names {
  private readonly makers = new Map<string, string>();

  constructor({ documents }: Manifests) {
    for (const document of documents)
      if (document.kind === "foreign") for (const name of document.policyNames) this.makers.set(name, "your own hand");
  }

  take(name: string, maker: string): void {
    const other = this.makers.get(name);
    if (other !== undefined)
      throw new IpamError("invalid", `policy ${name} would be made by ${maker}, but is also made by ${other}`, {
        hint: "Rename one of them.",
      });
    this.makers.set(name, maker);
  }
}

/** Documents as one text. Directives may follow `...` only. */
export function joinDocuments(texts: readonly string[]): string {
  return texts
    .map((text, i) => {
      const separator = i === 0 ? "" : /^%/m.test(text) ? "...\n" : "---\n";
      return `${separator}${text}${text.endsWith("\n") ? "" : "\n"}`;
    })
    .join("");
}

function renderDocument(document: ManifestDocument, input: RenderInput, lines: Lines, names: Names): string[] {
  switch (document.kind) {
    case "foreign":
      return [document.text];
    case "node":
      return [];
    case "pool":
      return [poolText(document)];
    case "policy": {
      const objects = policyObjects(document.policy, input, lines);
      for (const { metadata } of objects) names.take(metadata.name, `policy ${document.policy.name}`);
      return objects.map(yamlOf);
    }
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
  const children = input.nodes.flatMap((node): PolicyObject[] => {
    const releasing = lines.releasing(policy.name, node);
    if (selected.has(node))
      return [expandPolicy({ policy, node, addresses: lines.addresses(policy, node, pools), releasing })];
    return present(cleanupPolicy(policy, node, releasing));
  });
  const joinsLater = [...policy.captures.values()].some(({ pool }) => pools.get(pool)?.clusterRange.length);
  return joinsLater ? [...children, parkPolicy(policy)] : children;
}

function present<T>(value: T | undefined): T[] {
  return value === undefined ? [] : [value];
}

function yamlOf(object: PolicyObject): string {
  // As YAML 1.1 it quotes what older parsers would misread (on, 11:22:33:44:55:10); 0o17 only newer ones do.
  const document = new Document(object, { version: "1.1", aliasDuplicateObjects: false });
  visit(document, {
    Scalar: (_, node) => {
      if (typeof node.value === "string" && /^[-+]?0o[0-7]+$/.test(node.value)) node.type = "QUOTE_DOUBLE";
    },
  });
  return document.toString({ lineWidth: 0 });
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
      const key = `${nodeOwner(node.name)}/${claimName(policy, capture)}`;
      const line = this.live.get(`${pool} ${key}`);
      if (line === undefined) throw new IpamError("stale", `no address is recorded for ${key} in pool ${pool}`);
      return [capture, { address: line.address, pool: pools.get(pool) as Pool }] as const;
    });
    return new Map(entries);
  }

  /** What this policy gave the node and the node is to give up, but where a live allocation replaces it on its NIC. */
  releasing(policy: string, node: ClusterNode): readonly Allocation[] {
    return this.leaving.get(`${policy} ${nodeOwner(node.name)}`) ?? [];
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
        return present(cleanupPolicy({ name }, node, releasing));
      }),
    );
  }
}

/** Claims of policies are named `<policy>/<capture>`. */
function policyOf(line: Allocation): string {
  return nameOfKey(line.claim).replace(/\/.*/s, "");
}

/** nmstate replaces addresses per NIC and family. */
function nicOf(line: Allocation): string {
  return `${ownerOfKey(line.claim)} ${line.interface} ${familyOf(line.address)}`;
}
