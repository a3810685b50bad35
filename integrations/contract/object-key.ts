/** What tells a kind of object from others. */
interface Kind {
  readonly apiVersion: string;
  readonly kind: string;
}

/** A kind as keys have it: `Node`, or with its group, as kubectl has it, `IPAddress.ipam.metal3.io`. Two groups may have kinds of one name. */
export function nameOfKind({ apiVersion, kind }: Kind): string {
  return kindInGroup(kind, apiVersion.slice(0, Math.max(0, apiVersion.indexOf("/"))));
}

/** The same of a kind and its group; the core's is empty. */
export function kindInGroup(kind: string, group: string): string {
  return group === "" ? kind : `${kind}.${group}`;
}

/** `Kind/name` or `Kind/namespace:name`, the kind with its group: what an object is called in the controller. */
export function objectKey(
  object: Kind & { readonly metadata: { readonly name: string; readonly namespace?: unknown } },
): string {
  const { name, namespace } = object.metadata;
  const kind = nameOfKind(object);
  return namespace === undefined ? `${kind}/${name}` : `${kind}/${namespace}:${name}`;
}

/** The kind in a key, as `nameOfKind` has it, or that of an owner. */
export function kindOf(key: string): string {
  return key.slice(0, key.indexOf("/"));
}

/** Name and namespace in a key. */
export function namesOf(key: string): { readonly name: string; readonly namespace?: string } {
  const [, namespace, name = ""] = /^[^/]*\/(?:([^:]*):)?(.*)$/s.exec(key) ?? [];
  return namespace === undefined ? { name } : { name, namespace };
}
