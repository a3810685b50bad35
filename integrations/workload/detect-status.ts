import type { Bag } from "../../schema/objects.ts";
import { type Of, raw } from "../../schema/shape.ts";
import { type asContainer, asPod } from "../networks/objects.ts";

/** The init container that looks for conflicts: what it finds is in the status of its pod. */
export const detectContainer = "nodeippool-detect";

/** Returns the part of a pod's status that the controller keeps: what the init container found, and whether others have run. */
export function keepDetected(pod: Bag): Bag {
  const ended = endIn(pod);
  if (ended === undefined) return {};
  const message = `${ended.message ?? ""}`.replace(/ \(.*$/gm, "");
  return {
    initContainerStatuses: [{ name: detectContainer, state: { terminated: { exitCode: ended.exitCode, message } } }],
    // A pod that started needs none of this.
    ...(ended.exitCode !== 0 && { containerStatuses: asPod(pod).status.containerStatuses.map(keepRun) }),
  };
}

function keepRun({ restartCount, state, lastState }: Of<typeof asContainer>): Bag {
  const { running, terminated } = raw(state);
  const hasRun = Number(restartCount ?? 0) > 0 || running !== undefined || terminated !== undefined;
  return { restartCount: hasRun || raw(lastState).terminated !== undefined ? 1 : 0 };
}

/** Returns how the init container ended last, also while it runs again or waits to. */
function endIn(pod: Bag) {
  const own = asPod(pod).status.initContainerStatuses.find(({ name }) => name === detectContainer);
  return own?.state.terminated ?? own?.lastState.terminated;
}

/** Returns whether one of the other containers of a pod has ever run. */
export function hasRun(pod: Bag): boolean {
  return asPod(pod).status.containerStatuses.some(({ restartCount }) => restartCount !== 0);
}

/** Returns the last message that the init container left in a pod. */
export function messageIn(pod: Bag): string {
  return `${endIn(pod)?.message ?? ""}`;
}
