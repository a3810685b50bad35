import {
  type Allocation,
  claimKey,
  formatAddress,
  formatOwner,
  IpamError,
  type Pool,
  parseAddress,
} from "../../core/index.ts";
import { type Findings, useOf } from "../../schema/findings.ts";
import { ownPrefix } from "../../schema/node.ts";
import { asBag, asList, type Bag, type LocatedObject } from "../../schema/objects.ts";
import type { RenderedObject } from "../integration.ts";
import { parsePodNetworks } from "./pod-networks.ts";
import { claimOfPod, ownerOfSet, type StatefulSet } from "./stateful-set.ts";

/** On a ConfigMap with the addresses of pods: the StatefulSet that makes them. */
const setLabel = `${ownPrefix}statefulset`;

/** On a pod whose addresses are planned. */
const plannedLabel = `${ownPrefix}addresses`;

/** What each pod of a StatefulSet is to have as its networks, by the pod's name. */
export function podAddresses(
  set: StatefulSet,
  poolsOf: (definition: string) => readonly Pool[],
  lines: ReadonlyMap<string, Allocation>,
): RenderedObject {
  const data = set.ordinals.map((ordinal): [string, string] => {
    const networks = set.networks.map(({ definition, nic, element }) => {
      const ips = poolsOf(definition).map((pool) => addressOf(pool, claimOfPod(ordinal, nic), set, lines));
      return ips.length === 0 ? element : { ...element, interface: nic, ips };
    });
    return [`${set.name}-${ordinal}`, JSON.stringify(networks)];
  });
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: {
      name: `nodeippool-${set.name}`,
      namespace: set.namespace,
      labels: { [setLabel]: set.name },
      // The pods need it when they are made.
      annotations: { "argocd.argoproj.io/sync-wave": "-1" },
    },
    data: Object.fromEntries(data),
  } as RenderedObject;
}

function addressOf(pool: Pool, name: string, set: StatefulSet, lines: ReadonlyMap<string, Allocation>): string {
  const key = claimKey(ownerOfSet(set), name);
  const line = lines.get(`${pool.name} ${key}`);
  if (line === undefined) throw new IpamError("stale", `no address of pool ${pool.name} is recorded for ${key}`);
  return `${formatAddress(line.address)}/${pool.prefix.length}`;
}

/** The StatefulSet, whose pods are to have the addresses that are planned, and none else. */
export function withPlannedPods({ spec, ...rest }: Bag): RenderedObject {
  const template = asBag(asBag(spec)?.template);
  const metadata = asBag(template?.metadata);
  const labels = { ...asBag(metadata?.labels), [plannedLabel]: "planned" };
  const planned = { ...asBag(spec), template: { ...template, metadata: { ...metadata, labels } } };
  return { ...rest, spec: planned } as unknown as RenderedObject;
}

/** Has an object the addresses of pods in it? */
export function isPodAddresses({ kind, metadata }: Bag): boolean {
  return kind === "ConfigMap" && asBag(asBag(metadata)?.labels)?.[setLabel] !== undefined;
}

/** The addresses in it, which are the StatefulSet's. */
export function usesOfPodAddresses({ object, at }: LocatedObject, found: Findings): void {
  const { namespace = "default", labels } = asBag(object.metadata) ?? {};
  const owner = formatOwner(ownerOfSet({ name: `${asBag(labels)?.[setLabel]}`, namespace: `${namespace}` }));
  found.speaks = true;
  for (const [pod, text] of Object.entries(asBag(object.data) ?? {})) {
    const networks = parsePodNetworks(text, `${namespace}`).value ?? [];
    for (const ip of networks.flatMap(({ element }) => asList(element.ips))) {
      const address = parseAddress(`${ip}`.split("/")[0]).value;
      if (address !== undefined) found.uses.push(useOf(address, owner, undefined, at(["data", pod], `${ip}`)));
    }
  }
}
