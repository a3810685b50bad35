import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { pythonPackages } from "../../tools/pins.ts";
import { findOnPath, folderOf, MissingPart } from "./tools.ts";

const run = promisify(execFile);

/** The folder for PYTHONPATH with the packages that test/tools pins; ironic without what it needs, for its schema alone. */
export async function pythonFolder(): Promise<string> {
  const python = findOnPath("python3");
  const all = [...pythonPackages].map(([name, version]) => `${name}==${version}`);
  return folderOf("python", all.join(" "), async (draft) => {
    const isThere = python !== undefined && (await run(python, ["-m", "pip", "--version"]).catch(() => undefined));
    if (!isThere) throw new MissingPart("python3 with pip, which installs os-net-config, is not installed");
    const install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--root-user-action=ignore"];
    const isIronic = (one: string) => one.startsWith("ironic==");
    const target = ["--upgrade", "--target", draft];
    await run(python, [...install, ...target, ...all.filter((one) => !isIronic(one))], { timeout: 600_000 });
    await run(python, [...install, ...target, "--no-deps", ...all.filter(isIronic)], { timeout: 600_000 });
  });
}

/**
 * The folder for PYTHONPATH with Debian's cloud-init. It is unpacked, not installed: installed it would configure this machine
 * at its next boot.
 */
export async function cloudInitFolder(): Promise<string> {
  const folder = await folderOf("cloud-init", "apt-get download", async (draft) => {
    if (findOnPath("apt-get") === undefined) throw new MissingPart("there is no apt-get to download cloud-init with");
    const download = ["download", "-qq", "-o", "APT::Sandbox::User=root", "cloud-init"];
    await run("apt-get", download, { cwd: draft }).catch(async () => {
      await run("apt-get", ["update", "-qq"]);
      await run("apt-get", download, { cwd: draft });
    });
    await run("sh", ["-c", "dpkg-deb -x cloud-init_*.deb ."], { cwd: draft });
  });
  return join(folder, "usr/lib/python3/dist-packages");
}

/** Runs python3 with these packages; what it printed. */
export async function runPython(args: readonly string[], { cwd }: { readonly cwd?: string } = {}): Promise<string> {
  const path = [await cloudInitFolder(), await pythonFolder()].join(":");
  const env = { ...process.env, PYTHONPATH: path, PYTHONDONTWRITEBYTECODE: "1" };
  const { stdout } = await run("python3", args, { env, timeout: 120_000, ...(cwd === undefined ? {} : { cwd }) });
  return stdout;
}
