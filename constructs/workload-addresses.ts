import { ApiObject, Chart } from "cdk8s";
import { Construct, type IConstruct } from "constructs";
import { IpamError } from "../core/index.ts";
import type { RenderedObject } from "../integrations/contract/integration.ts";
import { networksAnnotation } from "../integrations/networks/attachment-definition.ts";
import { poolAnnotation } from "../integrations/networks/bound-pools.ts";
import { isWorkload } from "../integrations/workload/workload-object.ts";
import { unknownField } from "../schema/nearest.ts";
import { asBag, type Bag } from "../schema/objects.ts";
import { AddressPlan } from "./address-plan.ts";

/** A workload, and where its pods have addresses. */
export interface WorkloadAddressesProps {
  /** A StatefulSet or Deployment of the app: an ApiObject, or a construct of cdk8s-plus. */
  readonly workload: IConstruct;

  /**
   * The networks of its pods, as Multus reads them: `vlan-30`, `other/wan@eth5`.
   *
   * @default - those that its template names
   */
  readonly networks?: readonly string[];

  /**
   * The names of NodeIPPools that give the addresses on each of these networks.
   *
   * @default - those that its template, its namespace or the network names, else the pools with `default`
   */
  readonly pools?: readonly string[];
}

/**
 * Fixed addresses for the pods of a workload of the app, as docs/workloads.md has it. The app has the
 * NetworkAttachmentDefinitions of its networks, too. In the manifests is the ConfigMap with the addresses, and the workload says
 * that its pods wait for them.
 */
export class WorkloadAddresses extends Construct {
  /** @internal */
  readonly subject: ApiObject;
  private readonly annotations: Bag;
  /** The workload as the app has it. */
  private readonly raw: () => Bag;
  /** What the plan renders of it. */
  private planned: Bag = {};

  /** Throws IpamError `invalid` for what is no StatefulSet or Deployment. */
  constructor(scope: Construct, id: string, props: WorkloadAddressesProps) {
    super(scope, id);
    const { path, scopes } = this.node;
    if (!scopes.some((one) => Chart.isChart(one)))
      throw new IpamError("invalid", `${path} must be in a chart: its ConfigMap is an object of that`);
    const unknown = unknownField(props, ["workload", "networks", "pools"]);
    if (unknown !== undefined) throw new IpamError("invalid", `${path}: ${unknown}`);
    this.subject = ApiObject.of(props.workload);
    const { apiVersion, kind } = this.subject;
    if (!isWorkload({ apiVersion, kind }))
      throw new IpamError(
        "invalid",
        `${path}: ${kind} ${this.subject.name} is no StatefulSet or Deployment of apps/v1`,
      );
    const { networks, pools } = props;
    this.annotations = {
      ...(networks && { [networksAnnotation]: networks.join(", ") }),
      ...(pools && { [poolAnnotation]: pools.join(", ") }),
    };
    this.raw = this.subject.toJson.bind(this.subject);
    this.subject.toJson = () => labelled(this.object, this.planned);
    this.subject.node.addDependency(this);
    AddressPlan.of(this).addObject(this);
  }

  /** @internal The workload as it is now, with the annotations of its pods. */
  get object(): Bag {
    return withPods(this.raw(), ({ annotations, ...rest }) => ({
      ...rest,
      annotations: { ...asBag(annotations), ...this.annotations },
    }));
  }

  /** @internal Throws IpamError `invalid` if nothing is rendered beside the workload. */
  takes(rendered: readonly RenderedObject[]): readonly RenderedObject[] {
    const others = rendered.filter(({ kind }) => kind !== this.subject.kind);
    if (others.length === 0)
      throw new IpamError(
        "invalid",
        `${this.node.path}: no network of ${this.subject.kind} ${this.subject.name} takes addresses that this app plans`,
        { hint: "Put its NetworkAttachmentDefinition into the app, and have it name a NodeIPPool of authority Plan." },
      );
    this.planned = { ...rendered.find((one) => !others.includes(one)) };
    return others;
  }
}

/** With the labels that the plan gives it and its pods. */
function labelled(object: Bag, planned: Bag): Bag {
  const add = (metadata: Bag, more: unknown) => {
    const labels = { ...asBag(metadata.labels), ...asBag(asBag(more)?.labels) };
    return Object.keys(labels).length === 0 ? metadata : { ...metadata, labels };
  };
  const pods = withPods(object, (metadata) => add(metadata, templateOf(planned)?.metadata));
  return { ...pods, metadata: add(asBag(object.metadata) ?? {}, planned.metadata) };
}

function withPods(object: Bag, change: (metadata: Bag) => Bag): Bag {
  const template = { ...templateOf(object), metadata: change(asBag(templateOf(object)?.metadata) ?? {}) };
  return { ...object, spec: { ...asBag(object.spec), template } };
}

function templateOf({ spec }: Bag): Bag | undefined {
  return asBag(asBag(spec)?.template);
}
