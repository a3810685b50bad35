import type { Bag } from "../../../schema/objects.ts";
import type { SimServer } from "./server.ts";

/**
 * The webhook of kubernetes-nmstate: each write of a policy gets a new annotation, so that no write leaves it as it was.
 * A change of the status alone does not: the API server keeps the metadata then.
 */
export function timestampWebhook({ objects }: SimServer): SimServer["webhook"] {
  let count = 0;
  return (object) => {
    if (object.kind !== "NodeNetworkConfigurationPolicy") return object;
    const there = objects.get(`nodenetworkconfigurationpolicies/${object.metadata.name}`);
    if (there !== undefined && isOfStatusAlone(there, object)) return object;
    const { annotations, ...metadata } = object.metadata as { annotations?: Record<string, string> };
    const stamp = { "nmstate.io/webhook-mutating-timestamp": `${++count}` };
    return { ...object, metadata: { ...metadata, annotations: { ...annotations, ...stamp } } as never };
  };
}

function isOfStatusAlone(there: Bag, written: Bag): boolean {
  const textOf = ({ status: _, ...rest }: Bag) => JSON.stringify(rest);
  return JSON.stringify(there.status) !== JSON.stringify(written.status) && textOf(there) === textOf(written);
}
