/**
 * The address that each node of a policy gets from a pool. It stands in an address list; its texts stand wherever
 * else the policy needs them, and become literal values per node.
 */
export class AddressClaim {
  /** The pool's name. */
  readonly pool: string;
  /** Tells the claims of one policy apart. */
  readonly name: string;

  constructor(pool: string, name: string) {
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
    return `{{ ippool.${this.pool}.${this.name}.${field} }}`;
  }
}

const claimText = /^\{\{ ippool\.([^\s{}]+)\.([^\s.{}]+)\.(ip|gateway|prefix-length) \}\}$/;

/** Pools by claim name, and the same state in the words of policies in YAML: `{{ capture.NAME.ip }}`. */
export function captureClaims(state: unknown): { claims: Map<string, Set<string>>; state: unknown } {
  const claims = new Map<string, Set<string>>();
  const walk = (value: unknown): unknown => {
    if (value instanceof AddressClaim) return walk(value.entry);
    if (Array.isArray(value)) return value.map(walk);
    if (typeof value === "object" && value !== null)
      return Object.fromEntries(
        Object.entries(value).flatMap(([key, item]) => (item === undefined ? [] : [[key, walk(item)]])),
      );
    const [, pool, name, field] = (typeof value === "string" && claimText.exec(value)) || [];
    if (pool === undefined || name === undefined) return value;
    claims.set(name, (claims.get(name) ?? new Set()).add(pool));
    return `{{ capture.${name}.${field} }}`;
  };
  return { state: walk(state), claims };
}
