import { parseAllDocuments } from "yaml";
import { readDesired, renderDesired } from "../../../pipeline/desired.ts";
import { readFolder, renderFolder } from "../../../pipeline/folder.ts";
import { integrations } from "../../../pipeline/integrations.ts";
import { propose } from "../../../pipeline/proposal.ts";
import { memory } from "../../../state/memory.ts";
import { recordOf } from "../core/text.ts";
import { nodesOf, sourcesOf, type Texts } from "./text.ts";

export interface World {
  readonly manifests: Texts;
  /** As `readNodes` takes them. */
  readonly nodes: string;
  /** What is recorded before, as `recordOf` takes it; whatever the manifests claim besides is planned. */
  readonly record?: readonly string[];
  readonly set?: string;
}

/** The files that render makes, by name, with every claim allocated. */
export async function rendered(world: World): Promise<Record<string, string>> {
  const { set = "default" } = world;
  const files = sourcesOf(world.manifests);
  const manifests = readFolder(files);
  const nodes = nodesOf(world.nodes);
  const state = memory(recordOf(world.record ?? [], manifests.pools));
  const desired = readDesired({ ...manifests, nodes }, integrations);
  const { plan } = propose(() => desired, await state.read(), { set });
  const holdings = { snapshot: await state.commit(plan), set };
  const output = renderFolder(files, manifests, renderDesired(desired, holdings));
  return Object.fromEntries(output.map(({ path, text }) => [path, text]));
}

/** Any object of a manifest, as tests look at it. */
// biome-ignore lint/suspicious/noExplicitAny: tests look deep into manifests of any kind
export type Manifest = any;

/** The objects of all files, read as kubectl would (YAML 1.1) unless another version is asked for. */
export function objectsIn(files: Readonly<Record<string, string>>, version: "1.1" | "1.2" = "1.1"): Manifest[] {
  return Object.values(files).flatMap((text) =>
    parseAllDocuments(text, { version }).map((document) => {
      if (document.errors[0]) throw document.errors[0];
      return document.toJS();
    }),
  );
}

/** The policies that render makes, by name. */
export async function policiesOf(world: World): Promise<Map<string, Manifest>> {
  const objects = objectsIn(await rendered(world));
  const policies = objects.filter(({ kind }) => kind === "NodeNetworkConfigurationPolicy");
  return new Map(policies.map((policy) => [policy.metadata.name, policy]));
}
