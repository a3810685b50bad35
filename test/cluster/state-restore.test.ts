import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { plan } from "../../core/plan/plan.ts";
import type { StateBackend } from "../../state/backend.ts";
import { encode } from "../../state/codec.ts";
import { clusterOfFile } from "../support/cluster/of-file.ts";
import { RecordNamespace } from "../support/cluster/record.ts";
import { Session } from "../support/console.ts";
import { claimOf, poolOf } from "../support/core/text.ts";
import { projectOf } from "../support/schema/cli.ts";
import { recordTexts } from "../support/state/record.ts";

const cluster = clusterOfFile(async () => {});
const pools = Array.from({ length: 8 }, (_, i) => poolOf(`p${i}`, `10.0.${i}.0/24`));

/** A plan of a set of its own for one node on one pool. */
async function planned(backend: StateBackend, pool: number, node: string) {
  const claims = [claimOf(`Node/${node}/a pool=p${pool}`)];
  return plan({ pools, claims, set: node, snapshot: await backend.read() });
}

it("etcd is put back to a backup under writers: plans on what it lost are conflicts, all others go through", async () => {
  const namespace = await RecordNamespace.make(cluster());
  // One backend each, as many processes would have: versions and connections of before the restore.
  const backends = pools.map(() => namespace.open(undefined, { budget: 1_000 }));
  const commit = async (pool: number, node: string) => {
    const backend = backends[pool] as StateBackend;
    return backend.commit(await planned(backend, pool, node));
  };
  for (const i of pools.keys()) await commit(i, `early${i}`);
  const backup = await cluster().backUp();
  for (const i of [0, 1, 2, 3]) await commit(i, `late${i}`);
  const plans = await Promise.all(backends.map((backend, i) => planned(backend, i, `flight${i}`)));
  const last = await planned(backends[0] as StateBackend, 0, "x");

  const whileDown = cluster().restore(backup);
  const flying = (backends[0] as StateBackend).commit(last).then(
    () => "done",
    (error) => error.code,
  );
  await whileDown;
  // Done before the servers went, it is lost with the rest; never is it done on top of what came back.
  expect(["done", "unavailable", "unknown-outcome", "conflict"]).toContain(await flying);

  const outcomes = await Promise.all(
    plans.map((made, i) =>
      backends[i]?.commit(made).then(
        () => "done",
        (error) => error.code,
      ),
    ),
  );
  expect(outcomes).toEqual(["conflict", "conflict", "conflict", "conflict", "done", "done", "done", "done"]);
  const texts = recordTexts(await namespace.open().read()).join();
  for (const lost of ["late", "Node/x/"]) expect(texts).not.toContain(lost);
  for (const i of pools.keys()) expect(texts).toContain(`10.0.${i}.1 Node/early${i}/a`);
});

const nodeState = `apiVersion: nmstate.io/v1beta1
kind: NodeNetworkState
metadata: { name: n2 }
status:
  currentState:
    interfaces:
      - name: eth1
        ipv4: { enabled: true, address: [{ ip: 10.0.0.2, prefix-length: 29 }] }
`;

it("what the backup lost is reported before it is given away: by audit of what is deployed, and import puts it back", async () => {
  const namespace = await RecordNamespace.make(cluster());
  const where = `--backend kubernetes --namespace ${namespace.name}`;
  const folder = projectOf();
  const run = (line: string) => new Session(folder, { KUBECONFIG: cluster().kubeconfig }).run(line);
  run(`head -1 nodes.txt > first.txt; nodeippool allocate manifests --nodes first.txt ${where}`);
  const backup = await cluster().backUp();
  run(`nodeippool allocate manifests --nodes nodes.txt ${where}`);
  run(`nodeippool render manifests --nodes nodes.txt --out rendered ${where}`);
  const before = encode(await namespace.open().read());
  const record = recordTexts(await namespace.open().read());
  expect(record).toEqual(["10.0.0.1 Node/n1/a/p if=eth1", "10.0.0.2 Node/n2/a/p if=eth1"]);

  await cluster().restore(backup);
  expect((await namespace.open().read()).allocations).toHaveLength(1);
  const audit = run(`nodeippool audit rendered --pools manifests ${where}; echo $?`);
  expect(audit).toMatch(/stranger: 10\.0\.0\.2 .*\n(.*\n)*5\n$/);
  writeFileSync(join(folder, "old.lock"), before);
  writeFileSync(join(folder, "nns.yaml"), nodeState);
  for (const evidence of ["old.lock", "nns.yaml"])
    expect(run(`nodeippool audit ${evidence} --pools manifests ${where}`)).toContain("stranger: 10.0.0.2 ");
  run(`nodeippool import rendered manifests --nodes nodes.txt ${where}`);
  expect(recordTexts(await namespace.open().read())).toEqual(record);
  expect(run(`nodeippool audit rendered --pools manifests ${where}; echo $?`)).toMatch(/ 0 findings\n0\n$/);
});
