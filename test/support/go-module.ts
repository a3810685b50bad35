import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { goPins } from "../tools/pins.ts";
import { findOnPath, MissingPart } from "./tools.ts";

/** The folder of Go's module cache that holds a module which test/tools pins; downloaded on first use. */
export async function goModule(path: string): Promise<string> {
  const pins = goPins.find(({ versions }) => versions.has(path));
  if (pins === undefined) throw new Error(`${path} has no pin in test/tools`);
  const go = findOnPath("go");
  if (go === undefined) throw new MissingPart(`go, which downloads ${path}, is not installed`);
  const options = { cwd: pins.folder, env: { ...process.env, GOWORK: "off" }, timeout: 300_000 };
  const { stdout } = await promisify(execFile)(go, ["mod", "download", "-json", path], options);
  return JSON.parse(stdout).Dir;
}
