import { nodeOwner } from "../core/index.ts";
import type { Integration } from "../integrations/integration.ts";
import { asBag, asList } from "../schema/objects.ts";
import type { WorldKind } from "./world.ts";

/** What every integration needs: nodes and pools. */
const common: readonly WorldKind[] = [
  {
    apiVersion: "v1",
    kind: "Node",
    plural: "nodes",
    keep: ({ status }) => ({
      status: {
        conditions: asList(asBag(status)?.conditions)
          .map((one) => asBag(one) ?? {})
          .filter(({ type }) => type === "Ready")
          .map(({ type, status }) => ({ type, status })),
      },
    }),
    concerns: ({ metadata }) => ({ owners: [nodeOwner(`${asBag(metadata)?.name}`)], sources: [] }),
  },
  {
    apiVersion: "nmstate.io/v1",
    kind: "NodeIPPool",
    plural: "nodeippools",
    hasMereStatus: true,
    keep: ({ spec, status }) => ({ spec, status }),
    concerns: ({ metadata }) => ({ owners: "all", sources: [`NodeIPPool/${asBag(metadata)?.name}`] }),
  },
];

/** Every kind that is watched. */
export function kindsOf(integrations: readonly Integration[]): WorldKind[] {
  const own = integrations.flatMap(({ inCluster }) =>
    (inCluster?.kinds ?? []).map(
      (kind): WorldKind => ({ ...kind, concerns: (object) => inCluster?.concerns(object) ?? nobody }),
    ),
  );
  return [...common, ...own];
}

const nobody = { owners: [], sources: [] };
