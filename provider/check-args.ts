import * as pulumi from "@pulumi/pulumi";
import { isOwner, parseOwner } from "../core/index.ts";
import { didYouMean } from "../schema/nearest.ts";
import { noIgnoring } from "./advice.ts";
import { checkFields, checkTexts, isLate, isMap, isText, type Refuse, refusal } from "./refuse.ts";
import type { AllocationSetArgs, ClaimArgs } from "./set-args.ts";

/** What a field must be, in words and as a test. */
type Rule = readonly [words: string, isGood: (value: unknown) => boolean];
type Rules = { readonly [field: string]: Rule };

const isWord = (value: unknown) => isText(value) && value !== "";
const isBoolean = (value: unknown) => typeof value === "boolean";
const isListOf = (isOne: Rule[1]) => (value: unknown) => Array.isArray(value) && value.every(isOne);
const isRename = (value: unknown) =>
  isMap(value) && `${Object.keys(value).sort()}` === "from,to" && Object.values(value).every(isText);
const optional = (isGood: Rule[1]) => (value: unknown) => value === undefined || isGood(value);

const argRules: Rules = {
  pools: ["a plain object: pool specs by name, which are known", isPlain],
  claims: ["a list of claims", (value) => value !== undefined],
  state: ['an object, as { backend: "lockfile", path: "nodeippool.lock" }', optional(isMap)],
  set: ['a name, as in set: "shop"', optional(isWord)],
  release: ["a list of texts", optional(isListOf(isText))],
  moved: ["a list of { from, to }, each a claim key", optional(isListOf(isRename))],
  allowMove: ["true or false", optional(isBoolean)],
  confirmRelease: ["true or false", optional(isBoolean)],
};

const claimRules: Rules = {
  owner: ["an object with kind, namespace, name", isMap],
  name: ["text", isText],
  pool: ["text", isText],
  id: ['Kind/name, as in "Node/worker-1"', optional((value) => isText(value) && !parseOwner(value).issues)],
  address: ["text", optional((value) => isText(value) || isLate(value))],
  interface: ["text", optional(isWord)],
};

const ownerRules: Rules = {
  kind: ["letters and digits, beginning with a letter; Node for a node", isKind],
  namespace: ["small letters, digits, - and .", optional((value) => isPartOfOwner({ namespace: value }))],
  // What is known only later is for the provider to look at.
  name: ["letters, digits, -, . and _", (value) => isLate(value) || isPartOfOwner({ name: value })],
};

function isPlain(value: unknown): boolean {
  return isMap(value) && Object.getPrototypeOf(value) === Object.prototype;
}

function isKind(kind: unknown): boolean {
  return isPartOfOwner({ kind }) && (kind === "Node" || !/^nodes?$/i.test(`${kind}`));
}

function isPartOfOwner(part: object): boolean {
  return Object.values(part).every(isText) && isOwner({ kind: "Node", name: "a", ...part });
}

/** No value is repeated: it may be a secret. */
function checkRules(refuse: Refuse, place: string, value: object, rules: Rules): void {
  checkFields(refuse, place, value, Object.keys(rules));
  for (const [field, [words, isGood]] of Object.entries(rules))
    if (!isGood((value as Record<string, unknown>)[field]))
      refuse(`${place === "" ? "" : `${place}.`}${field} must be ${words}`);
}

/** Throws pulumi.RunError for arguments of another shape, and for options that cannot work. */
export function checkArgs(set: string, args: AllocationSetArgs, opts: pulumi.CustomResourceOptions): void {
  const refuse: Refuse = refusal(`allocation set ${set}`);
  checkRules(refuse, "", args, argRules);
  if (opts.ignoreChanges?.length) refuse(noIgnoring);
  if (opts.import !== undefined) refuse("there is nothing to import: the set finds what its record has");
  if (args.state !== undefined) checkState(refuse, args.state);
  const output = pulumi.output("");
  for (const [name, spec] of Object.entries(args.pools)) {
    if (spec === undefined) refuse(`pools.${name} is missing`);
    if (name in output || name === "then")
      refuse(`pools.${name}: what has this name cannot be read from an output; give it another one`);
    refuseLate(refuse, `pools.${name}`, spec);
  }
}

const settings: { readonly [backend: string]: readonly string[] } = {
  stack: [],
  lockfile: ["path"],
  kubernetes: ["context", "namespace"],
};

/** Refuses settings of a record that are none: nothing but these goes into the stack's state. */
export function checkState(refuse: Refuse, state: object & { readonly backend?: unknown }): void {
  const backend = `${state.backend}`;
  if (!Object.hasOwn(settings, backend)) {
    const names = Object.keys(settings);
    refuse(`state.backend: no such backend${didYouMean(backend, names)}; there are: ${names.join(", ")}`);
  }
  checkFields(refuse, "state", state, ["backend", ...(settings[backend] ?? [])]);
  checkTexts(refuse, "state", state);
  if (Object.values(state).includes("")) refuse("state has an empty text");
  if (backend === "lockfile" && !("path" in state)) refuse("state.path is missing");
}

/** What a pool is decides in the program which sets share addresses: an output, or a promise, decides nothing there. */
function refuseLate(refuse: Refuse, place: string, value: unknown): void {
  if (isLate(value))
    refuse(
      `${place} must be known text, not an output or a promise: write it out, read it with require of a pulumi.Config, or await it`,
    );
  if (typeof value !== "object" || value === null) return;
  for (const [name, item] of Object.entries(value))
    refuseLate(refuse, Array.isArray(value) ? `${place}[${name}]` : `${place}.${name}`, item);
}

/** Throws pulumi.RunError for claims of another shape. */
export function checkClaims(set: string, claims: readonly ClaimArgs[]): void {
  const refuse: Refuse = refusal(`allocation set ${set}`);
  if (!Array.isArray(claims)) refuse("claims must be a list");
  for (const [i, claim] of claims.entries()) {
    checkRules(refuse, `claims[${i}]`, claim, claimRules);
    checkRules(refuse, `claims[${i}].owner`, claim.owner, ownerRules);
  }
}
