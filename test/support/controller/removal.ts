import { IpamError } from "../../../core/index.ts";
import type { Objects, Resource } from "../../../kube/index.ts";

/** Deletes an object, whatever others have written into it meanwhile; it may be gone. */
export async function removeAnyhow(kube: Objects, resource: Resource, name: string, namespace?: string): Promise<void> {
  const there = await kube.get(resource, name, namespace);
  const isChanged = (error: unknown) => error instanceof IpamError && error.code === "conflict";
  if (there !== undefined)
    await kube
      .delete(resource, there)
      .catch((error) => (isChanged(error) ? removeAnyhow(kube, resource, name, namespace) : Promise.reject(error)));
}
