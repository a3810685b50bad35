import { IpamError } from "../core/index.ts";
import type { RenderedObject } from "../integrations/integration.ts";

/** Which objects are written, and for whom: two of one kind and name would be one object in the cluster. */
export class Names {
  private readonly makers = new Map<string, string>();

  /** Throws IpamError `invalid` if another maker has the name. What one maker writes twice is the user's own business. */
  take(kind: unknown, name: unknown, maker: string): void {
    const key = `${kind} ${name}`;
    const other = this.makers.get(key);
    if (other !== undefined && other !== maker)
      throw new IpamError("invalid", `${key} is written by ${other} and by ${maker}`, { hint: "Rename one of them." });
    this.makers.set(key, maker);
  }

  takeAll(objects: readonly RenderedObject[], maker: string): void {
    for (const { kind, metadata } of objects) this.take(kind, metadata.name, maker);
  }
}
