import { resolve } from "node:path";
import { freeSpaceOf, IpamError, type Pool, type Snapshot } from "../core/index.ts";
import type { PoolSelection } from "../integrations/integration.ts";
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

/** Which pools are tried for the pods of the workloads in a file, in which order, and why not the others. */
export async function explainWorkload(file: string, options: Options): Promise<void> {
  const own = await readInputs(file);
  const beside = await readInputs(options.pools);
  const isOwn = ({ path }: SourceFile) => isFolder(options.pools) && resolve(options.pools, path) === resolve(file);
  const asking = own.map((one) => ({ ...one, path: file, label: file }));
  const files = [...beside.filter((one) => !isOwn(one)), ...asking];
  const { desired } = await workspaceOf(files, options.pools, options);
  const snapshot = await (await openState(options)).read();
  const all = desired.parts.flatMap(
    ({ integration, model, facts }) => integration.selected?.(model, facts, freeIn(snapshot)) ?? [],
  );
  const found = all.filter(({ source }) => source.at([], "").file === file);
  if (found.length === 0)
    throw new IpamError("invalid", `nothing in ${file} asks for addresses of pools`, {
      hint: "Name a file with a StatefulSet or Deployment, and by --pools the folder with its networks and pools.",
    });
  if (options.json) printJson(found.map(({ title, verdicts }) => ({ title, pools: verdicts })));
  else print(...found.flatMap(linesOf));
}

/** How many addresses of a pool nobody has on record. */
function freeIn({ allocations, releasing }: Snapshot) {
  const lines = Map.groupBy([...allocations, ...releasing], ({ pool }) => pool);
  return (pool: Pool) => freeSpaceOf(pool, pool.automatic, lines.get(pool.name) ?? []).free;
}

/** A table under the title, with the pools that are tried first. */
function linesOf({ title, verdicts }: PoolSelection): string[] {
  const rows = verdicts.map(({ place = "-", pool, source, why }) => [...[`${place}`, pool, source], why.join(", ")]);
  return [title, ...aligned([["#", "POOL", "NAMED BY", "WHY"], ...rows]).map((row) => `  ${row}`)];
}
