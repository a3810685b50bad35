import { setTimeout as sleep } from "node:timers/promises";
import { type Claim, IpamError, plan } from "../core/index.ts";
import { findAccess, type KubeObject, type Objects, objectsOf } from "../kube/index.ts";
import type { StateBackend } from "../state/index.ts";
import { kubernetes } from "../state/kubernetes/backend.ts";
import { type Cluster, startCluster } from "../test/support/cluster/cluster.ts";
import { claimsOn, poolOf } from "./data.ts";
import { figures, type Result, ratio } from "./measure.ts";

const configMaps = { apiVersion: "v1", plural: "configmaps" };
const pool = poolOf("traffic-1", "10.0.0.0/16");
const lines = 256;

/** Commits to one pool of a real API server whose etcd waits for the disk, against the least that a compare-and-swap takes. */
export async function run(short: boolean): Promise<Result[]> {
  const cluster = await startCluster({ fsync: true });
  try {
    const results = [];
    for (const writers of [1, 4, 16]) results.push(...(await rates(cluster, writers, short)));
    return [...results, ...(await sizes(cluster, short))];
  } finally {
    await cluster.stop();
  }
}

let count = 0;
async function namespaceIn(cluster: Cluster): Promise<string> {
  const name = `bench-${++count}`;
  await cluster.kubectl(["create", "namespace", name]);
  return name;
}

const open = ({ kubeconfig }: Cluster): Objects => objectsOf(findAccess({ kubeconfig }));

async function rates(cluster: Cluster, writers: number, short: boolean): Promise<Result[]> {
  const namespace = await namespaceIn(cluster);
  const seed = kubernetes(open(cluster), namespace);
  await seed.commit(
    plan({ pools: [pool], claims: claimsOn(pool.name, lines), set: "others", snapshot: await seed.read() }),
  );
  const [map] = await open(cluster).list<TextMap>(configMaps, {
    namespace,
    labels: "nodeippool.nmstate.io/record=subnet",
  });
  const bare = { ...(map as TextMap), metadata: { name: "bare", namespace } };
  await open(cluster).create(configMaps, bare);

  const ours = Array.from({ length: writers }, (_, i) => committer(kubernetes(open(cluster), namespace), `w${i}`));
  const theirs = Array.from({ length: writers }, (_, i) => swapper(open(cluster), namespace, i));
  const [rounds, duration] = short ? [3, 1_000] : [7, 3_000];
  const taken: { ours: Sample[]; theirs: Sample[] } = { ours: [], theirs: [] };
  for (let round = 0; round <= rounds; round++) {
    taken.theirs.push(await together(theirs, duration));
    taken.ours.push(await together(ours, duration));
  }
  const [mine, other] = [taken.ours.slice(1), taken.theirs.slice(1)]; // the first is a warm-up
  const time = (samples: readonly Sample[]) => samples.map(({ ms, done }) => ms / Math.max(done, 1));
  const tries = (samples: readonly Sample[]) => samples.map(({ done, tries }) => tries / Math.max(done, 1));
  return [
    {
      name: `commit to a pool of ${lines}, ${writers} ${writers === 1 ? "writer" : "writers at once"}`,
      ...figures(time(mine)),
      unit: "ms",
      ratios: [
        ratio("a bare get and put", time(mine), time(other)),
        { to: "its attempts", value: ratio("", tries(mine), tries(other)).value },
      ],
    },
  ];
}

interface TextMap extends KubeObject {
  readonly data: { readonly record: string };
}

interface Sample {
  readonly ms: number;
  readonly done: number;
  readonly tries: number;
}

/** Makes one change; true if it went through at once. */
type Writer = () => Promise<boolean>;

/** Lets all writers change what they can, each waiting at random after it came late, as all of them would have to. */
async function together(writers: readonly Writer[], duration: number): Promise<Sample> {
  const start = performance.now();
  let [done, tries] = [0, 0];
  const lane = async (writer: Writer) => {
    for (let late = 0; performance.now() - start < duration; ) {
      tries++;
      if (await writer()) {
        done++;
        late = 0;
      } else await sleep(Math.random() * Math.min(1_000, 10 * 2 ** ++late));
    }
  };
  await Promise.all(writers.map(lane));
  return { ms: performance.now() - start, done, tries };
}

/** Reads, plans a change of one line, commits. */
function committer(backend: StateBackend, set: string): Writer {
  let number = 0;
  const claim = { ...(claimsOn(pool.name, 1)[0] as Claim), owner: { kind: "Node", name: set } };
  return async () => {
    const snapshot = await backend.read();
    const made = plan({ pools: [pool], claims: [{ ...claim, interface: `eth${number++ % 10}` }], snapshot, set });
    return backend.commit(made).then(() => true, refused);
  };
}

/** Gets a ConfigMap of the same size, changes one line of text, puts it. */
function swapper(objects: Objects, namespace: string, index: number): Writer {
  let number = 0;
  return async () => {
    const map = await objects.get<TextMap>(configMaps, "bare", namespace);
    if (map === undefined) throw new Error("the object is gone");
    const all = map.data.record.split("\n");
    all[10 + index] = `${all[10 + index]?.replace(/ #.*/, "")} #${number++}`;
    return objects.put(configMaps, { ...map, data: { record: all.join("\n") } }).then(() => true, refused);
  };
}

function refused(error: unknown): false {
  if (error instanceof IpamError && error.code === "conflict") return false;
  throw error;
}

async function sizes(cluster: Cluster, short: boolean): Promise<Result[]> {
  const results: Result[] = [];
  for (const size of short ? [5_000] : [5_000, 50_000]) {
    const times: number[] = [];
    let bytes = 0;
    for (let round = 0; round < 3; round++) {
      const namespace = await namespaceIn(cluster);
      const backend = kubernetes(open(cluster), namespace);
      const claims = claimsOn(pool.name, size);
      const start = performance.now();
      await backend.commit(plan({ pools: [pool], claims, snapshot: await backend.read() }));
      times.push(performance.now() - start);
      const maps = await open(cluster).list<KubeObject & { binaryData?: { record: string } }>(configMaps, {
        namespace,
      });
      bytes = Math.max(...maps.map((map) => Buffer.byteLength(map.binaryData?.record ?? "", "base64")));
    }
    const name = size.toLocaleString("en");
    const goal = size === 5_000 ? { goal: 1_000 } : {};
    results.push({ name: `read, plan and commit ${name} new claims`, ...figures(times), unit: "ms", ...goal });
    results.push({
      name: `object of ${name} addresses`,
      figure: bytes / 2 ** 20,
      best: bytes / 2 ** 20,
      unit: "MiB",
      goal: 1,
    });
  }
  return results;
}
