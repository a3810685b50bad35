import * as pulumi from "@pulumi/pulumi";
import { isOwner, parseOwner } from "../core/index.ts";
import { noIgnoring } from "./advice.ts";
import { checkFields, checkTexts, isLate, isMap, isText, type Refuse, refusal } from "./refuse.ts";
import type { AllocationSetArgs, ClaimArgs } from "./set-args.ts";

const argFields = ["pools", "claims", "state", "set", "release", "moved", "allowMove", "confirmRelease"];
const claimFields = ["owner", "name", "pool", "id", "address", "interface"];
const ownerFields = ["kind", "namespace", "name"];

/** Throws pulumi.RunError for arguments of another shape, and for options that cannot work. */
export function checkArgs(set: string, args: AllocationSetArgs, opts: pulumi.CustomResourceOptions): void {
  const refuse: Refuse = refusal(`allocation set ${set}`);
  checkFields(refuse, "", args, argFields);
  refuseOptions(refuse, opts);
  if (!isMap(args.pools) || Object.getPrototypeOf(args.pools) !== Object.prototype)
    refuse("pools must be a plain object: pool specs by name, which are known");
  if (args.claims === undefined) refuse("claims are missing");
  const { release = [], moved = [], allowMove = false, confirmRelease = false, state = {} } = args;
  if (args.set !== undefined && !isWord(args.set)) refuse('set must be a name, as in set: "shop"');
  if (!isMap(state)) refuse('state must be an object, as { backend: "lockfile", path: "nodeippool.lock" }');
  checkTexts(refuse, "state", state);
  if (!isListOf(release, isText)) refuse("release must be a list of texts");
  if (!isListOf(moved, isRename)) refuse("moved must be a list of { from, to }, each a claim key");
  for (const [field, value] of Object.entries({ allowMove, confirmRelease }))
    if (typeof value !== "boolean") refuse(`${field} must be true or false`);
  const output = pulumi.output("");
  for (const [name, spec] of Object.entries(args.pools)) {
    if (spec === undefined) refuse(`pools.${name} is missing`);
    if (name in output || name === "then")
      refuse(`pools.${name}: what has this name cannot be read from an output; give it another one`);
    refuseLate(refuse, `pools.${name}`, spec);
  }
}

function refuseOptions(refuse: Refuse, { ignoreChanges, import: imported }: pulumi.CustomResourceOptions): void {
  if (ignoreChanges?.length) refuse(noIgnoring);
  if (imported !== undefined) refuse("there is nothing to import: the set finds what its record has");
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
  if (claims === undefined || claims === null) refuse("claims are missing");
  if (!Array.isArray(claims)) refuse("claims must be a list");
  for (const [i, claim] of claims.entries()) checkClaim(refuse, `claims[${i}]`, claim);
}

function checkClaim(refuse: Refuse, place: string, claim: ClaimArgs): void {
  checkFields(refuse, place, claim, claimFields);
  checkFields(refuse, `${place}.owner`, claim.owner, ownerFields);
  for (const field of ["name", "pool"] as const) if (!isText(claim[field])) refuse(`${place}.${field} must be text`);
  for (const field of ["id", "interface"] as const)
    if (claim[field] !== undefined && !isWord(claim[field])) refuse(`${place}.${field} must be text`);
  if (claim.id !== undefined && parseOwner(claim.id).issues)
    refuse(`${place}.id must be Kind/name, as in "Node/worker-1"`);
  if (claim.address !== undefined && !isText(claim.address) && !isLate(claim.address))
    refuse(`${place}.address must be text`);
  const { kind, namespace, name } = claim.owner;
  if (name === undefined || name === null) refuse(`${place}.owner.name is missing`);
  if (typeof kind !== "string") refuse(`${place}.owner.kind must be text, as in "Node"`);
  if (!isText(name) && !isLate(name)) refuse(`${place}.owner.name must be text`);
  if (namespace !== undefined && !isText(namespace)) refuse(`${place}.owner.namespace must be text that is known`);
  if (/^nodes?$/i.test(kind) && kind !== "Node") refuse(`${place}.owner.kind of a node is Node`);
  const words = { kind, ...(namespace === undefined ? {} : { namespace }), name: known(name) };
  // No value is repeated: in a list that is a secret, names are secrets.
  for (const [field, word] of Object.entries(words))
    if (!isOwner({ kind: "Node", name: "a", [field]: word }))
      refuse(`${place}.owner.${field} must be ${ownerRules[field as keyof typeof ownerRules]}`);
}

const ownerRules = {
  kind: "letters and digits, and begin with a letter",
  namespace: "small letters, digits, - and ., and begin with a letter or digit",
  name: "letters, digits, -, . and _, and begin with a letter or digit",
};

/** A name, or what stands for one that only the provider can look at. */
function known(name: pulumi.Input<string>): string {
  return typeof name === "string" ? name : "unknown";
}

function isListOf(value: unknown, isOne: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(isOne);
}

function isWord(value: unknown): boolean {
  return isText(value) && value !== "";
}

function isRename(value: unknown): boolean {
  return isMap(value) && `${Object.keys(value).sort()}` === "from,to" && Object.values(value).every(isText);
}
