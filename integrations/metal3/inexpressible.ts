import type { Issue } from "../../core/index.ts";
import type { Path } from "../../schema/yaml.ts";

const byOsNetConfig =
  "If os-net-config runs on the hosts, it can: cluster has mode: machines and network: os-net-config for that.";

/** What network data has no words for, and os-net-config has. */
interface Inexpressible extends Issue {
  readonly isInexpressible: true;
}

export function inexpressible(message: string, path: Path): Inexpressible {
  return { message, path, hint: byOsNetConfig, isInexpressible: true };
}

/** Is it that, and no mistake? */
export function isInexpressible(issue: Issue): issue is Inexpressible {
  return "isInexpressible" in issue;
}
