import type { KubeObject, Stored } from "../../kube/index.ts";
import type { Body } from "./subnet-records.ts";

/** A ConfigMap that holds a part of the record, or the index of the parts. */
export interface RecordMap extends KubeObject {
  readonly data?: { readonly [key: string]: string };
  readonly binaryData?: { readonly [key: string]: string };
}

export const configMaps = { apiVersion: "v1", plural: "configmaps" };
export const recordLabel = "nodeippool.nmstate.io/record";
export const indexName = "ippool.index";

type MapContent = Pick<RecordMap, "data" | "binaryData">;

/** Returns a ConfigMap to be written; a part's annotation lists its pools, for people. */
export function recordMap(
  namespace: string,
  name: string,
  content: MapContent,
  pools: readonly string[] = [],
): RecordMap {
  const listed = pools.join(" ");
  const shown = listed.length > 1000 ? `${listed.slice(0, 1000)}...` : listed;
  const annotations = name === indexName ? {} : { annotations: { "nodeippool.nmstate.io/pools": shown } };
  const metadata = { name, namespace, labels: { [recordLabel]: kindOfMap(name) }, ...annotations };
  return { apiVersion: "v1", kind: "ConfigMap", metadata, ...content };
}

/** The value of the label of a ConfigMap of this name. */
export function kindOfMap(name: string): string {
  return name === indexName ? "index" : "subnet";
}

export function versionOf({ metadata }: Stored): string {
  return `${metadata.uid} ${metadata.resourceVersion}`;
}

export function bodyOf({ data, binaryData }: RecordMap): { text?: string; gzip?: string } {
  const [text, gzip] = [data?.record, binaryData?.record];
  return { ...(text === undefined ? {} : { text }), ...(gzip === undefined ? {} : { gzip }) };
}

export function contentOf(body: Body): MapContent {
  return "text" in body ? { data: { record: body.text } } : { binaryData: { record: body.gzip } };
}
