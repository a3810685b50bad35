import { dirname } from "node:path";
import { IpamError, type Issue, shellWord } from "../../core/index.ts";
import type { SourceFile } from "../../schema/index.ts";
import { ownOptions, recordOptions } from "../argv.ts";

const name = /(?:^|\/)kustomization\.ya?ml$/;
const ours = /\b(?:NodeIPPool|NodeNetworkConfigurationPolicy)\b/;

/** What is wrong with layers or patches of kustomize may be that they are not built yet: no object is whole or alone there. */
export function orBuilt<T>(files: readonly SourceFile[], read: () => T): T {
  const layers = layersIn(files);
  const [first] = layers.length > 1 ? layers : layers.filter(patches);
  if (first === undefined) return read();
  try {
    return read();
  } catch (error) {
    if (!(error instanceof IpamError) || error.code !== "invalid") throw error;
    throw new IpamError("invalid", [...error.issues, unbuilt(first, layers)]);
  }
}

/** Patches inside a kustomization are no objects: what they change of ours, only kustomize knows. */
export function kustomizeNotes(files: readonly SourceFile[]): string[] {
  const layers = layersIn(files);
  const first = layers.find((file) => patches(file) && ours.test(file.text));
  if (first === undefined) return [];
  const { message, hint } = unbuilt(first, layers);
  return [`Note: ${message}, with patches that are passed over here. ${hint}`];
}

function layersIn(files: readonly SourceFile[]): readonly SourceFile[] {
  return files.filter(({ path }) => name.test(path));
}

function patches({ text }: SourceFile): boolean {
  return /^patches/m.test(text);
}

function unbuilt(layer: SourceFile, layers: readonly SourceFile[]): Issue {
  const folder = layers.length > 1 ? "OVERLAY" : shellWord(dirname(layer.label ?? layer.path));
  const others = `${ownOptions(["--nodes"]) || " --nodes FILE"}${ownOptions(["--set"])}${recordOptions()}`;
  return {
    message: `${layer.label ?? layer.path} says that kustomize builds this`,
    hint: `Read what it builds, from standard input: kubectl kustomize ${folder} | nodeippool plan -${others} (audit, show, explain: --pools -). Or name a folder that is whole without its patches.`,
  };
}
