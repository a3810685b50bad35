import { expect, it } from "vitest";
import type { Change } from "../../../controller/write/change.ts";
import { type NextCircumstances, nextOf } from "../../../controller/write/next.ts";

const none: NextCircumstances = {
  isRejected: false,
  isHeldBySource: false,
  isHeldByOwner: false,
  isOld: false,
  isMissing: false,
  isOpen: false,
};

it.each<[string, Change, Partial<NextCircumstances>, ReturnType<typeof nextOf>]>([
  ["rejected", "replace", { isRejected: true, isOld: true, isOpen: true }, "nothing"],
  ["held by its source", "delete", { isHeldBySource: true }, "nothing"],
  ["to go, and held by its owner", "delete", { isHeldByOwner: true, isOld: true }, "nothing"],
  ["to be unprotected, and held by its owner", "unprotect", { isHeldByOwner: true }, "nothing"],
  ["to be written, and held by its owner", "create", { isHeldByOwner: true }, "change"],
  ["to be written by an old record", "create", { isOld: true, isOpen: true }, "decide"],
  ["to go by an old record", "delete", { isOld: true }, "decide"],
  ["refused by an old record", "refuse", { isOld: true }, "change"],
  ["as it should be, by an old record", "none", { isOld: true }, "change"],
  ["to say what is missing", "replace", { isMissing: true, isOpen: true }, "decide"],
  ["open", "replace", { isOpen: true }, "compare"],
  ["any other", "replace", {}, "change"],
])("what is done next about an object: %s", (_, change, about, expected) => {
  expect(nextOf(change, { ...none, ...about })).toBe(expected);
});
