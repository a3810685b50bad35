import { ApiObject, type ApiObjectProps } from "cdk8s";
import { Construct } from "constructs";
import { ClusterObject } from "./cluster-object.ts";
import { components, controllerObjects, detectingObjects, parkingObjects } from "./generated/controller-objects.ts";

/** How the controller is installed. */
export interface NodeIPPoolControllerProps {
  /**
   * Where the cluster finds the image that the Dockerfile of nodeippool makes.
   *
   * @default nodeippool:<version>
   */
  readonly image?: string;

  /**
   * The namespace of the controller and of its record.
   *
   * @default nodeippool
   */
  readonly namespace?: string;

  /**
   * How many run at once. More than one are safe; one is enough.
   *
   * @default 1
   */
  readonly replicas?: number;

  /**
   * Whether the API server parks policies in the moment they are applied. Needs Kubernetes 1.36.
   *
   * @default false
   */
  readonly parkAtAdmission?: boolean;

  /**
   * Whether IPAddressClaims of Cluster API get addresses from NodeIPPools.
   *
   * @default false
   */
  readonly clusterApi?: boolean;

  /**
   * The namespace whose bare-metal hosts get addresses and network data.
   *
   * @default none
   */
  readonly metal3?: string;

  /**
   * The namespace of whereabouts' objects, `kube-system` by its default: nodes get slices of the networks that it divides.
   *
   * @default none
   */
  readonly nodeSlices?: string;

  /**
   * Whether IPAMClaims get addresses, on networks that name NodeIPPools.
   *
   * @default false
   */
  readonly ipamClaims?: boolean;

  /**
   * Whether nodes get their addresses by one policy for all, in place of one for each: for more than a hundred nodes. The controller then
   * sets labels of Nodes.
   *
   * @default false
   */
  readonly fleet?: boolean;

  /**
   * Whether VMs of KubeVirt get IPAMClaims.
   *
   * @default false
   */
  readonly vmClaims?: boolean;

  /**
   * Whether the pods of VMs wait for the addresses of their IPAMClaims, and are told them. Needs Kubernetes 1.36 or newer.
   *
   * @default false
   */
  readonly vmAddresses?: boolean;

  /**
   * Whether pods of StatefulSets, Deployments and others wait for addresses, and get them. Needs Kubernetes 1.36 or newer.
   *
   * @default false
   */
  readonly workloadAddresses?: boolean;

  /**
   * The image with which these pods look for conflicts before they start: what the Dockerfile of nodeippool makes with `--target detect`.
   * What they look for is in their templates, or in `detect` of a NodeIPPool. Needs Kubernetes 1.36 or newer.
   *
   * @default none
   */
  readonly detect?: string;

  /**
   * On which nodes a pod of a Deployment that is deleted and does not end loses its addresses. Where its node is not heard of, it may still run.
   *
   * @default "never"
   */
  readonly freeTerminating?: "never" | "ready-nodes" | "all-nodes";

  /**
   * How long after its grace period.
   *
   * @default "1m"
   */
  readonly freeTerminatingAfter?: string;

  /**
   * How often everything is looked at once more.
   *
   * @default "10m"
   */
  readonly lookEvery?: string;
}

/** The controller, and all that it needs in a cluster: the objects of `kubectl apply -k deploy/`. */
export class NodeIPPoolController extends Construct {
  constructor(scope: Construct, id: string, props: NodeIPPoolControllerProps = {}) {
    super(scope, id);
    const objects = [
      ...controllerObjects,
      ...(props.parkAtAdmission ? parkingObjects : []),
      ...(props.detect === undefined ? [] : detectingObjects),
      ...served(props).flatMap(({ objects: its }) => its),
    ];
    for (const object of objects) {
      const placed = asAsked(object, props);
      const Kind = placed.metadata?.namespace === undefined ? ClusterObject : ApiObject;
      new Kind(this, `${placed.kind}-${object.metadata?.name}`, placed);
    }
  }
}

/** What the controller is asked to serve besides, each with its argument. */
function served(props: NodeIPPoolControllerProps) {
  return Object.entries(components).flatMap(([name, { flag, objects }]) => {
    const value = props[name as keyof typeof components] ?? false;
    return value === false ? [] : [{ argument: value === true ? flag : `${flag}=${value}`, objects }];
  });
}

function asAsked(object: ApiObjectProps, props: NodeIPPoolControllerProps): ApiObjectProps {
  const { namespace = "nodeippool", metal3, nodeSlices } = props;
  const ofOthers: Readonly<Record<string, string | undefined>> = { metal3, "kube-system": nodeSlices };
  const { metadata, subjects, ...rest } = structuredClone(object);
  const name = object.kind === "Namespace" ? { name: namespace } : {};
  return {
    ...(object.kind === "Deployment" ? asked(rest, props) : rest),
    ...withImage(object, props),
    metadata: {
      ...metadata,
      ...name,
      ...(metadata?.namespace && { namespace: ofOthers[metadata.namespace] ?? namespace }),
    },
    ...(subjects === undefined ? {} : { subjects: [{ ...subjects[0], namespace }] }),
  };
}

/** The policy that adds a container of this image. */
function withImage({ spec }: ApiObjectProps, { detect }: NodeIPPoolControllerProps): { readonly spec?: unknown } {
  const [image, ...others] = spec?.variables ?? [];
  if (image?.name !== "image" || detect === undefined) return {};
  return { spec: { ...spec, variables: [{ ...image, expression: `'${detect}'` }, ...others] } };
}

/** The Deployment, with one container. */
function asked(deployment: ApiObjectProps, props: NodeIPPoolControllerProps): ApiObjectProps {
  const { image, replicas } = props;
  const { spec } = deployment;
  if (replicas !== undefined) spec.replicas = replicas;
  const [{ args }] = spec.template.spec.containers;
  args.push(...served(props).map(({ argument }) => argument));
  if (image !== undefined) spec.template.spec.containers[0].image = image;
  return deployment;
}
