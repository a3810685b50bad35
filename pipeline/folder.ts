import { IpamError, listed } from "../core/index.ts";
import type { Holdings, Integration, Rendered } from "../integrations/contract/integration.ts";
import type { ManifestDocument, Manifests } from "../schema/manifest-document.ts";
import { readManifests } from "../schema/manifests.ts";
import type { SourceFile } from "../schema/yaml.ts";
import { yamlOfEach } from "../schema/yaml-text.ts";
import type { Desired } from "./desired.ts";
import { integrations, readKinds } from "./integrations.ts";
import { refuseSharedNames } from "./names.ts";

/** Reads a folder of manifests, and says everything that is wrong with it: `readDesired` throws that. */
export function readFolder(files: readonly SourceFile[], known: readonly Integration[] = integrations): Manifests {
  return readManifests(files, readKinds(known));
}

/** Where objects go that stand in for none of the manifests: clean-up. */
export const releasingFile = "nodeippool-releasing.yaml";

/**
 * The same files, with every object that an integration owns replaced. Documents that are not ours pass through byte for
 * byte; Node documents are input and stay behind. A JSON file that had to be changed becomes YAML, and says so in its name.
 * Pure. Throws IpamError `invalid` if two objects or two files would have one name.
 */
export function renderFolder(files: readonly SourceFile[], manifests: Manifests, rendered: Rendered): SourceFile[] {
  refuseSharedNames(manifests, rendered);
  const { instead, added } = rendered;
  const byFile = Map.groupBy(manifests.documents, (document) => document.file);
  const changed = files.flatMap((file): SourceFile[] => {
    const own = byFile.get(file.path) ?? [];
    if (own.every((document) => isUnchanged(document, instead))) return [file];
    const texts = own.flatMap((document) => textsOf(document, instead));
    return texts.length === 0 ? [] : [{ path: file.path.replace(/\.json$/, ".json.yaml"), text: joinDocuments(texts) }];
  });
  const cleanup = added.length === 0 ? [] : [{ path: releasingFile, text: joinDocuments(yamlOfEach(added)) }];
  return distinct([...changed, ...cleanup]);
}

/** What a folder is rendered as, unless another format is asked for. */
export const manifestFormat = "manifests";

/** Throws IpamError `invalid` for a format that there is not. */
export function checkFormat(format: string): void {
  const formats = [manifestFormat, ...integrations.flatMap(({ formats: own = [] }) => own.map(({ name }) => name))];
  if (formats.includes(format)) return;
  throw new IpamError("invalid", `there is no format ${format}; formats are ${listed(formats)}`);
}

/** The plain files of a format other than that. Throws IpamError `invalid` where there are none, and as integrations do. */
export function renderFiles({ parts }: Desired, format: string, holdings: Holdings): SourceFile[] {
  const files = parts.flatMap(({ integration, model }) =>
    (integration.formats ?? []).flatMap((one) => (one.name === format ? one.files(model, holdings) : [])),
  );
  if (files.length === 0) throw new IpamError("invalid", `nothing in these manifests is rendered as ${format}`);
  return files;
}

function textsOf(document: ManifestDocument, instead: Rendered["instead"]): string[] {
  switch (document.kind) {
    case "foreign":
      return [document.text];
    case "node":
      return [];
    case "pool":
      return [poolText(document)];
    case "owned":
      return textsInstead(document, instead);
  }
}

function isUnchanged(document: ManifestDocument, instead: Rendered["instead"]): boolean {
  if (document.kind !== "owned") return document.kind === "foreign";
  const { source } = document;
  const objects: readonly object[] = instead.get(source) ?? [];
  return objects.length === 1 && objects[0] === source.object;
}

/** An object that stands for itself keeps its text. */
function textsInstead(
  { source, yaml, path }: Extract<ManifestDocument, { kind: "owned" }>,
  instead: Rendered["instead"],
) {
  const objects: readonly object[] = instead.get(source) ?? [];
  const [first, ...others] = objects;
  if (first !== source.object) return yamlOfEach(objects);
  return [path.length === 0 ? yaml.chunk.text : yaml.textOf(path), ...yamlOfEach(others)];
}

/** The pool as it was written, its authority said: in a cluster an absent one would mean Cluster. */
function poolText({ yaml, path }: Extract<ManifestDocument, { kind: "pool" }>): string {
  const document = yaml.part(path);
  document.deleteIn(["status"]);
  document.setIn(["spec", "authority"], "Plan");
  return yaml.textOfPart(document);
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
