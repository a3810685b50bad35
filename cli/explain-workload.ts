import { resolve } from "node:path";
import { IpamError } from "../core/index.ts";
import type { PoolSelection } from "../integrations/contract/integration.ts";
import type { SourceFile } from "../schema/index.ts";
import { isFolder, readInputs } from "./files.ts";
import type { PoolOptions } from "./pools/pools.ts";
import { openState } from "./state.ts";
import { aligned, print, printJson } from "./terminal.ts";
import { workspaceOf } from "./workspace.ts";

interface Options extends PoolOptions {
  readonly nodes?: string;
  readonly nodesFound?: boolean;
  readonly json?: boolean;
}

/** Which pools are tried for the pods of the workloads in a file, in which order, and why not the others; whoever allocates from them. */
export async function explainWorkload(file: string, options: Options): Promise<void> {
  const own = await readInputs(file);
  const beside = await readInputs(options.pools);
  const isOwn = ({ path }: SourceFile) => isFolder(options.pools) && resolve(options.pools, path) === resolve(file);
  const asking = own.map((one) => ({ ...one, path: file, label: file }));
  const files = [...beside.filter((one) => !isOwn(one)), ...asking];
  const { desired } = await workspaceOf(files, options.pools, { ...options, anyAuthority: true });
  const snapshot = await (await openState(options)).read();
  const all = desired.parts.flatMap(
    ({ integration, model, facts }) => integration.explain?.selected?.(model, facts, snapshot) ?? [],
  );
  const found = all.filter(({ source }) => source.at([], "").file === file);
  const wrong = desired.unserved.flatMap(({ issues }) => issues).filter(({ at }) => at?.file === file);
  if (found.length === 0 && wrong.length > 0) throw new IpamError("invalid", wrong);
  if (found.length === 0)
    throw new IpamError("invalid", `nothing in ${file} asks for addresses of pools`, {
      hint: "Name a file with a StatefulSet or Deployment whose template names networks, and by --pools the folder with these and the pools.",
    });
  if (options.json)
    printJson(found.map(({ title, verdicts, why }) => ({ title, pools: verdicts, ...(why && { why }) })));
  else print(...found.flatMap(linesOf));
}

/** A table under the title, with the pools that are tried first. */
function linesOf({ title, verdicts, why }: PoolSelection): string[] {
  if (why !== undefined) return [title, `  no address: ${why}`];
  const rows = verdicts.map(({ place = "-", pool, source, why: words }) => [
    `${place}`,
    pool,
    source,
    words.join(", "),
  ]);
  return [title, ...aligned([["#", "POOL", "NAMED BY", "WHY"], ...rows]).map((row) => `  ${row}`)];
}
