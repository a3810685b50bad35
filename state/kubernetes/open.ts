import type { KnownBackend } from "../backend.ts";

/** Where in which cluster a record is. */
export interface KubernetesOptions {
  /** Path of a kubeconfig. Default: as kubectl finds it, else the cluster that this process runs in. */
  readonly kubeconfig?: string;
  /** Context of the kubeconfig. Default: its current one. */
  readonly context?: string | undefined;
  /** The namespace of the ConfigMaps. Default: that of the context, once it has a record. */
  readonly namespace?: string | undefined;
  /** Called right before each write; what it throws ends the commit there. */
  readonly beforeWrite?: () => void;
}

/**
 * A record in ConfigMaps of a cluster, for several pipelines, stacks and people; docs/state-backends.md says what it
 * needs and promises. The client for API servers is loaded by this call, not by the import.
 * Throws IpamError `invalid` where no cluster is configured.
 */
export async function openKubernetes(options: KubernetesOptions = {}): Promise<KnownBackend> {
  const { namespace, beforeWrite = () => {}, ...where } = options;
  const [{ findAccess, objectsOf }, { kubernetes }] = await Promise.all([
    import("../../kube/index.ts"),
    import("./backend.ts"),
  ]);
  const objects = objectsOf(findAccess(where));
  const asked: typeof objects = {
    ...objects,
    create: async (resource, object) => {
      beforeWrite();
      return objects.create(resource, object);
    },
    put: async (resource, object) => {
      beforeWrite();
      return objects.put(resource, object);
    },
  };
  return { ...kubernetes(asked, namespace), where: { context: where.context, namespace } };
}
