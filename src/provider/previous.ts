import * as pulumi from "@pulumi/pulumi";
import type { SetState } from "./set-state.ts";

const type = "pulumi-nodejs:dynamic/nodeippool:AllocationSet";

/** What the last update of this stack left of a set, and of its other sets. */
export interface Previous {
  readonly own?: SetState;
  readonly others: readonly SetState[];
}

/**
 * Reads the stack's own outputs. `check` gets old inputs too, but not when a resource is replaced, tainted or renamed;
 * addresses must not move then.
 */
export async function previousStates(name: string): Promise<Previous> {
  const { outputs } = await pulumi.runtime.invoke("pulumi:pulumi:readStackResourceOutputs", {
    stackName: pulumi.getStack(),
  });
  const sets = Object.entries(outputs as Record<string, { outputs: SetState }>)
    .filter(([urn]) => urn.split("::")[2]?.split("$").at(-1) === type)
    .map(([urn, { outputs: state }]) => ({
      isOwn: urn.split("::").slice(3).join("::") === name,
      state: onlyPlain(state),
    }));
  const own = sets.find(({ isOwn }) => isOwn)?.state;
  return {
    ...(own === undefined ? {} : { own }),
    others: sets.filter(({ state }) => state !== own).map(({ state }) => state),
  };
}

/** The fields that a plan reads, without the provider's text. */
function onlyPlain({ addresses, releasing, pools, state, set }: SetState): SetState {
  return { addresses, ...(releasing === undefined ? {} : { releasing }), pools, state, set };
}
