/**
 * Runs Pulumi programs one after the other in one process, as an inline program of the Automation API is run. Started
 * by pulumi-monitor.ts; gets `Job`s and answers each with the errors that the program ended with.
 */
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import * as pulumi from "@pulumi/pulumi";

export interface Job {
  /** Path of a module: its default export, given `input`, or else what it exports, is the program's output. */
  readonly program: string;
  readonly input?: unknown;
  readonly address: string;
  readonly dryRun: boolean;
}

const { resetOptions } = createRequire(import.meta.url)("@pulumi/pulumi/runtime/settings");
let count = 0;

async function run({ program, input, address, dryRun }: Job): Promise<string[]> {
  const errors: unknown[] = [];
  const late = (error: unknown) => void errors.push(error);
  process.on("unhandledRejection", late).on("uncaughtException", late);
  resetOptions("test", "dev", -1, address, address, dryRun, "organization");
  try {
    await pulumi.runtime.runInPulumiStack(async () => {
      const made = await import(`${pathToFileURL(program)}?${count++}`);
      return typeof made.default === "function" ? made.default(input) : { ...made };
    });
  } catch (error) {
    errors.push(error);
  }
  await pulumi.runtime.disconnect(); // waits for what is under way
  await new Promise((resolve) => setImmediate(resolve));
  process.off("unhandledRejection", late).off("uncaughtException", late);
  return [...new Set(errors.map((error) => (error as Error).message))];
}

process.on("message", async (job: Job) => process.send?.(await run(job)));
