import {
  byAddress,
  formatAddress,
  formatBlock,
  formatPrefix,
  IpamError,
  isPlanned,
  lineJson,
  ownerOfKey,
  type Pool,
} from "../core/index.ts";
import { networkStatesText } from "../schema/network-states.ts";
import { countCells, runsOf } from "./pools/pool-map.ts";
import { poolsSvg } from "./pools/pool-svg.ts";
import { poolText } from "./pools/pool-text.ts";
import { usage } from "./pools/pool-words.ts";
import { countJson, type PoolOptions, type PoolView, readPools, viewNamed } from "./pools/pools.ts";
import { print, printJson } from "./terminal.ts";
import { writeWhole } from "./write-file.ts";

export interface ShowOptions extends PoolOptions {
  readonly svg?: string;
  /** The name of the ConfigMap. */
  readonly configmap?: string;
  readonly json?: boolean;
}

export async function showVerb(name: string | undefined, options: ShowOptions): Promise<void> {
  const forms = (["svg", "configmap", "json"] as const).filter((form) => options[form] !== undefined);
  if (forms.length > 1) throw new IpamError("invalid", `--${forms.join(" and --")} exclude each other`);
  const { views: all } = await readPools(options);
  const views = name === undefined ? all : [viewNamed(all, name)];
  if (options.json) printJson({ pools: views.map(poolJson) });
  else if (options.configmap !== undefined) process.stdout.write(configMapText(options.configmap, views));
  else if (options.svg === "-") process.stdout.write(poolsSvg(views));
  else if (options.svg !== undefined) {
    writeWhole(options.svg, poolsSvg(views));
    print(`Drawn in ${options.svg}.`);
  } else print(...views.flatMap((view, i) => [...(i === 0 ? [] : [""]), ...poolText(view)]));
}

/** Every address that is taken, releasing ones too. */
function configMapText(name: string, views: readonly PoolView[]): string {
  const lines = views.flatMap(({ live, releasing }) => [...live, ...releasing]);
  const states = lines.map((line) => ({ pool: line.pool, owner: ownerOfKey(line.claim), address: formatBlock(line) }));
  return networkStatesText(name, states);
}

/** A pool for machines; counts that a number would round are text. */
function poolJson(view: PoolView) {
  const { record, pool, live, releasing, inCluster, at } = view;
  return {
    pool: record.name,
    cidr: formatPrefix(record.prefix),
    network: record.network,
    defined: pool !== undefined,
    ...(pool === undefined ? {} : definitionJson(view, pool)),
    ...(inCluster?.problem === undefined ? {} : { problem: inCluster.problem }),
    held: live.length,
    releasing: releasing.length,
    allocations: [...live, ...releasing].sort(byAddress).map((line) => {
      const { offset, state } = at(line.address);
      return { ...lineJson(line), ...(offset === undefined ? {} : { offset: countJson(offset) }), state };
    }),
  };
}

function definitionJson(view: PoolView, pool: Pool) {
  const { capacity, free } = usage(pool, [...view.live, ...view.releasing]);
  const counts = countCells(pool, runsOf(view, pool));
  const isOfCluster = !isPlanned(pool);
  return {
    authority: view.inCluster?.authority ?? (isOfCluster ? "Cluster" : "Plan"),
    start: formatAddress(pool.start),
    ...(pool.gateway === undefined ? {} : { gateway: formatAddress(pool.gateway) }),
    ranges: pool.range.map(({ first, last }) => ({ first: formatAddress(first), last: formatAddress(last) })),
    ...(isOfCluster ? {} : { usable: countJson(capacity), free: countJson(free) }),
    reserved: countJson(counts.reserved),
    excluded: countJson(counts.excluded),
    onRequest: countJson(counts["on-request"]),
    controllerOnly: countJson(counts.controller),
  };
}
