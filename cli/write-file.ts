import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { IpamError } from "../core/errors.ts";

/** Writes a text whole or not at all; false if the file holds it already. Throws IpamError `unavailable`. */
export function writeWhole(path: string, text: string): boolean {
  const temp = `${path}.${randomUUID()}.tmp`;
  try {
    if (existsSync(path) && readFileSync(path, "utf8") === text) return false;
    writeFileSync(temp, text, { flag: "wx" });
    renameSync(temp, path);
    return true;
  } catch (error) {
    throw new IpamError("unavailable", `${path} cannot be written: ${(error as Error).message}`, { cause: error });
  } finally {
    rmSync(temp, { force: true });
  }
}
