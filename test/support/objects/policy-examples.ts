import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../console.ts";

/** The examples with policies that are rendered for nodes, here or by another tool: what that made is committed. */
export function policyExamples(): string[] {
  return readdirSync(join(root, "examples")).filter((name) => {
    const folder = join(root, "examples", name, "rendered");
    const files = existsSync(folder) ? readdirSync(folder) : [];
    return files.some((file) => readFileSync(join(folder, file), "utf8").includes("NodeNetworkConfigurationPolicy"));
  });
}
