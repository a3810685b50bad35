import { byCodeUnit, IpamError, type Snapshot } from "../../core/index.ts";
import type { ClusterNode, ManifestDocument, Manifests, Policy, PolicyObject, SourceFile } from "../../schema/index.ts";
import { asBag, type Bag } from "../../schema/objects.ts";
import { parkPolicy, servesLaterNodes } from "./expand.ts";
import { Makers } from "./makers.ts";
import { type Left, PolicyLines } from "./policy-lines.ts";
import { selectNodes } from "./select.ts";
import { otherSpeakers, ownSpeaker, type Speaker } from "./speakers.ts";
import { inLastWave } from "./sync-wave.ts";
import { yamlOfEach } from "./yaml-text.ts";

/** What `render` writes from. */
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
  const lines = new PolicyLines(input.snapshot, input.set, speakersIn(input));
  const makers = new Makers();
  const own = othersIn(input.manifests).map(({ metadata }) => String(asBag(metadata)?.name));
  for (const name of new Set(own)) makers.take(name, "your own hand");
  const byFile = Map.groupBy(input.manifests.documents, (document) => document.file);
  const rendered = input.files.flatMap((file): SourceFile[] => {
    const documents = byFile.get(file.path) ?? [];
    if (documents.every((document) => document.kind === "foreign")) return [file];
    const texts = documents.flatMap((document) => renderDocument(document, input, lines, makers));
    return texts.length === 0 ? [] : [{ path: file.path.replace(/\.json$/, ".json.yaml"), text: joinDocuments(texts) }];
  });
  const orphans = lines.orphans(input.manifests.policies, input.nodes);
  for (const orphan of orphans) makers.take(orphan.metadata.name, "a policy that is gone");
  const cleanup = orphans.length === 0 ? [] : [{ path: releasingFile, text: joinDocuments(yamlOfEach(orphans)) }];
  return distinct([...rendered, ...cleanup]);
}

/** Releasing addresses that `render` takes off no node, and why: somebody has to do it by hand. */
export function leftOnNodes({ manifests, nodes, snapshot, set }: Omit<RenderInput, "files">): Left[] {
  return new PolicyLines(snapshot, set, speakersIn({ manifests, nodes })).left(manifests.policies, nodes);
}

/** All policies of a folder, and whom they speak to. */
export function speakersIn({ manifests, nodes }: Pick<RenderInput, "manifests" | "nodes">): Speaker[] {
  const own = manifests.policies.map((policy) => ownSpeaker(policy, nodes));
  return [...own, ...otherSpeakers(othersIn(manifests), nodes)];
}

/** The policies that are none of ours. */
function othersIn({ documents }: Manifests): Bag[] {
  return documents.flatMap((document) => (document.kind === "foreign" ? document.policies : []));
}

function distinct(files: readonly SourceFile[]): SourceFile[] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const twice = files.find((file) => byPath.get(file.path) !== file);
  if (twice !== undefined)
    throw new IpamError("invalid", `render needs the name ${twice.path} for itself; rename that file`);
  return [...files];
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

function renderDocument(document: ManifestDocument, input: RenderInput, lines: PolicyLines, makers: Makers): string[] {
  switch (document.kind) {
    case "foreign":
      return [document.text];
    case "node":
      return [];
    case "pool":
      return [poolText(document)];
    case "policy": {
      const objects = policyObjects(document.policy, input, lines);
      for (const { metadata } of objects) makers.take(metadata.name, `policy ${document.policy.name}`);
      return yamlOfEach(objects);
    }
  }
}

/** The pool as it was written, its authority said: in a cluster an absent one would mean Cluster. */
function poolText({ yaml, path }: Extract<ManifestDocument, { kind: "pool" }>): string {
  const document = yaml.part(path);
  document.deleteIn(["status"]);
  document.setIn(["spec", "authority"], "Plan");
  return yaml.textOfPart(document);
}

function policyObjects(policy: Policy, input: RenderInput, lines: PolicyLines): PolicyObject[] {
  const pools = new Map(input.manifests.pools.map((pool) => [pool.name, pool]));
  const selected = new Set(selectNodes(policy, input.nodes));
  const children = input.nodes
    .map((node) => (selected.has(node) ? lines.child(policy, node, pools) : lines.cleanup(policy, node)))
    .filter((object) => object !== undefined);
  return servesLaterNodes(policy, pools) ? [...children, inLastWave(parkPolicy(policy), policy)] : children;
}
