import { dirname } from "node:path";
import { IpamError, shellWord } from "../core/index.ts";
import type { SourceFile } from "../schema/index.ts";

const name = /(?:^|\/)(?:kustomization\.ya?ml|Kustomization)$/;

/** What is wrong with layers or patches of kustomize may be that they are not built yet: no object is whole or alone there. */
export function orBuilt<T>(files: readonly SourceFile[], read: () => T): T {
  const [first, ...others] = files.filter(({ path }) => name.test(path));
  if (first === undefined || (others.length === 0 && !/^patches/m.test(first.text))) return read();
  try {
    return read();
  } catch (error) {
    if (!(error instanceof IpamError) || error.code !== "invalid") throw error;
    const folder = others.length > 0 ? "OVERLAY" : shellWord(dirname(first.label ?? first.path));
    throw new IpamError("invalid", [
      ...error.issues,
      {
        message: `${first.label ?? first.path} says that kustomize builds this`,
        hint: `Read what it builds, from standard input: kubectl kustomize ${folder} | nodeippool plan - (audit, show, explain: --pools -). Or name a folder that is whole without its patches.`,
      },
    ]);
  }
}
