import { asBag, asList, type Bag } from "../../schema/objects.ts";

/** The init container that looks for conflicts: what it finds is in the status of its pod. */
export const detectContainer = "nodeippool-detect";

/** What of the status of a pod is kept: what that container found, and whether others have run. */
export function keepDetected(status: unknown): Bag {
  const { initContainerStatuses, containerStatuses } = asBag(status) ?? {};
  const own = asList(initContainerStatuses).find((one) => asBag(one)?.name === detectContainer);
  const ended = endOf(asBag(own) ?? {});
  if (ended === undefined) return {};
  const message = `${ended.message ?? ""}`.replace(/ \(.*$/gm, "");
  return {
    initContainerStatuses: [{ name: detectContainer, state: { terminated: { exitCode: ended.exitCode, message } } }],
    // Of a pod that started, nobody asks.
    ...(ended.exitCode !== 0 && { containerStatuses: asList(containerStatuses).map(keepRun) }),
  };
}

function keepRun(container: unknown): Bag {
  const { restartCount, state, lastState } = asBag(container) ?? {};
  const { running, terminated } = asBag(state) ?? {};
  const hasRun = Number(restartCount ?? 0) > 0 || running !== undefined || terminated !== undefined;
  return { restartCount: hasRun || asBag(lastState)?.terminated !== undefined ? 1 : 0 };
}

/** How the container ended last: also while it runs once more, or waits for that. */
function endOf({ state, lastState }: Bag): Bag | undefined {
  return asBag(asBag(state)?.terminated) ?? asBag(asBag(lastState)?.terminated);
}

/** Has one of the other containers of a pod ever run? */
export function hasRun({ status }: Bag): boolean {
  return asList(asBag(status)?.containerStatuses).some((one) => asBag(one)?.restartCount !== 0);
}

/** The last message that the container left in a pod. */
export function messageIn({ status }: Bag): string {
  const own = asList(asBag(status)?.initContainerStatuses).find((one) => asBag(one)?.name === detectContainer);
  return `${endOf(asBag(own) ?? {})?.message ?? ""}`;
}
