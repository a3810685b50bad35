import { isManaged } from "../../integrations/contract/managed-by.ts";
import { objectKey } from "../../integrations/contract/object-key.ts";
import { inSentences } from "../../schema/issues.ts";
import { wrongKeys } from "../../schema/own-keys.ts";
import type { Seen } from "../cache/seen.ts";
import type { Observer } from "../dependencies.ts";

/** Reports labels and annotations of ours that have no effect, on the object that has them. Nothing else depends on it: the object is served as it is. */
export function tellWrongKeys(object: Seen, observer: Pick<Observer, "wrong">): void {
  const issues = isManaged(object) ? [] : wrongKeys(object);
  const message = issues.map(inSentences).join(" ");
  if (message !== "") observer.wrong(objectKey(object), "InvalidMetadata", message);
}
