import { byCodeUnit, type Issue, type Parsed, type PoolWords } from "../../core/index.ts";
import { parsePoolSpec } from "../../schema/node-ip-pool.ts";
import { issueIn } from "../../schema/objects.ts";
import { attachmentKind, configPath } from "../attachment-definition.ts";
import type { DefinedPool } from "../integration.ts";
import type { ReadObject } from "../read-each.ts";
import type { PersistentNetwork } from "./network.ts";

/** The networks whose VMs keep their addresses. */
export interface Networks {
  /** By the NetworkAttachmentDefinition, as `namespace/name`. */
  readonly byTitle: ReadonlyMap<string, ReadObject<PersistentNetwork>>;
  /** By what CNI calls them; definitions that share a name are one network. */
  readonly byName: ReadonlyMap<string, ReadObject<PersistentNetwork>>;
  readonly pools: readonly DefinedPool[];
}

/** All issues, each with its place: definitions of one network must say the same. */
export function persistentNetworks(definitions: readonly ReadObject<PersistentNetwork>[]): Parsed<Networks> {
  const issues: Issue[] = [];
  const pools: DefinedPool[] = [];
  const sorted = definitions.toSorted((a, b) => byCodeUnit(a.value.title, b.value.title));
  const byName = new Map<string, ReadObject<PersistentNetwork>>();
  for (const one of sorted) {
    const { value, source } = one;
    const first = byName.get(value.network)?.value;
    if (first === undefined) {
      byName.set(value.network, one);
      const { value: own = [], issues: found = [] } = poolsOf(one);
      pools.push(...own);
      issues.push(...found);
    } else if (meaningOf(first) !== meaningOf(value))
      issues.push(
        issueIn(source, {
          message: `${attachmentKind}s ${first.title} and ${value.title} share network ${value.network}, and differ`,
          path: configPath,
          hint: "Let both say the same, or give each configuration a name of its own.",
        }),
      );
  }
  if (issues.length > 0) return { issues };
  return { value: { byTitle: new Map(sorted.map((one) => [one.value.title, one])), byName, pools } };
}

/** In a cluster: of definitions that share a name, the first one counts. They come one by one, and none may stop the others. */
export function firstNetworks(definitions: readonly ReadObject<PersistentNetwork>[]): Networks {
  const sorted = definitions.toSorted((a, b) => byCodeUnit(b.value.title, a.value.title));
  return {
    byTitle: new Map(sorted.map((one) => [one.value.title, one])),
    byName: new Map(sorted.map((one) => [one.value.network, one])),
    pools: [],
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
