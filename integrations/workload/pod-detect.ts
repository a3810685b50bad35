import { formatAddress, formatPrefix, type Pool, parseAddress, prefixAt } from "../../core/index.ts";
import { ownPrefix } from "../../schema/node.ts";
import { asBag, asList, type Bag } from "../../schema/objects.ts";
import { detectAnnotation } from "./named-pools.ts";

/** On a pod: the gateways of its pools, which its init container asks. */
const gatewaysAnnotation = `${ownPrefix}gateways`;

/** What a pool wants to be looked for in pods with its addresses. */
interface PoolChecks {
  readonly prefix: string;
  readonly gateway?: string;
  readonly checks: readonly string[];
}

/** Of pools, if anything is to be looked for: the pods of a workload ask for it, or a pool does. */
export function checksOfPools(pools: Iterable<Pool>, { [detectAnnotation]: asked }: Bag): readonly PoolChecks[] {
  const all = [...pools].map(({ prefix, gateway, rules: { detect = [] } }): PoolChecks => {
    const checks = detect.map((one) => one.toLowerCase());
    return { prefix: formatPrefix(prefix), ...(gateway !== undefined && { gateway: formatAddress(gateway) }), checks };
  });
  return asked === undefined && all.every(({ checks }) => checks.length === 0) ? [] : all;
}

/**
 * What a pod is told of what its init container is to do; `checks` are those of the pools, `ips` its addresses.
 *
 *  the pod's annotation | a pool of its addresses | it is told
 *  ---------------------+-------------------------+-----------------------------
 *  none                 | any                     | nothing: it has no such container
 *  is not there         | asks for nothing        | nothing
 *  any other            | any                     | what either asks for
 *
 * Where gateways are asked, it is told those of its pools.
 */
export function toldToDetect({ metadata }: Bag, ips: readonly string[], checks: readonly PoolChecks[]): Bag {
  const { [detectAnnotation]: asked } = asBag(asBag(metadata)?.annotations) ?? {};
  if (asked === "none") return {};
  const prefixes = new Set(ips.flatMap((ip) => prefixOf(ip) ?? []));
  const its = checks.filter(({ prefix }) => prefixes.has(prefix));
  const all = new Set([...wordsIn(asked), ...its.flatMap((one) => one.checks)]);
  if (all.size === 0) return {};
  const gateways = new Set(its.flatMap(({ gateway }) => gateway ?? []));
  return {
    [detectAnnotation]: [...all].join(", "),
    ...(all.has("gateway") && gateways.size > 0 && { [gatewaysAnnotation]: [...gateways].join(", ") }),
  };
}

/** Reads what `checksOfPools` says, as a ConfigMap has it. */
export function parseChecks(text: unknown): readonly PoolChecks[] {
  try {
    return asList(JSON.parse(`${text ?? "[]"}`)) as readonly PoolChecks[];
  } catch {
    return [];
  }
}

/** `10.0.0.0/24` of `10.0.0.3/24`. */
function prefixOf(ip: string): string | undefined {
  const [text = "", length] = ip.split("/");
  const { value: address } = parseAddress(text);
  return address === undefined ? undefined : formatPrefix(prefixAt(address, Number(length)));
}

function wordsIn(text: unknown): string[] {
  return `${text ?? ""}`.split(",").flatMap((word) => word.trim().toLowerCase() || []);
}
