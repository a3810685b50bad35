import { dirname } from "node:path";
import { IpamError, shellWord } from "../core/index.ts";
import type { SourceFile } from "../schema/index.ts";

const name = /(?:^|\/)(?:kustomization\.ya?ml|Kustomization)$/;

/** What is wrong with files of kustomize may be that they are not built yet: patches, one object in several layers. */
export function orBuilt<T>(files: readonly SourceFile[], read: () => T): T {
  const [first, ...others] = files.filter(({ path }) => name.test(path));
  if (first === undefined) return read();
  try {
    return read();
  } catch (error) {
    if (!(error instanceof IpamError) || error.code !== "invalid") throw error;
    const folder = others.length > 0 ? "OVERLAY" : shellWord(dirname(first.label ?? first.path));
    throw new IpamError("invalid", [
      ...error.issues,
      {
        message: `${first.label ?? first.path} says that kustomize builds this`,
        hint: `Plan and render what it builds: kubectl kustomize ${folder} | nodeippool plan - (with --nodes, and whatever else).`,
      },
    ]);
  }
}
