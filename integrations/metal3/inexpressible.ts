import type { Issue } from "../../core/index.ts";
import type { Path } from "../../schema/yaml.ts";

const byOsNetConfig =
  "If os-net-config runs on the hosts, it can: cluster has mode: machines and network: os-net-config for that.";

/** An issue about a setting that os-net-config can express and network data cannot. */
interface Inexpressible extends Issue {
  readonly isInexpressible: true;
}

export function inexpressible(message: string, path: Path): Inexpressible {
  return { message, path, hint: byOsNetConfig, isInexpressible: true };
}

/** Returns whether an issue is about such a setting, not a mistake. */
export function isInexpressible(issue: Issue): issue is Inexpressible {
  return "isInexpressible" in issue;
}
