import { byCodeUnit, type Issue, type Parsed, type PoolWords } from "../../core/index.ts";
import { inSentences } from "../../schema/issues.ts";
import type { SourceObject } from "../../schema/manifest-document.ts";
import { parsePoolSpec } from "../../schema/node-ip-pool.ts";
import { issueIn } from "../../schema/objects.ts";
import type { DefinedPool } from "../contract/integration.ts";
import type { ReadObject } from "../contract/read-each.ts";
import type { UnreadObject } from "../contract/unserved.ts";
import { attachmentKind, attachmentTitle, configPath, parseNetworkConfig } from "../networks/attachment-definition.ts";
import { type PersistentNetwork, parsePersistentNetwork } from "./network.ts";

/** The networks whose VMs keep their addresses. */
export interface Networks {
  /** By the NetworkAttachmentDefinition, as `namespace/name`. */
  readonly byTitle: ReadonlyMap<string, ReadObject<PersistentNetwork>>;
  /** By what CNI calls them; definitions that share a name are one network. */
  readonly byName: ReadonlyMap<string, ReadObject<PersistentNetwork>>;
  readonly pools: readonly DefinedPool[];
}

/** Returns networks by name. If two definitions of a network differ, or its pools cannot be built, none of them counts. */
export function persistentNetworks(definitions: readonly ReadObject<PersistentNetwork>[]): {
  readonly networks: Networks;
  readonly unread: readonly UnreadObject[];
} {
  const unread: UnreadObject[] = [];
  const sorted = definitions.toSorted((a, b) => byCodeUnit(a.value.title, b.value.title));
  const good = [...Map.groupBy(sorted, ({ value }) => value.network).values()].flatMap((all) => {
    const [first] = all;
    if (first === undefined) return [];
    const { value: pools = [], issues = [] } = poolsOf(first);
    const wrong = all.flatMap(({ value, source }) =>
      meaningOf(first.value) === meaningOf(value)
        ? []
        : issueIn(source, { ...whyApart(first.value.title, value.title, value.network), path: configPath }),
    );
    const found = [...issues, ...wrong];
    if (found.length === 0) return [{ all, first, pools }];
    unread.push(...all.map(({ source }) => ({ source, issues: found })));
    return [];
  });
  const networks = {
    byTitle: new Map(good.flatMap(({ all }) => all.map((one) => [one.value.title, one] as const))),
    byName: new Map(good.map(({ first }) => [first.value.network, first])),
    pools: good.flatMap(({ pools }) => pools),
  };
  return { networks, unread };
}

/** Returns networks by name in a cluster, where the caller has left out definitions that disagree. */
export function agreedNetworks(definitions: readonly ReadObject<PersistentNetwork>[]): Networks {
  return {
    byTitle: new Map(definitions.map((one) => [one.value.title, one])),
    byName: new Map(definitions.map((one) => [one.value.network, one])),
    pools: [],
  };
}

/**
 * In a cluster, definitions arrive one by one, and a user who may create one may name any network. No definition may redirect the claims
 * of others to its own pools, whether it comes first in some order, or another one breaks:
 *
 *  the definitions of a network             | the network
 *  -----------------------------------------+----------------------------------------------------
 *  one, or several that agree               | gives addresses
 *  several, and two of them differ, or one  | gives nothing new until they agree; each of them
 *   cannot be served                        |  reports one that differs
 *
 * Claims keep what they have in any case. One whose configuration is no JSON is of no network.
 */
export function networksApart(definitions: readonly SourceObject[]): Map<SourceObject, string> {
  const read = definitions.flatMap((source) => {
    const network = parseNetworkConfig(source.object).value?.network;
    const { value, issues = [] } = parsePersistentNetwork(source.object);
    const meaning = value === undefined ? issues.map(({ message }) => message).join() : meaningOf(value);
    return network === undefined || meaning === "" ? [] : { source, network, meaning };
  });
  const byName = Map.groupBy(read, ({ network }) => network);
  const titleOf = ({ object }: SourceObject) => attachmentTitle(object);
  return new Map(
    read.flatMap(({ source, network, meaning }) => {
      const other = byName.get(network)?.find((one) => one.meaning !== meaning);
      if (other === undefined) return [];
      const [first = "", second = ""] = [titleOf(source), titleOf(other.source)].sort(byCodeUnit);
      return [[source, inSentences(whyApart(first, second, network))]];
    }),
  );
}

function whyApart(first: string, second: string, network: string) {
  return {
    message: `${attachmentKind}s ${first} and ${second} share network ${network}, and differ`,
    hint: "Let both say the same, or give each configuration a name of its own.",
  };
}

function poolsOf({ value, source }: ReadObject<PersistentNetwork>): Parsed<DefinedPool[]> {
  const issues: Issue[] = [];
  const pools = value.pools.flatMap(({ name, spec }): DefinedPool[] => {
    const parsed = parsePoolSpec(name, spec);
    for (const issue of parsed.issues ?? []) {
      const message = `network ${value.network}: ${issue.message}`;
      issues.push(issueIn(source, { ...issue, message, path: configPath }));
    }
    const at = source.at(configPath, value.network);
    return parsed.value === undefined ? [] : [{ pool: { ...parsed.value, words }, spec, at }];
  });
  return issues.length > 0 ? { issues } : { value: pools };
}

const words: PoolWords = {
  grows: "wider subnets, or fewer excludeSubnets",
  fields: "subnets, reservedSubnets, excludeSubnets, infrastructureSubnets",
  without: "add it to excludeSubnets",
  renumber: "give the VM another address",
  another: "a network of another name",
};

function meaningOf({ title: _, namespace: __, ...rest }: PersistentNetwork): string {
  return JSON.stringify(rest);
}
