import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { plan } from "../../core/plan/plan.ts";
import { encode } from "../../state/codec.ts";
import { clusterOfFile } from "../support/cluster/of-file.ts";
import { RecordNamespace } from "../support/cluster/record.ts";
import { claimOf, poolOf } from "../support/core/text.ts";

const pools = [poolOf("p", "10.0.0.0/8")];
const cluster = clusterOfFile(async () => {});

const claimsOf = (count: number) => Array.from({ length: count }, (_, i) => claimOf(`Node/node-${i}/static-ip/eth1`));

it("kubectl shows a small pool as it would stand in a lockfile", async () => {
  const namespace = await RecordNamespace.make(cluster());
  const backend = namespace.open();
  const after = await backend.commit(plan({ pools, claims: claimsOf(3), snapshot: await backend.read() }));
  expect(await namespace.kubectl("get configmap ippool.default.10.0.0.0-8 -o jsonpath={.data.record}")).toBe(
    encode(after),
  );
  expect(await namespace.kubectl("describe configmap ippool.default.10.0.0.0-8")).toContain(
    '- {"address":"10.0.0.2","pool":"p","claim":"Node/node-1/static-ip/eth1"}',
  );
});

it.each([5_000, 50_000])("%d addresses in one pool: planned, committed, read back and changed", async (count) => {
  const namespace = await RecordNamespace.make(cluster());
  const backend = namespace.open();
  const start = performance.now();
  const first = await backend.commit(plan({ pools, claims: claimsOf(count), snapshot: await backend.read() }));
  console.log(`plan + commit of ${count} claims: ${Math.round(performance.now() - start)} ms`);
  expect(first.allocations).toHaveLength(count);
  expect(await namespace.open().read()).toEqual(first);
  const second = await backend.commit(plan({ pools, claims: claimsOf(count + 1), snapshot: first }));
  expect(await namespace.open().read()).toEqual(second);
  const { binaryData } = JSON.parse(await namespace.kubectl("get configmap ippool.default.10.0.0.0-8 -o json"));
  console.log(`object: ${Buffer.from(binaryData.record, "base64").length} bytes`);
});

it("an object that is nearly as large as one can be is taken by the server; a larger one is refused here", async () => {
  const namespace = await RecordNamespace.make(cluster());
  const backend = namespace.open();
  // Names that do not compress: few lines make it large.
  const name = (i: number) =>
    Array.from({ length: 6 }, (_, j) => createHash("sha512").update(`${i} ${j}`).digest("base64url"));
  const claims = Array.from({ length: 6_000 }, (_, i) => claimOf(`Node/n${i}/${name(i).join("").slice(0, 390)}`));
  const snapshot = await backend.read();
  const made = (count: number) => plan({ pools, claims: claims.slice(0, count), snapshot });
  const refusal = await backend.commit(made(claims.length)).catch((error) => error);
  expect(refusal).toMatchObject({ code: "exhausted" });
  const fit = Number(/about (\d+) addresses/.exec(refusal.message)?.[1]);
  const most = Math.floor(fit * 0.995);
  const after = await backend.commit(made(most));
  expect(after.allocations).toHaveLength(most);
  expect(await namespace.open().read()).toEqual(after);
});

it("too many addresses for an object: exhausted with the number that fits, and nothing is written, of no pool", async () => {
  const namespace = await RecordNamespace.make(cluster());
  const backend = namespace.open();
  const both = [...pools, poolOf("a", "9.0.0.0/24")];
  const names = Array.from(
    { length: 130_000 },
    (_, i) =>
      `${Math.abs(Math.sin(i + 1))
        .toString(36)
        .slice(2)}${i}`,
  );
  const claims = [claimOf("Node/n/x pool=a"), ...names.map((name) => claimOf(`Node/${name}/static-ip/eth1`))];
  const stamp = await namespace.stamp();
  await expect(backend.commit(plan({ pools: both, claims, snapshot: await backend.read() }))).rejects.toMatchObject({
    code: "exhausted",
    message: expect.stringMatching(/would hold 130000 addresses in \d+ bytes .*: about \d{5,6} addresses/),
  });
  expect(await namespace.stamp()).toBe(stamp);
});
