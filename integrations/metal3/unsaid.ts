import type { Issue } from "../../core/index.ts";
import type { Path } from "../../schema/yaml.ts";

const byOsNetConfig =
  "If os-net-config runs on the hosts, it can: cluster has mode: machines and network: os-net-config for that.";

/** What network data has no words for, and os-net-config has. */
interface Unsaid extends Issue {
  readonly isUnsaid: true;
}

export function unsaid(message: string, path: Path): Unsaid {
  return { message, path, hint: byOsNetConfig, isUnsaid: true };
}

/** Is it that, and no mistake? */
export function isUnsaid(issue: Issue): issue is Unsaid {
  return "isUnsaid" in issue;
}
