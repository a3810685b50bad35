import { execFile } from "node:child_process";
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { command, folderOf, MissingPart } from "../tools/tools.ts";

const packages = ["network-manager"];

/**
 * A folder with Debian's NetworkManager and those of its dependencies that this machine lacks, unpacked and not installed,
 * so that none of their services starts here. A node of the lab lays its `usr` and `etc` over those of the machine.
 */
export function networkManagerFolder(): Promise<string> {
  return folderOf("network-manager", packages.join(" "), async (draft) => {
    if (process.getuid?.() !== 0) throw new MissingPart("apt-get needs root to download NetworkManager");
    const downloads = join(draft, "downloads");
    await mkdir(join(downloads, "lists/partial"), { recursive: true });
    await mkdir(join(downloads, "archives/partial"), { recursive: true });
    // Own folders for lists and archives: another apt-get may hold the locks of the usual ones.
    const options = [`Dir::State::lists=${downloads}/lists`, `Dir::Cache=${downloads}`, "Dpkg::Use-Pty=false"];
    const apt = (...args: string[]) => run("apt-get", ["-qq", ...options.flatMap((one) => ["-o", one]), ...args]);
    await apt("update");
    await apt("install", "--download-only", "--yes", "--no-install-recommends", ...packages);
    await Promise.all(["usr", "etc"].map((name) => mkdir(join(draft, name))));
    for (const name of await readdir(join(downloads, "archives")))
      if (name.endsWith(".deb")) await unpack(join(downloads, "archives", name), draft);
    await rm(downloads, { recursive: true });
  });
}

/** What a package has in /lib or /sbin goes to /usr, where those folders of the machine link to. */
async function unpack(file: string, folder: string): Promise<void> {
  const merge = String.raw`--transform=s,^\./\(bin\|lib\|lib64\|sbin\)/,./usr/\1/,`;
  await run("sh", ["-c", 'dpkg-deb --fsys-tarfile "$1" | tar -x -C "$2" "$3"', "sh", file, folder, merge]);
}

async function run(name: string, args: readonly string[]): Promise<void> {
  await promisify(execFile)(command(name), args, { timeout: 300_000, maxBuffer: 64 * 2 ** 20 });
}
