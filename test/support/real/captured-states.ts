import { asBag, type Bag } from "../../../schema/objects.ts";

/** Returns a desired state with what was captured in the place of templates, as nmstatectl does with a cache; undefined where something was not. */
export function filledFrom(captured: unknown, desiredState: unknown): unknown {
  let isWhole = true;
  const text = JSON.stringify(desiredState).replace(/"\{\{ capture\.([^ ]*) \}\}"/g, (_, path: string) => {
    const [name = "", ...steps] = path.split(".");
    const state = asBag(asBag(captured)?.[name])?.state;
    const value = steps.reduce((at: unknown, step) => (at as Bag | undefined)?.[step], state);
    isWhole &&= value !== undefined;
    return JSON.stringify(value ?? null);
  });
  return isWhole ? JSON.parse(text) : undefined;
}
