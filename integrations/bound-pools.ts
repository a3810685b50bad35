import { type Issue, isOfAddresses } from "../core/index.ts";
import { didYouMean } from "../schema/nearest.ts";
import { ownPrefix } from "../schema/node.ts";
import { asBag, type Bag } from "../schema/objects.ts";
import type { Facts } from "./facts.ts";

/** The NodeIPPools that the network of a NetworkAttachmentDefinition takes addresses from, with a comma between two. */
export const poolAnnotation = `${ownPrefix}pool`;

/** Their names; undefined where it names none. */
export function boundPools({ metadata }: Bag): string[] | undefined {
  const text = asBag(asBag(metadata)?.annotations)?.[poolAnnotation];
  return text === undefined ? undefined : `${text}`.split(",").map((name) => name.trim());
}

/** Do pods on a network with these plugins take the addresses that they are told (`ips`)? */
export function takesTold(plugins: readonly Bag[]): boolean {
  return plugins.some((one) => asBag(one.capabilities)?.ips === true && asBag(one.ipam)?.type === "static");
}

/** Why these pools cannot give addresses to a network; undefined if they can. */
export function whyUnbound(names: readonly string[], { pools }: Facts): Pick<Issue, "message"> | undefined {
  const found = names.flatMap((name) => pools.get(name) ?? []);
  const missing = names.find((name) => !pools.has(name));
  if (missing !== undefined)
    return {
      message: `there is no NodeIPPool ${missing || '""'} to take addresses from${didYouMean(missing, pools.keys())}`,
    };
  const blocks = found.find((pool) => !isOfAddresses(pool));
  return blocks && { message: `NodeIPPool ${blocks.name} gives blocks of /${blocks.blockLength}, not addresses` };
}
