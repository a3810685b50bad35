import * as pulumi from "@pulumi/pulumi";
import { unknownField } from "../schema/nearest.ts";

/*
 * What the compiler would find in a program is found here, too: it does not look for unknown fields in what `map`
 * returns, and not at all into JavaScript.
 */

/** Throws pulumi.RunError: the engine prints its message, and no stack. */
export type Refuse = (message: string) => never;

/** Says of whom each message is. */
export function refusal(what: string): Refuse {
  return (message) => {
    throw new pulumi.RunError(`${what}: ${message}`);
  };
}

/** Refuses what is no object with these fields; `place` is where it stands, empty for the arguments themselves. */
export function checkFields(refuse: Refuse, place: string, value: unknown, fields: readonly string[]): void {
  const what = place === "" ? "the arguments" : place;
  if (isLate(value)) refuse(`${what} must be known, not an output or a promise`);
  if (!isMap(value)) refuse(`${what} must be an object with ${fields.join(", ")}`);
  const unknown = unknownField(value, fields);
  if (unknown !== undefined) refuse(place === "" ? unknown : `${place}: ${unknown}`);
}

/** Returns whether a value is known only after apply. */
export function isLate(value: unknown): boolean {
  return pulumi.Output.isInstance(value) || value instanceof Promise;
}

export function isMap(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Refuses what is no map of texts that are known. */
export function checkTexts(refuse: Refuse, place: string, value: unknown): void {
  if (isLate(value)) refuse(`${place} must be known, not an output or a promise`);
  if (!isMap(value)) refuse(`${place} must be an object with texts`);
  for (const [name, text] of Object.entries(value)) {
    if (isLate(text)) refuse(`${place}.${name} must be known, not an output or a promise`);
    if (text !== undefined && !isText(text)) refuse(`${place}.${name} must be text`);
  }
}

export function isText(value: unknown): value is string {
  return typeof value === "string";
}
