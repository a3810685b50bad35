import { ApiObject } from "cdk8s";

/** An object without a namespace; cdk8s would give it the chart's. */
export class ClusterObject extends ApiObject {
  override toJson(): { metadata: { namespace?: string } } & Record<string, unknown> {
    const json = super.toJson();
    delete json.metadata.namespace;
    return json;
  }
}
