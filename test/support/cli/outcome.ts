import { expect } from "vitest";
import { cli } from "../schema/cli.ts";

/** Standard output of a run that is to pass. */
export async function done(folder: string, ...words: string[]): Promise<string> {
  const { status, stdout, stderr } = await cli(words, folder);
  expect({ status, stderr }).toEqual({ status: 0, stderr: expect.any(String) });
  return stdout;
}

/** Standard error of a run that is to fail. */
export async function refused(folder: string, ...words: string[]): Promise<string> {
  const { status, stderr } = await cli(words, folder);
  expect(status).not.toBe(0);
  return stderr;
}
