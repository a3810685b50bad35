import { IpamError } from "../core/index.ts";
import { isCaptureName } from "../schema/template.ts";

/**
 * The address that each node of a policy gets from a pool. It stands in an address list; its texts stand wherever
 * else the policy needs them, and become literal values per node.
 */
export class AddressClaim {
  /** The pool's name. */
  readonly pool: string;
  /** Tells the claims of one policy apart. */
  readonly name: string;

  /** Throws IpamError `invalid` for a name that nmstate would not take as the name of a capture. */
  constructor(pool: string, name: string) {
    if (!isCaptureName(name))
      throw new IpamError("invalid", `claim name ${name} must be letters, digits and - and start with a letter`);
    this.pool = pool;
    this.name = name;
  }

  /** A text that becomes the address. */
  get ip(): string {
    return this.text("ip");
  }

  /** A text that becomes the pool's gateway, for example as the next hop of a route. */
  get gateway(): string {
    return this.text("gateway");
  }

  /** @internal The entry of an address list, as a template. */
  get entry(): { readonly ip: string; readonly "prefix-length": string } {
    return { ip: this.ip, "prefix-length": this.text("prefix-length") };
  }

  private text(field: string): string {
    return `${opening}${this.pool}.${this.name}.${field} }}`;
  }
}

const opening = "{{ ippool.";
const claimText = /^\{\{ ippool\.([^\s{}]+)\.([^\s.{}]+)\.(ip|gateway|prefix-length) \}\}$/;

/** Throws IpamError `invalid` for a text that only a policy could have made an address of. */
export function refuseClaimText(text: string): void {
  if (text.includes(opening))
    throw new IpamError("invalid", `${JSON.stringify(text)}: a claim is an address only inside its policy`, {
      hint: "Elsewhere name the node: pool.addressOf(node).",
    });
}

/**
 * Pools by claim name, and the same state in the words of policies in YAML: `{{ capture.NAME.ip }}`.
 * Throws IpamError `invalid` for anything but plain data: cdk8s resolves such values later than policies are read.
 */
export function captureClaims(state: unknown): { claims: Map<string, Set<string>>; state: unknown } {
  const claims = new Map<string, Set<string>>();
  const walk = (value: unknown, path: string): unknown => {
    if (value instanceof AddressClaim) return walk(value.entry, path);
    if (Array.isArray(value)) return value.map((item, i) => walk(item, `${path}[${i}]`));
    if (typeof value === "object" && value !== null) {
      if (!isPlainObject(value))
        throw new IpamError("invalid", `${path} is a ${value.constructor.name}, not plain data`);
      const entries = Object.entries(value).filter(([, item]) => item !== undefined);
      return Object.fromEntries(entries.map(([key, item]) => [key, walk(item, `${path}.${key}`)]));
    }
    const [, pool, name, field] = (typeof value === "string" && claimText.exec(value)) || [];
    if (pool !== undefined && name !== undefined) {
      claims.set(name, (claims.get(name) ?? new Set()).add(pool));
      return `{{ capture.${name}.${field} }}`;
    }
    if (typeof value === "string" && value.includes(opening))
      throw new IpamError("invalid", `${path} must be the claim's text alone, not ${JSON.stringify(value)}`);
    return value;
  };
  return { state: walk(state, "desiredState"), claims };
}

/** Of any realm: test runners give each test file its own `Object`. */
function isPlainObject(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
