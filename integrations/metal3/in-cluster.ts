import { IpamError, type Issue } from "../../core/index.ts";
import type { Findings } from "../../schema/findings.ts";
import { issueIn, type LocatedObject } from "../../schema/objects.ts";
import { mapping } from "../../schema/shape.ts";
import type { ClusterIntegration } from "../contract/cluster-integration.ts";
import type { Holdings, Rendered, RenderedObject } from "../contract/integration.ts";
import { metadataOf } from "../contract/object-metadata.ts";
import type { ReadObject } from "../contract/read-each.ts";
import { hostGroup, hostKind } from "./bare-metal-host.ts";
import { configMapName, parseConfigMap } from "./config-map.ts";
import { recordedAddresses } from "./held-addresses.ts";
import { hostSecret } from "./host-objects.ts";
import { type Infra, nameOfObjects } from "./infra.ts";
import { type Metal3Model, metal3 } from "./plan.ts";
import { metal3Part } from "./recording.ts";
import { networksOf } from "./template.ts";
import { networkDataKind, usesOfSecret } from "./uses.ts";

/** The same configuration in a ConfigMap of this namespace: the controller allocates, and each host has its Secret. */
export function metal3InCluster(namespace: string): ClusterIntegration<Metal3Model> {
  const { name, claims, isClaim, conflicts } = metal3;
  return {
    name,
    claims,
    isClaim,
    ...(conflicts && { conflicts }),
    reads: [
      { group: "", kind: "ConfigMap", plural: "configmaps", owns: isConfiguration, mark: /(?!)/ },
      { group: hostGroup, kind: hostKind, plural: "baremetalhosts", owns: () => true, mark: /(?!)/ },
    ],
    read: ({ owned }) => {
      const parsed = owned.filter(({ object }) => isConfiguration(object)).map(parseConfigMap);
      const issues = parsed.flatMap(({ issues: found = [] }) => found);
      return issues.length > 0 ? { issues } : { value: parsed.flatMap(({ value }) => value ?? []) };
    },
    // The file has no authority: here it is the controller.
    pools: (model) =>
      (metal3.pools?.(model) ?? []).map(({ pool, spec, at }) => ({
        pool: { ...pool, authority: "Cluster" },
        spec: { ...spec, authority: "Cluster" },
        at,
      })),
    render: (model, _, holdings) => renderSecrets(model, namespace, holdings),
    uses: [{ kind: networkDataKind, reader: () => usesOfHost }],
    ...metal3Part(namespace),
  };
}

function isConfiguration(object: LocatedObject["object"]): boolean {
  return object.kind === "ConfigMap" && metadataOf(object).name === configMapName;
}

/** Adds the addresses in the Secret of a host, without their links: a host has one address of a network. Those in a copy may be in use, but are not the host's. */
function usesOfHost(located: LocatedObject, found: Findings): void {
  const first = found.uses.length;
  usesOfSecret(located, found);
  const { name } = metadataOf(located.object);
  const uses = found.uses.splice(first).map(({ interface: _, ...use }) => use);
  found.uses.push(
    ...uses.map((use) => (nameOfObjects(`${use.owner}/`) === name ? use : { ...use, isTemporary: true })),
  );
}

/** Returns the Secret of each host that has all its addresses. */
function renderSecrets(model: Metal3Model, namespace: string, holdings: Holdings): Rendered {
  const recorded = recordedAddresses(holdings);
  const issues: Issue[] = [];
  const secretsOf = ({ value: infra, source }: ReadObject<Infra>): RenderedObject[] =>
    infra.units.flatMap((unit) =>
      unit.hosts.flatMap((host) => {
        const addresses = recorded(unit, host.name);
        if (addresses.size < networksOf(unit.networkConfig).length) return [];
        const { value, issues: found = [] } = hostSecret(infra, unit, host, addresses, { namespace });
        issues.push(...found.map((issue) => issueIn(source, issue)));
        return value === undefined ? [] : [asStored(value)];
      }),
    );
  const instead = new Map(model.map((one) => [one.source, secretsOf(one)]));
  if (issues.length > 0) throw new IpamError("invalid", issues);
  return { instead, added: [], left: [] };
}

/** A Secret as a server gives it: the text that was written is encoded. */
function asStored({ stringData, ...secret }: RenderedObject & { readonly stringData?: unknown }): RenderedObject {
  const texts = Object.entries(mapping(stringData));
  const data = Object.fromEntries(texts.map(([key, text]) => [key, Buffer.from(`${text}`).toString("base64")]));
  return { ...secret, type: "Opaque", data };
}
