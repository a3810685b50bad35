// Run as a program, and killed at any time: KUBECONFIG NAME SEED. Nodes join and leave, are labelled out and in, and a policy
// comes and goes, without end. All that it knows it reads: a node leaves in three steps, of which the machines take the second.
import { setTimeout as sleep } from "node:timers/promises";
import { findAccess, type KubeObject, objectsOf, type Stored } from "../../../kube/index.ts";
import { asBag, asList } from "../../../schema/objects.ts";
import { createNode, nodes, setReady } from "../cluster/nodes.ts";
import { policy } from "../objects/controller-objects.ts";
import { seeded } from "../seeded.ts";
import { chaosPolicies, most, steps } from "./chaos.ts";

const [kubeconfig = "", name = "", seed = ""] = process.argv.slice(2);
const kube = objectsOf(findAccess({ kubeconfig }), { budget: 0 });
const random = seeded(Number(seed));
const policies = { apiVersion: "nmstate.io/v1", plural: "nodenetworkconfigurationpolicies" };
const [last] = chaosPolicies.slice(-1) as [(typeof chaosPolicies)[number]];

// Whoever started this is gone.
process.stdin.on("end", () => process.exit(1)).resume();

function pick<T>(list: readonly T[]): T | undefined {
  return list[Math.floor(random() * list.length)];
}

async function label(node: Stored | undefined, labels: Record<string, string | null>): Promise<void> {
  if (node !== undefined)
    await kube.patch(nodes, node.metadata.name, undefined, { metadata: { labels } }, { type: "merge" });
}

async function round(): Promise<void> {
  const all = await kube.list<KubeObject & { status?: object }>(nodes, { labels: `writer=${name}` });
  const stepOf = ({ metadata }: Stored) => metadata.labels?.step;
  for (const node of all.filter((one) => stepOf(one) === steps.off)) await kube.delete(nodes, node);
  for (const node of all.filter(({ status }) => asList(asBag(status)?.conditions).length === 0))
    await setReady(kube, node.metadata.name, true);
  const staying = all.filter((one) => stepOf(one) === undefined);
  for (let i = staying.length; i < most && random() < 0.9; i++) {
    const fresh = `${name}-${Math.floor(random() * 2 ** 32).toString(36)}`;
    await createNode(kube, fresh, { role: "worker", writer: name });
    await setReady(kube, fresh, true);
  }
  for (let i = 0; i < 4 && staying.length > most / 2; i++) await label(pick(staying), { step: steps.leaving });
  if (random() < 0.3) await label(pick(staying), { role: random() < 0.3 ? null : "worker" });
  if (random() < 0.1) {
    const there = await kube.get(policies, last.name);
    if (there !== undefined) await kube.delete(policies, there);
    else await kube.create(policies, policy(last.name, last.pool, last.nic, last.more) as never);
  }
}

for (;;) {
  await round().catch(() => {});
  await sleep(100 + 200 * random());
}
