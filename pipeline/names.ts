import { IpamError } from "../core/index.ts";
import type { Rendered, RenderedObject } from "../integrations/integration.ts";
import type { Manifests } from "../schema/manifest-document.ts";
import { type Bag, objectIdentity, titleOf } from "../schema/objects.ts";

/** Which objects are written, and for whom: two of one identity would be one object in the cluster. */
export class Names {
  private readonly makers = new Map<string, string>();

  /** Throws IpamError `invalid` if another maker writes the object. What one maker writes twice is the user's own business. */
  take(object: Bag | RenderedObject, maker: string): void {
    const key = objectIdentity(object);
    const other = this.makers.get(key);
    if (other !== undefined && other !== maker)
      throw new IpamError("invalid", `${titleOf(object)} is written by ${other} and by ${maker}`, {
        hint: "Rename one of them.",
      });
    this.makers.set(key, maker);
  }
}

/** Throws IpamError `invalid` if what is rendered of manifests would be one object with another one of them. */
export function refuseSharedNames({ others }: Manifests, { instead, added }: Rendered): void {
  const names = new Names();
  const [own, sources] = ["your own manifests", [...instead]];
  for (const { object } of others) names.take(object, own);
  for (const [source, objects] of sources)
    for (const object of objects as readonly object[])
      names.take(object as Bag, object === source.object ? own : titleOf(source.object));
  for (const object of added) names.take(object, "clean-up");
}
