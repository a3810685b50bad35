import { formatPlace, type Issue, type Place } from "../core/index.ts";
import type { ManifestDocument, ReadKind } from "./manifest-document.ts";
import { objectIdentity, titleOf } from "./objects.ts";

/**
 * Finds objects that several documents define. The second one of ours is an issue; of objects that other programs run as they are,
 * all are marked: which one counts cannot be told.
 */
export function definedTwice(documents: readonly ManifestDocument[], kinds: readonly ReadKind[]) {
  const foreign = new Set(kinds.flatMap(({ kind, runsAsIs }) => (runsAsIs ? kind : [])));
  const groups = Map.groupBy(documents, (document) => identityIn(document) ?? document);
  const issues: Issue[] = [];
  const marked = new Map<ManifestDocument, ManifestDocument>();
  for (const [first, ...others] of groups.values()) {
    if (first === undefined || others.length === 0) continue;
    const found = others.flatMap((one) => issueOf(one, placeOf(first), kinds));
    if (first.kind !== "owned" || !foreign.has(`${first.source.object.kind}`)) issues.push(...found);
    else for (const one of [first, ...others]) marked.set(one, withIssues(one, found));
  }
  return { documents: documents.map((one) => marked.get(one) ?? one), issues };
}

type Located = Extract<ManifestDocument, { kind: "pool" | "owned" }>;

function isLocated(document: ManifestDocument): document is Located {
  return document.kind === "pool" || document.kind === "owned";
}

function objectOf(document: Located) {
  if (document.kind === "owned") return document.source.object;
  return { apiVersion: "nmstate.io/v1", kind: "NodeIPPool", metadata: document.pool };
}

function identityIn(document: ManifestDocument): string | undefined {
  return isLocated(document) ? objectIdentity(objectOf(document)) : undefined;
}

function placeOf(document: ManifestDocument): Place | undefined {
  return isLocated(document) ? document.yaml.at([...document.path, "metadata", "name"]) : undefined;
}

function issueOf(document: ManifestDocument, first: Place | undefined, kinds: readonly ReadKind[]): Issue[] {
  const at = placeOf(document);
  if (!isLocated(document) || first === undefined || at === undefined) return [];
  const object = objectOf(document);
  const field = kinds.find(({ kind }) => kind === object.kind)?.nameless?.field;
  const hint =
    field === undefined
      ? "If kustomize builds this folder, read what it builds: kubectl kustomize FOLDER."
      : "A folder has one such file. Plan each by itself, with a lock of its own, or with a claim set of its own and networks of other names.";
  return [{ message: `${field ?? titleOf(object)} is defined twice, here and in ${formatPlace(first)}`, at, hint }];
}

function withIssues(document: ManifestDocument, issues: readonly Issue[]): ManifestDocument {
  if (document.kind !== "owned") return document;
  return { ...document, source: { ...document.source, issues: [...(document.source.issues ?? []), ...issues] } };
}
