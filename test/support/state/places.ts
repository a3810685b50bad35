import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { formatIssue, IpamError, type Issue } from "../../../core/errors.ts";
import { plan } from "../../../core/plan/plan.ts";
import type { StateBackend } from "../../../state/backend.ts";
import { decode } from "../../../state/codec.ts";
import { kubernetes } from "../../../state/kubernetes/backend.ts";
import { kubernetesPlace } from "../../../state/kubernetes/place.ts";
import { decodePart } from "../../../state/kubernetes/subnet-records.ts";
import { lockfile, readMarked } from "../../../state/lockfile.ts";
import { lockfilePlace } from "../../../state/lockfile-place.ts";
import { moveRecord, type RecordPlace } from "../../../state/migrate.ts";
import { type Around, MemoryCluster } from "../cluster/kube-memory.ts";
import { claimOf, poolOf } from "../core/text.ts";
import { recordTexts } from "./record.ts";

export type PlaceName = "file1" | "file2" | "cluster1" | "cluster2";
export const placeNames: readonly PlaceName[] = ["file1", "file2", "cluster1", "cluster2"];
export type Move = readonly [from: PlaceName, to: PlaceName];

const pools = placeNames.map((name, i) => poolOf(name, `10.0.${i}.0/24`));
const straight: Around = async (_, run) => run();

/** Two lockfiles and two clusters, between which records move. */
export class Places {
  readonly folder: string;
  private readonly clusters = new Map<PlaceName, MemoryCluster>();

  constructor(root: string) {
    this.folder = mkdtempSync(join(root, "places-"));
    for (const name of placeNames) if (!name.startsWith("file")) this.clusters.set(name, new MemoryCluster());
  }

  path(name: PlaceName): string {
    return join(this.folder, name);
  }

  open(name: PlaceName): StateBackend {
    const cluster = this.clusters.get(name);
    return cluster === undefined ? lockfile(this.path(name)) : kubernetes(cluster.objects(), "net");
  }

  /** Gives that node an address of that pool. */
  async allocate(name: PlaceName, set: string, pool: PlaceName = name, node: string = name): Promise<void> {
    const backend = this.open(name);
    const claims = [claimOf(`Node/${node}/a pool=${pool}`)];
    await backend.commit(plan({ pools, claims, snapshot: await backend.read(), set }));
  }

  private place(name: PlaceName, around: Around): RecordPlace {
    const cluster = this.clusters.get(name);
    if (cluster !== undefined) return kubernetesPlace(cluster.objects(around), "net");
    const place = lockfilePlace(this.path(name));
    const calls = (["look", "settle", "mark", "unmark", "write", "clear"] as const).map((call) => {
      const run = place[call] as (...args: unknown[]) => unknown;
      return [call, (...args: unknown[]) => around(call, () => run(...args))];
    });
    return { ...place, ...Object.fromEntries(calls) };
  }

  /** What came of it: `done`, or the code of the error. `around` is called for every request and every file call. */
  move([from, to]: Move, around: Around = straight): Promise<string> {
    return moveRecord(this.place(from, around), this.place(to, around)).then(
      () => "done",
      (error) => {
        if (error instanceof IpamError) return error.code;
        throw error;
      },
    );
  }

  /** What refuses it. */
  async errorOf([from, to]: Move): Promise<IpamError | undefined> {
    const refused = await moveRecord(this.place(from, straight), this.place(to, straight)).catch((error) => error);
    return refused instanceof IpamError ? refused : undefined;
  }

  /** Why it is refused. */
  async issueOf(move: Move): Promise<Issue | undefined> {
    return (await this.errorOf(move))?.issues[0];
  }

  /** The same, as it is said. */
  async reasonOf(move: Move): Promise<string> {
    const issue = await this.issueOf(move);
    return issue === undefined ? "done" : formatIssue(issue);
  }

  /** Moves until that place has a mark of this state, and is killed then. */
  async moveUntil(move: Move, name: PlaceName, state: string): Promise<void> {
    const around: Around = async (_, run) => {
      const { mark } = await this.place(name, straight).look();
      if (mark?.state === state) throw new Error("killed");
      return run();
    };
    await this.move(move, around).catch((error) => {
      if (error.message !== "killed") throw error;
    });
  }

  /** The lines that can be used there now; none where there is a mark. */
  usable(name: PlaceName): string[] {
    const cluster = this.clusters.get(name);
    if (cluster === undefined) {
      const { mark, rest } = readMarked(this.path(name));
      return mark !== undefined || rest === "" ? [] : recordTexts(decode(rest, name));
    }
    const maps = [...cluster.maps.values()];
    if (maps.some(({ data }) => data?.mark !== undefined)) return [];
    const records = maps.flatMap(({ data }) => (data?.record === undefined ? [] : [data.record]));
    return records.flatMap((text) => recordTexts(decodePart({ text }, name)));
  }

  /** Gives up a move that has not ended, as the page says: takes the mark off. Only where its target sent its own record on. */
  async giveUp([from, to]: Move): Promise<void> {
    const [source, target] = [await this.place(from, straight).look(), await this.place(to, straight).look()];
    if (source.mark?.state !== "leaves" || target.mark?.state !== "left" || target.place !== source.mark.place) return;
    await this.place(from, straight).unmark(source);
  }

  /** Throws if a line can be used in two places. */
  checkOnce(): void {
    const all = placeNames.flatMap((name) => this.usable(name));
    if (new Set(all).size < all.length) throw new Error(`in two places: ${all.sort().join(", ")}`);
  }
}
