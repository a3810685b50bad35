import type { Parsed } from "../core/index.ts";

/** Reads JSON in a text. `what` begins the message of the issue: `config is` no JSON. */
export function parseJson(text: unknown, what = "this is"): Parsed<unknown> {
  try {
    return { value: JSON.parse(`${text}`) };
  } catch (error) {
    return { issues: [{ message: `${what} no JSON: ${(error as Error).message}` }] };
  }
}
