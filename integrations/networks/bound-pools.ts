import { type Issue, isOfAddresses } from "../../core/index.ts";
import { didYouMean } from "../../schema/nearest.ts";
import { ownPrefix } from "../../schema/node.ts";
import type { Bag } from "../../schema/objects.ts";
import type { Of } from "../../schema/shape.ts";
import type { Facts } from "../contract/facts.ts";
import { annotationsOf } from "../contract/object-metadata.ts";
import type { asPlugin } from "./objects.ts";

/** The NodeIPPools that the network of a NetworkAttachmentDefinition takes addresses from, with a comma between two. */
export const poolAnnotation = `${ownPrefix}pool`;

/** Returns the names of these pools; undefined if the object names none. */
export function boundPools(object: Bag): string[] | undefined {
  const text = annotationsOf(object)[poolAnnotation];
  return text === undefined ? undefined : `${text}`.split(",").map((name) => name.trim());
}

/** Returns whether pods on a network with these plugins take the addresses in their Multus annotation (`ips`). */
export function pluginsTakeIps(plugins: readonly Of<typeof asPlugin>[]): boolean {
  return plugins.some((one) => one.capabilities.ips === true && one.ipam.type === "static");
}

/** Returns why a pool of this name cannot give addresses; undefined if it can. */
export function whyUnbound(
  name: string,
  { pools, unsound }: Pick<Facts, "pools" | "unsound">,
): Pick<Issue, "message" | "hint"> | undefined {
  const pool = pools.get(name);
  const why = unsound?.get(name)?.why;
  if (pool === undefined && why !== undefined) return { message: `NodeIPPool ${name} gives no addresses: ${why}` };
  if (pool === undefined) {
    const meant = didYouMean(name, pools.keys());
    const hint = `Create it, or name another one in annotation ${poolAnnotation}.`;
    return {
      message: `there is no NodeIPPool ${name || '""'} to take addresses from${meant}`,
      ...(meant === "" && { hint }),
    };
  }
  if (isOfAddresses(pool)) return undefined;
  return { message: `NodeIPPool ${name} gives blocks of /${pool.blockLength}, not addresses` };
}
