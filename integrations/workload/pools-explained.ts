import {
  type Allocation,
  formatOwner,
  freeSpaceOf,
  isPlanned,
  nameOfKey,
  ownerOfKey,
  type Pool,
  type Snapshot,
  type Verdict,
} from "../../core/index.ts";
import { inSentences } from "../../schema/issues.ts";
import { didYouMean } from "../../schema/nearest.ts";
import type { Facts } from "../contract/facts.ts";
import type { PoolSelection } from "../contract/integration.ts";
import type { ReadObject } from "../contract/read-each.ts";
import { attachmentKind } from "../networks/attachment-definition.ts";
import type { PodNetwork } from "./pod-networks.ts";
import { type PoolSources, servedNetworks, takesNone } from "./pools-of-workload.ts";
import { ownerOfWorkload, type Workload } from "./workload-object.ts";

/**
 * Explains what a workload gets on each network of its pods, from which pools, whether a plan or the controller decides it.
 *
 *  the network                        | the explanation
 *  -----------------------------------+------------------------------------------------------------
 *  is served                          | for each family, whether each named pool is used, and why not
 *  the same, and pods have addresses  | that they keep these, even if the pool is no longer used
 *  is not there, takes no addresses,  | why there is no address
 *   or no pools are named for it      |
 */
export function explainedFor(
  { value, source }: ReadObject<Workload>,
  sources: PoolSources,
  facts: Facts,
  { allocations, releasing }: Snapshot,
): PoolSelection[] {
  const lines = Map.groupBy([...allocations, ...releasing], ({ pool }) => pool);
  const freeIn = (pool: Pool) => freeSpaceOf(pool, pool.automatic, lines.get(pool.name) ?? []).free;
  const owner = formatOwner(ownerOfWorkload(value));
  const served = servedNetworks(value, sources, facts, freeIn).value ?? [];
  return value.networks.flatMap((network): PoolSelection[] => {
    const title = `${owner}  ${network.nic} (${network.definition})`;
    const found = served.find((one) => one.network === network);
    if (found === undefined) return [{ source, title, verdicts: [], why: whyNothing(network, sources) }];
    const own = allocations.filter(({ claim }) => ownerOfKey(claim) === owner && isOn(network, claim));
    return found.pools.map(({ family, verdicts }) => ({
      source,
      title: `${title}  IPv${family}${byWhom(verdicts, facts)}`,
      verdicts: verdicts.map((one) => (one.source === askedOf(verdicts) ? withKept(one, own) : one)),
    }));
  });
}

function isOn({ nic }: PodNetwork, claim: string): boolean {
  return nameOfKey(claim).replace(/^\d+\//, "") === nic;
}

/** Pools of both are an error. */
function byWhom(verdicts: readonly Verdict[], { pools }: Facts): string {
  const first = verdicts.flatMap(({ pool }) => pools.get(pool) ?? [])[0];
  return first === undefined || isPlanned(first) ? "" : "  by the controller";
}

/** Of which pools pods keep what they have: what is tried comes first, and what is dropped comes last. */
function askedOf(verdicts: readonly Verdict[]): Verdict["source"] | undefined {
  return (verdicts.find(({ place }) => place !== undefined) ?? verdicts.at(-1))?.source;
}

function withKept(verdict: Verdict, own: readonly Allocation[]): Verdict {
  const { length } = own.filter(({ pool }) => pool === verdict.pool);
  return length === 0 ? verdict : { ...verdict, why: [...verdict.why, `keeps the ${length} that it has`] };
}

function whyNothing({ definition }: PodNetwork, { networks }: PoolSources): string {
  const bound = networks.get(definition);
  if (bound === undefined) {
    const [, name] = definition.split("/");
    const elsewhere = [...networks.keys()].find((one) => one.split("/")[1] === name);
    const near = elsewhere === undefined ? didYouMean(definition, networks.keys()) : `; did you mean ${elsewhere}?`;
    return `no ${attachmentKind} ${definition} that takes addresses is among the manifests${near}`;
  }
  if (bound.takesIps)
    return "no pools are named for it: by the template, its namespace or the network, nor has one default: true";
  return inSentences(takesNone(definition));
}
