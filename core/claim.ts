import type { Address } from "./address.ts";
import type { Parsed, Place } from "./errors.ts";

/** What holds an address: a Kubernetes object, or anything else that has a kind and a name. */
export interface Owner {
  /** For example `Node` or `VirtualMachine`. */
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
}

/** An owner asks a pool for one block: one address, unless the pool has another block length. */
export interface Claim {
  readonly owner: Owner;
  /** Tells the claims of one owner apart; `<policy>/<capture>` for node network policies. */
  readonly name: string;
  readonly pool: string;
  /** Where several pools will do: `pool` is then chosen among these, and is only what people read before that. */
  readonly choice?: PoolChoice;
  /** The address that it asks for; in a pool of blocks, an address of the block. */
  readonly wanted?: Address;
  /** The NIC that gets the address; recorded, so that it can be taken off there, and an import finds the claim by it. */
  readonly interface?: string;
  /** Owners other than Nodes: another uid under the same name is another owner and does not inherit the address. */
  readonly uid?: string;
  /** It is that of one pod of its owner, by what its name has before the `/`: it never becomes one of another pod. */
  readonly isOfPod?: boolean;
  /** Returns where the object stands that asks, or the part of it; absent where it comes from no text. */
  readonly at?: () => Place;
}

/** Pools of which each will do for a claim. */
export interface PoolChoice {
  /** Those that it may get an address of, the first one that has room. */
  readonly tried: readonly string[];
  /** Others, in which it keeps what it has. */
  readonly kept: readonly string[];
  /** Where there are none to try: why. */
  readonly why: string;
  /** There are none to try, and one of them would be if it had an address to allocate. */
  readonly isFull?: boolean;
  /** Why the lines of one more pool cannot be read, if there is one: the claim may have an address there. */
  readonly unread?: string;
}

/** The pools in which a claim may have an address. */
export function poolsAsked({ pool, choice }: Pick<Claim, "pool" | "choice">): readonly string[] {
  return choice === undefined ? [pool] : [...choice.tried, ...choice.kept];
}

/** `Kind/name` or `Kind/namespace:name`. */
export function formatOwner(owner: Owner): string {
  return owner.namespace === undefined
    ? `${owner.kind}/${owner.name}`
    : `${owner.kind}/${owner.namespace}:${owner.name}`;
}

/** The owner that a cluster node is: `Node/<name>`. */
export function nodeOwner(name: string): string {
  return formatOwner({ kind: "Node", name });
}

/** The name of the cluster node that an owner is, written as `formatOwner` does; undefined for owners of other kinds. */
export function nodeNameOf(owner: string): string | undefined {
  return owner.startsWith("Node/") ? owner.slice("Node/".length) : undefined;
}

/** Returns whether the owner of a line is a node. */
export function isOfNode({ claim }: { readonly claim: string }): boolean {
  return nodeNameOf(ownerOfKey(claim)) !== undefined;
}

/** Claim key: `<owner>/<claim name>`. Injective, because kind, namespace and owner name hold neither `/` nor `:`. */
export function claimKey(owner: Owner, name: string): string {
  return `${formatOwner(owner)}/${name}`;
}

const kind = "[A-Za-z][A-Za-z0-9]*";
const namespace = "[a-z0-9][a-z0-9.-]*";
const name = "[A-Za-z0-9][A-Za-z0-9._-]*";
const ownerPattern = new RegExp(`^(${kind})/(?:(${namespace}):)?(${name})$`);
const [isKind, isNamespace, isName] = [kind, namespace, name].map((pattern) => new RegExp(`^${pattern}$`)) as [
  RegExp,
  RegExp,
  RegExp,
];
const maxLength = 400;

/** Returns whether `parseOwner` reads what `formatOwner` writes. */
export function isOwner(owner: Owner): boolean {
  return (
    isKind.test(owner.kind) &&
    (owner.namespace === undefined || isNamespace.test(owner.namespace)) &&
    isName.test(owner.name) &&
    formatOwner(owner).length <= maxLength
  );
}

/** Returns whether a claim may have this name. */
export function isClaimName(text: string): boolean {
  return text !== "" && text.length <= maxLength && isPlain(text);
}

/** Reads what `formatOwner` writes. */
export function parseOwner(text: string): Parsed<Owner> {
  const match = ownerPattern.exec(text);
  if (match === null || text.length > maxLength)
    return {
      issues: [
        {
          message: `${JSON.stringify(text.slice(0, 80))} is not an owner`,
          hint: "Write Kind/name or Kind/namespace:name.",
        },
      ],
    };
  const [, kind, namespace, name] = match as unknown as [string, string, string | undefined, string];
  return { value: namespace === undefined ? { kind, name } : { kind, namespace, name } };
}

/** The owner and the claim name of a claim key. */
export function parseClaimKey(key: string): Parsed<{ owner: Owner; name: string }> {
  const slash = key.indexOf("/", key.indexOf("/") + 1);
  const owner = slash < 0 ? undefined : parseOwner(key.slice(0, slash)).value;
  const name = key.slice(slash + 1);
  if (owner === undefined || !isClaimName(name))
    return {
      issues: [
        {
          message: `${JSON.stringify(key.slice(0, 80))} is not a claim`,
          hint: "Write Kind/name/claim or Kind/namespace:name/claim.",
        },
      ],
    };
  return { value: { owner, name } };
}

/** Text without anything that moves a cursor, hides, or turns the direction of writing: it is printed and reviewed. */
export function isPlain(text: string): boolean {
  return !/[^ -~]/.test(text) || !/[\p{C}\p{Zl}\p{Zp}]/u.test(text);
}

/** The owner part of a claim key that is known to be well formed. */
export function ownerOfKey(key: string): string {
  return key.slice(0, key.indexOf("/", key.indexOf("/") + 1));
}

/** Nodes by their name alone; every other owner in full. */
export function ownerName(claim: string): string {
  const owner = ownerOfKey(claim);
  return nodeNameOf(owner) ?? owner;
}

/** The name part of a claim key that is known to be well formed. */
export function nameOfKey(key: string): string {
  return key.slice(key.indexOf("/", key.indexOf("/") + 1) + 1);
}

/** The policy of a claim named `<policy>/<capture>`, by its key; a name without `/` is its own. */
export function policyOfKey(claim: string): string {
  return nameOfKey(claim).replace(/\/.*/s, "");
}
