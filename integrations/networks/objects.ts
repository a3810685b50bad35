import { any, list, maybe, text, texts, view } from "../../schema/shape.ts";
import { asMetadata } from "../contract/object-metadata.ts";

export const asGate = view({ name: text });

const asEnd = view({ exitCode: any, message: any });

/** A container of a pod, as its status shows it. */
export const asContainer = view({
  name: text,
  restartCount: any,
  state: view({ running: any, terminated: maybe(asEnd) }),
  lastState: view({ terminated: maybe(asEnd) }),
});

/** Terms of which a node is to meet one. */
const asNodeSelector = view({ nodeSelectorTerms: list(view({ matchExpressions: list(any) })) });

export const asPodSpec = view({
  nodeName: any,
  nodeSelector: texts,
  affinity: view({ nodeAffinity: view({ requiredDuringSchedulingIgnoredDuringExecution: asNodeSelector }) }),
  schedulingGates: list(asGate),
});

export const asPod = view({
  metadata: asMetadata,
  spec: asPodSpec,
  status: view({ phase: text, initContainerStatuses: list(asContainer), containerStatuses: list(asContainer) }),
});

export const asAttachmentDefinition = view({
  apiVersion: any,
  kind: any,
  metadata: asMetadata,
  spec: view({ config: any }),
});

/** A plugin in a CNI configuration; OVN-Kubernetes configures the whole network in its plugin. */
export const asPlugin = view({
  type: any,
  capabilities: view({ ips: any }),
  ipam: view({ type: any }),
  ...{ allowPersistentIPs: any, role: any, topology: any },
  ...{ subnets: any, excludeSubnets: any, infrastructureSubnets: any, reservedSubnets: any, defaultGatewayIPs: any },
});

/** A configuration of CNI: of several plugins, or of one. */
export const asNetworkConfig = view({ name: any, plugins: any });

/** A network of a pod, in the Multus annotation, in annotation `allocated`, or as Multus reports it. */
export const asInterface = view({
  ...{ name: any, namespace: any, interface: any },
  ...{ ips: list(any), claim: any, "ipam-claim-reference": any },
});
