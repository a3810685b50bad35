import { IpamError, type Place, placed } from "../core/index.ts";
import type { Rendered, RenderedObject } from "../integrations/contract/integration.ts";
import type { Manifests } from "../schema/manifest-document.ts";
import { type Bag, objectIdentity, placeOfName, titleOf } from "../schema/objects.ts";

/** Which objects are written, and for whom: two of one identity would be one object in the cluster. */
export class Names {
  private readonly makers = new Map<string, { readonly maker: string; readonly at: (() => Place) | undefined }>();

  /**
   * Throws IpamError `invalid` if another maker writes the object. What one maker writes twice is the user's own business. `at` is
   * where the object stands that is written, or that it is made of.
   */
  take(object: Bag | RenderedObject, maker: string, at?: () => Place): void {
    const key = objectIdentity(object);
    const other = this.makers.get(key);
    if (other !== undefined && other.maker !== maker) {
      const message = `${titleOf(object)} is written by ${other.maker} and by ${maker}`;
      const place = (other.at ?? at)?.();
      throw new IpamError("invalid", [{ message, ...placed(place), hint: "Rename one of them." }]);
    }
    this.makers.set(key, { maker, at });
  }
}

/** Throws IpamError `invalid` if what is rendered of manifests would be one object with another one of them. */
export function refuseSharedNames({ others }: Manifests, { instead, added }: Rendered): void {
  const names = new Names();
  const [own, sources] = ["your own manifests", [...instead]];
  for (const located of others) names.take(located.object, own, () => placeOfName(located));
  for (const [source, objects] of sources)
    for (const object of objects as readonly object[])
      names.take(object as Bag, object === source.object ? own : titleOf(source.object), () => placeOfName(source));
  for (const object of added) names.take(object, "clean-up");
}
