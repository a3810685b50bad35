import { IpamError, unwrap } from "../core/index.ts";
import type { Config } from "./config.ts";
import { configName, exists, isConfig, readFile } from "./files.ts";

/** `nodeippool.yaml` of the working folder; nothing where there is none. Throws IpamError `invalid` with every mistake in it. */
export async function readConfig(): Promise<Config> {
  // Loads the parser of YAML: not where there is nothing to parse.
  if (exists(configName)) return unwrap((await import("./parse-config.ts")).parseConfig(readFile(configName)));
  const misnamed = "nodeippool.yml";
  if (exists(misnamed) && isConfig(configName, readFile(misnamed)))
    throw new IpamError("invalid", `${misnamed} is not read: the name of the configuration is ${configName}`);
  return {};
}
