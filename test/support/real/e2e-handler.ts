import { stringify } from "yaml";
import { hostnameLabel } from "../../../schema/node.ts";
import { applyState, type LabNode, show } from "./lab.ts";
import { runPolicy } from "./nmstatectl.ts";

/** A rendered NodeNetworkConfigurationPolicy, as far as tests look at it. */
export interface Nncp {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly nodeSelector: Record<string, string>;
    readonly capture?: Record<string, string>;
    readonly desiredState: {
      readonly interfaces: readonly { readonly name: string }[];
      readonly routes?: { readonly config: readonly { readonly destination: string; readonly state?: string }[] };
    };
  };
}

/** The policies that a node's handler applies. */
export function policiesOf(host: string, policies: readonly Nncp[]): Nncp[] {
  const labels: Record<string, string> = { [hostnameLabel]: host };
  return policies.filter(({ spec }) =>
    Object.entries(spec.nodeSelector).every(([key, value]) => labels[key] === value),
  );
}

/** What the handlers of the nodes do about the policies of the cluster: resolve captures, apply; both with nmstatectl. */
export async function handle(nodes: readonly LabNode[], policies: readonly Nncp[]): Promise<void> {
  for (const node of nodes)
    for (const { spec } of policiesOf(node.name, policies)) {
      const state = await runPolicy(spec.capture ?? {}, spec.desiredState, await show(node));
      await applyState(node, stringify(state));
    }
}

/** `kubectl get nns -o json`: what the nodes themselves show. */
export async function nodeNetworkStates(nodes: readonly LabNode[]): Promise<string> {
  const items = nodes.map(async (node) => ({
    apiVersion: "nmstate.io/v1beta1",
    kind: "NodeNetworkState",
    metadata: { name: node.name },
    status: { currentState: await show(node), conditions: [{ type: "Available", status: "True" }] },
  }));
  return JSON.stringify({ apiVersion: "v1", kind: "List", items: await Promise.all(items) });
}
