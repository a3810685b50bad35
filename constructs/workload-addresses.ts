import { ApiObject, Chart, JsonPatch } from "cdk8s";
import { Construct, type IConstruct } from "constructs";
import { IpamError } from "../core/index.ts";
import { networksAnnotation } from "../integrations/attachment-definition.ts";
import { poolAnnotation } from "../integrations/bound-pools.ts";
import type { RenderedObject } from "../integrations/integration.ts";
import { isWorkload } from "../integrations/workload/workload-object.ts";
import { unknownField } from "../schema/nearest.ts";
import { asBag, type Bag } from "../schema/objects.ts";
import { AddressPlan } from "./address-plan.ts";
import type { PlannedObject } from "./planned-construct.ts";

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
export class WorkloadAddresses extends Construct implements PlannedObject {
  /** @internal */
  readonly subject: ApiObject;
  private readonly annotations: Bag;
  private readonly patched = new Map<string, string>();

  /** Throws IpamError `invalid` for what is no StatefulSet or Deployment. */
  constructor(scope: Construct, id: string, props: WorkloadAddressesProps) {
    super(scope, id);
    const { path, scopes } = this.node;
    if (!scopes.some((one) => Chart.isChart(one)))
      throw new IpamError("invalid", `${path} must be in a chart: its ConfigMap is an object of that`);
    const stranger = unknownField(props, ["workload", "networks", "pools"]);
    if (stranger !== undefined) throw new IpamError("invalid", `${path}: ${stranger}`);
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
    this.subject.node.addDependency(this);
    AddressPlan.of(this).addObject(this);
  }

  /** @internal The workload as it is now. */
  get object(): Bag {
    const { spec, ...object }: Bag = this.subject.toJson();
    const template = asBag(asBag(spec)?.template);
    const metadata = asBag(template?.metadata);
    const annotations = { ...asBag(metadata?.annotations), ...this.annotations };
    return { ...object, spec: { ...asBag(spec), template: { ...template, metadata: { ...metadata, annotations } } } };
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
    const { metadata, spec }: Bag = { ...rendered.find((one) => !others.includes(one)) };
    this.patch("/spec/template/metadata", asBag(asBag(spec)?.template)?.metadata);
    this.patch("/metadata/labels", asBag(metadata)?.labels);
    return others;
  }

  /** The app may be planned again: nothing is patched twice. */
  private patch(path: string, value: unknown): void {
    const text = JSON.stringify(value);
    if (value === undefined || this.patched.get(path) === text) return;
    this.patched.set(path, text);
    this.subject.addJsonPatch(JsonPatch.add(path, value));
  }
}
