import { any, list, mapping, view } from "../../schema/shape.ts";
import { asMetadata } from "../contract/object-metadata.ts";
import { asPodSpec } from "../networks/objects.ts";

/** A StatefulSet, or a Deployment. */
export const asWorkload = view({
  metadata: asMetadata,
  spec: view({
    replicas: any,
    ordinals: view({ start: any }),
    strategy: view({ type: any, rollingUpdate: view({ maxSurge: any }) }),
    template: view({ metadata: asMetadata, spec: asPodSpec }),
  }),
});

export const asConfigMap = view({ kind: any, metadata: asMetadata, data: mapping });

/** The pools of a NIC in Spiderpool's annotations. */
export const asNamedPools = view({ interface: any, ipv4: any, ipv6: any });

/** The checks, in a ConfigMap, for pods with addresses of a pool. */
export const asPoolChecks = view({ prefix: any, gateway: any, checks: list(any) });
