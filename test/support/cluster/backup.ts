import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { tool } from "../tools/tools.ts";

/** Writes a snapshot of etcd into the folder and returns its path. */
export async function backUp(etcd: string, folder: string): Promise<string> {
  const response = await fetch(`${etcd}/v3/maintenance/snapshot`, { method: "POST", body: "{}" });
  const lines = (await response.text()).split("\n").filter((line) => line !== "");
  const blobs = lines.map((line) => {
    const { result, error } = JSON.parse(line);
    if (error) throw new Error(`etcd: ${line}`);
    return Buffer.from(result.blob ?? "", "base64");
  });
  const path = join(folder, `backup-${randomUUID()}`);
  writeFileSync(path, Buffer.concat(blobs));
  return path;
}

/** A folder of data for etcd made from a backup, as etcd's page on disaster recovery says. */
export async function restoredData(backup: string): Promise<string> {
  const data = `${backup}-${randomUUID()}.etcd`;
  const flags = ["--data-dir", data, "--bump-revision", "1000000", "--mark-compacted"];
  await promisify(execFile)(await tool("etcdutl"), ["snapshot", "restore", backup, ...flags]);
  return data;
}
