import { IpamError } from "../core/index.ts";
import { anyField, type Field, isCaptureName } from "../schema/template.ts";

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
    if (typeof name !== "string" || !isCaptureName(name))
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

  private text(field: Field): string {
    return `${opening}${this.pool}.${this.name}.${field} }}`;
  }
}

const opening = "{{ ippool.";
const claimText = new RegExp(`^\\{\\{ ippool\\.([^\\s{}]+)\\.([^\\s.{}]+)\\.(${anyField}) \\}\\}$`);

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
export function captureClaims(state: unknown): { claims: ReadonlyMap<string, ReadonlySet<string>>; state: unknown } {
  const capturing = new Capturing();
  return { state: capturing.copy(state, "desiredState"), claims: capturing.claims };
}

class Capturing {
  readonly claims = new Map<string, Set<string>>();
  /** The objects that hold what is being copied. */
  private readonly above: object[] = [];

  copy(value: unknown, path: string): unknown {
    if (value instanceof AddressClaim) return this.copy(value.entry, path);
    if (typeof value === "object" && value !== null) return this.copyObject(value, path);
    if (typeof value === "string") return this.text(value, path);
    // JSON would drop a function, and make null of a number like NaN.
    if (value === null || typeof value === "boolean" || Number.isFinite(value)) return value;
    throw new IpamError("invalid", `${path} is ${String(value)}, not plain data`);
  }

  private copyObject(value: object, path: string): object {
    if (this.above.includes(value)) throw new IpamError("invalid", `${path} holds itself, which is not plain data`);
    if (!Array.isArray(value) && !isPlainObject(value))
      throw new IpamError("invalid", `${path} is a ${value.constructor.name}, not plain data`);
    this.above.push(value);
    const copy = Array.isArray(value)
      ? value.map((item, i) => this.copy(item, `${path}[${i}]`))
      : Object.fromEntries(Object.entries(value).flatMap((entry) => this.field(entry, path)));
    this.above.pop();
    return copy;
  }

  private field([key, item]: [string, unknown], path: string): [string, unknown][] {
    refuseClaimText(key);
    return item === undefined ? [] : [[key, this.copy(item, `${path}.${key}`)]];
  }

  private text(text: string, path: string): string {
    const [, pool, name, field] = claimText.exec(text) ?? [];
    if (pool !== undefined && name !== undefined) {
      this.claims.set(name, (this.claims.get(name) ?? new Set()).add(pool));
      return `{{ capture.${name}.${field} }}`;
    }
    if (!text.includes(opening)) return text;
    throw new IpamError("invalid", `${path} must be the claim's text alone, not ${JSON.stringify(text)}`);
  }
}

/** Of any realm: test runners give each test file its own `Object`. */
function isPlainObject(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
