import { formatAddress, formatPrefix, type Issue, type Pool, parseAddress, prefixAt } from "../../core/index.ts";
import { parseJson } from "../../schema/json.ts";
import { ownPrefix } from "../../schema/node.ts";
import { asList, type Bag } from "../../schema/objects.ts";
import { list, type Of } from "../../schema/shape.ts";
import { annotationsOf } from "../contract/object-metadata.ts";
import { detectAnnotation } from "./named-pools.ts";
import { asPoolChecks } from "./objects.ts";
import { type PodNetwork, podNic } from "./pod-networks.ts";

/** On a pod: the gateways of its pools, which its init container asks. */
const gatewaysAnnotation = `${ownPrefix}gateways`;

/** The checks that a pool requires in pods with its addresses. */
interface PoolChecks {
  readonly prefix: string;
  readonly gateway?: string;
  readonly checks: readonly string[];
}

/** Returns the checks of pools; empty if neither a pool nor the pods of the workload ask for any. */
export function checksOfPools(pools: Iterable<Pool>, { [detectAnnotation]: asked }: Bag): readonly PoolChecks[] {
  const all = [...pools].map(({ prefix, gateway, rules: { detect = [] } }): PoolChecks => {
    const checks = detect.map((one) => one.toLowerCase());
    return { prefix: formatPrefix(prefix), ...(gateway !== undefined && { gateway: formatAddress(gateway) }), checks };
  });
  return asked === undefined && all.every(({ checks }) => checks.length === 0) ? [] : all;
}

/** Returns whether pods check a network. The init container skips the first NIC, which is the cluster's. */
export function isLookedAt({ nic }: PodNetwork): boolean {
  return nic !== podNic;
}

/**
 * Returns the annotations for the init container of a pod. `checks` are those of the pools, `networks` the pod's, with their addresses.
 *
 *  the pod's annotation | its networks   | a pool of its addresses | the pod gets
 *  ---------------------+----------------+-------------------------+-----------------------------
 *  none                 | any            | any                     | nothing: it has no such container
 *  is not there         | any            | asks for nothing        | nothing
 *  any other            | eth0 alone     | any                     | an empty list of checks
 *  any other            | more than eth0 | any, but eth0's         | the known checks that either asks for
 *
 * For check `gateway`, the pod gets the gateways of its pools as well.
 */
export function annotationsForDetect(
  pod: Bag,
  networks: readonly PodNetwork[],
  checks: readonly Of<typeof asPoolChecks>[],
): Bag {
  const { [detectAnnotation]: asked } = annotationsOf(pod);
  const words = wordsIn(asked);
  if (isNone(words)) return {};
  const own = networks.filter(isLookedAt);
  const ips = own.flatMap(({ element }) => asList(element.ips));
  const prefixes = new Set<unknown>(ips.flatMap((ip) => prefixOf(`${ip}`) ?? []));
  const its = checks.filter(({ prefix }) => prefixes.has(prefix));
  const all = new Set(own.length === 0 ? [] : [...words.filter(isCheck), ...its.flatMap((one) => one.checks)]);
  if (asked === undefined && all.size === 0) return {};
  const gateways = new Set(its.flatMap(({ gateway }) => gateway ?? []));
  return {
    [detectAnnotation]: [...all].join(", "),
    ...(all.has("gateway") && gateways.size > 0 && { [gatewaysAnnotation]: [...gateways].join(", ") }),
  };
}

/** Parses the result of `checksOfPools` from a ConfigMap. */
export function parseChecks(text: unknown): readonly Of<typeof asPoolChecks>[] {
  return list(asPoolChecks)(parseJson(text).value);
}

/** Returns `10.0.0.0/24` for `10.0.0.3/24`. */
function prefixOf(ip: string): string | undefined {
  const [text = "", length] = ip.split("/");
  const { value: address } = parseAddress(text);
  return address === undefined ? undefined : formatPrefix(prefixAt(address, Number(length)));
}

/** Returns an issue if the annotation has an unknown check. Case does not matter; an empty text is like `none`. */
export function wrongToDetect({ [detectAnnotation]: asked }: Bag): Issue | undefined {
  const words = wordsIn(asked);
  const wrong = isNone(words) ? undefined : words.find((word) => !isCheck(word));
  if (wrong === undefined) return undefined;
  return { message: `annotation ${detectAnnotation} takes conflict, gateway or none, not ${asked}` };
}

function isNone(words: readonly string[]): boolean {
  return words.length === 1 && words[0] === "none";
}

function isCheck(word: string): boolean {
  return word === "conflict" || word === "gateway";
}

function wordsIn(text: unknown): string[] {
  return `${text ?? ""}`.split(",").flatMap((word) => word.trim().toLowerCase() || []);
}
