import { execFile } from "node:child_process";
import { basename } from "node:path";
import { promisify } from "node:util";
import { goPins } from "../../tools/pins.ts";
import { findOnPath, MissingPart } from "./tools.ts";

/**
 * The folder of Go's module cache that holds a module which test/tools pins; downloaded on first use. Where several folders pin it,
 * that is the one from which nothing is built, or the one of this name.
 */
export async function goModule(path: string, name?: string): Promise<string> {
  const all = goPins.filter(
    ({ versions, folder }) => versions.has(path) && (name === undefined || basename(folder) === name),
  );
  const pins = all.find(({ tools }) => tools.length === 0) ?? all[0];
  if (pins === undefined) throw new Error(`${path} has no pin in test/tools`);
  const go = findOnPath("go");
  if (go === undefined) throw new MissingPart(`go, which downloads ${path}, is not installed`);
  const options = { cwd: pins.folder, env: { ...process.env, GOWORK: "off" }, timeout: 300_000 };
  const { stdout } = await promisify(execFile)(go, ["mod", "download", "-json", path], options);
  return JSON.parse(stdout).Dir;
}
