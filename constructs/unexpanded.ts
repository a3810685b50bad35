import type { Integration } from "../integrations/contract/integration.ts";
import { parkKey } from "../integrations/nmstate/select.ts";
import { integrations } from "../pipeline/integrations.ts";
import { asBag, type Bag } from "../schema/objects.ts";

/** Returns whether an object asks a pool for addresses, so that no cluster can run it as it is. A parked policy waits for the controller. */
export function isUnexpanded(object: Bag, known: readonly Integration[] = integrations): boolean {
  const isOwned = known.some(({ reads }) =>
    reads.some(({ kind, owns, runsAsIs }) => !runsAsIs && kind === object.kind && owns(object)),
  );
  return isOwned && asBag(asBag(object.spec)?.nodeSelector)?.[parkKey] === undefined;
}

export const howToExpand = "Make it with NodeNetworkPolicy, whose claims become literal addresses: pool.claim(NAME).";

/** What is wrong with it. */
export function describeUnexpanded({ metadata }: Bag): string {
  return `policy ${String(asBag(metadata)?.name)} asks a pool for addresses, and no handler can run that`;
}
