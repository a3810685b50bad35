import { IpamError } from "../core/index.ts";

/** A kind of objects as paths name it, for example `{ apiVersion: "v1", plural: "configmaps" }`. */
export interface Resource {
  readonly apiVersion: string;
  readonly plural: string;
}

/** Which objects a list or a watch is about: all of a namespace or of the cluster; labels and fields are selectors. */
export interface Where {
  readonly namespace?: string;
  readonly labels?: string;
  readonly fields?: string;
}

export function pathOf(
  { apiVersion, plural }: Resource,
  namespace?: string,
  name?: string,
  subresource?: string,
): string {
  const root = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const scope = namespace === undefined ? [] : ["namespaces", namespace];
  const parts = [...scope, plural, ...[name, subresource].filter((part) => part !== undefined)];
  // The server reads %2F as a slash, so a name could lead elsewhere.
  const wrong = parts.find((part) => !/^[^/%]+$/.test(part) || part === "." || part === "..");
  if (wrong !== undefined) throw new IpamError("invalid", `${JSON.stringify(wrong)} is not a name of Kubernetes`);
  return [root, ...parts.map(encodeURIComponent)].join("/");
}

/** The selectors as a query. */
export function selectorsOf({ labels, fields }: Where): Record<string, string> {
  return {
    ...(labels === undefined ? {} : { labelSelector: labels }),
    ...(fields === undefined ? {} : { fieldSelector: fields }),
  };
}

/** A part of a list, as the server sends it. */
export interface Page<T> {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly items: readonly T[];
  readonly metadata?: { readonly continue?: string; readonly resourceVersion?: string };
}

/** A list of objects; nothing else has items that all have metadata. */
export function isPage<T>(reply: unknown): reply is Page<T> {
  const { items } = (reply ?? {}) as { items?: unknown };
  return Array.isArray(items) && items.every((item) => item?.metadata);
}
