import { isManaged } from "../contract/managed-by.ts";
import { nameOf } from "../contract/object-metadata.ts";
import type { Reconciler } from "../contract/reconciler.ts";
import { type Step, warn } from "../contract/step.ts";
import { policyOfEnactment } from "./captured.ts";
import { isCleanupEnactment, sharedCleanup } from "./cleanup-form.ts";
import { keyOfPolicy } from "./node-objects.ts";
import { enactmentKind, nmstateKinds, policyKind } from "./recording.ts";
import { isSharedCleanup, originOf } from "./shared-policy.ts";

/** A handler deletes the enactments of a policy that comes or goes. So one that is needed again a moment later stays. */
const lingers = 30_000;

/**
 * Makes the policies that take addresses off many nodes, each by its name. Such a policy is there as long as a node has an enactment of
 * it, also one that its handler has made. It has no owner: it outlives the policy that gave the addresses.
 */
export const cleanups: Reconciler = {
  kinds: nmstateKinds.filter(({ kind }) => kind !== "NodeNetworkState"),
  belongsTo: (object) => {
    if (object.kind === policyKind) return isSharedCleanup(object) ? [nameOf(object)] : [];
    return object.kind === enactmentKind && isCleanupEnactment(object) ? [policyOfEnactment(object)] : [];
  },
  steps: (name, belonging, find): Step[] => {
    const there = belonging.find(({ kind }) => kind === policyKind);
    const enactments = belonging.filter(({ kind }) => kind === enactmentKind);
    if (enactments.length === 0)
      return there === undefined ? [] : [{ verb: "delete", object: there, needs: { keys: [] }, after: lingers }];
    const own = enactments.find((one) => isManaged(one));
    if (own === undefined) return [];
    if (there === undefined && find(keyOfPolicy(name)) !== undefined)
      return [warn(own, `${policyKind} ${name} was made by somebody else. Delete it, or rename it.`)];
    return [{ verb: "put", object: sharedCleanup(originOf(own)), there }];
  },
};
