import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Allocation, address, formatAddress, planRelease } from "../../core/index.ts";
import { openKubernetes, type StateBackend } from "../../state/index.ts";
import { clusterOfFile } from "../support/cluster-of-file.ts";
import { PulumiProject, setText, short } from "../support/pulumi-engine.ts";
import { BUILD_TIMEOUT } from "../support/tools.ts";

const namespace = "network";
const records: StateBackend[] = [];
const clusters = ["right", "wrong"].map(() =>
  clusterOfFile(async ({ kubectl, kubeconfig }) => {
    await kubectl(["create", "namespace", namespace]);
    records.push(await openKubernetes({ kubeconfig, namespace }));
  }),
);
const [right, wrong] = [0, 1];

const rest = `set: "shop", state: { backend: "kubernetes", namespace: "${namespace}" }`;
const lineText = ({ claim, address }: Allocation) =>
  `${claim.split("/")[1]}=${formatAddress(address).replace("10.0.0.", "")}`;

async function recorded(cluster = right): Promise<string> {
  const { allocations, releasing } = await (records[cluster] as StateBackend).read();
  return [...allocations, ...releasing].map(lineText).join(" ");
}

/** Somebody else changes the record: frees what these nodes have, and writes lines. */
async function change(cluster: number, free: readonly string[], assign: readonly [string, string, string][] = []) {
  const record = records[cluster] as StateBackend;
  const snapshot = await record.read();
  const lines = [...snapshot.allocations, ...snapshot.releasing];
  await record.commit(
    planRelease(
      snapshot,
      lines.filter(({ claim }) => free.includes(claim.split("/")[1] as string)),
    ),
  );
  if (assign.length === 0) return;
  const made = assign.map(
    ([node, last, set]): Allocation => ({
      address: address(`10.0.0.${last}`),
      length: 32,
      pool: "lan",
      claim: `Node/${node}/eth1`,
      set,
    }),
  );
  const prefix = { first: address("10.0.0.0"), last: address("10.0.0.255"), length: 24 };
  const plan = planRelease(await record.read(), []);
  for (const set of new Set(made.map((line) => line.set)))
    await record.commit({
      ...plan,
      set,
      pools: [{ name: "lan", network: "default", prefix }],
      assign: made.filter((line) => line.set === set),
    } as never);
}

describe("a stack whose record is in a cluster", () => {
  let project: PulumiProject;
  beforeAll(async () => {
    project = await PulumiProject.create("");
  }, BUILD_TIMEOUT);
  afterAll(() => project?.remove());

  const use = (cluster: number) => Object.assign(project.variables, { KUBECONFIG: clusters[cluster]?.().kubeconfig });
  const program = (nodes: readonly string[], more = "") =>
    project.program(setText(nodes, { rest: `${rest}, ${more}` }));
  const held = () => short(project.sets().ips?.addresses);
  const urn = () => project.resources().find((one) => one.urn.endsWith("::ips"))?.urn as string;
  const refusal = /namespace network of .+ is not the record that this stack used before: it lacks 2 of 2 addresses/;

  async function refused(...args: string[]): Promise<void> {
    const { status, text } = await project.run(...args);
    expect(text).toMatch(refusal);
    expect(text).not.toMatch(/^\s+at /m);
    expect(status).not.toBe(0);
    expect(held()).toBe("a=2 b=3");
  }

  const kubectl = (args: string, input?: string) =>
    (clusters[right] as (typeof clusters)[0])().kubectl(["-n", namespace, ...args.split(" ")], input);

  async function lacks(how: string, ...args: string[]): Promise<void> {
    const { status, text } = await project.run(...args);
    expect(text).toContain(`it lacks ${how} addresses`);
    expect(status).not.toBe(0);
  }

  /** Deletes the record, and makes it again from a backup: that has another identity. */
  async function broughtBack(meanwhile = async () => {}): Promise<void> {
    const backup = JSON.parse(await kubectl("get configmaps -l nodeippool.nmstate.io/record -o json"));
    await kubectl("delete configmaps -l nodeippool.nmstate.io/record");
    await meanwhile();
    for (const { metadata } of backup.items) for (const name of ["uid", "resourceVersion"]) delete metadata[name];
    await kubectl("create -f -", JSON.stringify(backup));
  }

  it("keeps which record it is", async () => {
    use(right);
    await change(right, [], [["stranger", "1", "else"]]);
    program(["a", "b"]);
    await project.ok("up", "--yes", "--strict");
    expect([held(), await recorded()]).toEqual(["a=2 b=3", "stranger=1 a=2 b=3"]);
    expect(project.sets().ips?.record).toMatch(/^[0-9a-f-]{36}$/);
    await project.ok("up", "--yes", "--strict", "--expect-no-changes");
    await project.ok("refresh", "--yes", "--expect-no-changes");
  });

  it.each(["that has no record", "whose record has the same set and other addresses"])(
    "does nothing at all where the kubeconfig leads to a cluster %s",
    async (which) => {
      use(wrong);
      if (which !== "that has no record")
        await change(
          wrong,
          [],
          [
            ["a", "7", "shop"],
            ["b", "8", "shop"],
          ],
        );
      const before = await recorded(wrong);
      program(["a", "b", "c"]);
      await refused("preview");
      await refused("up", "--yes", "--skip-preview");
      await refused("up", "--yes", "--skip-preview", "--replace", urn());
      await refused("refresh", "--yes");
      await refused("destroy", "--yes", "--skip-preview");
      program(["a", "b"], "allowMove: true");
      await refused("up", "--yes", "--skip-preview");
      project.program(setText(["a", "b"], { name: "renamed", rest }));
      await refused("up", "--yes", "--skip-preview");
      expect(await recorded(wrong)).toBe(before);
    },
  );

  it("goes on where it was, in the right one", async () => {
    use(right);
    program(["a", "b", "c"]);
    await project.ok("up", "--yes", "--strict");
    expect([held(), await recorded()]).toEqual(["a=2 b=3 c=4", "stranger=1 a=2 b=3 c=4"]);
  });

  it.each([
    ["that is replaced", "", ["a", "b", "c"], ["--replace"]],
    ["whose claims may move", "allowMove: true", ["a", "b", "c"], []],
    ["with a rename", 'moved: [{ from: "Node/x/eth1", to: "Node/c/eth1" }]', ["a", "b", "c"], []],
  ] as const)("takes lost lines again for a set %s, not the lowest free addresses", async (_, more, nodes, verbs) => {
    await change(right, ["stranger", "b", "c"]);
    program(nodes, more);
    await project.up(...verbs.flatMap((verb) => [verb, urn()]));
    expect([held(), await recorded()]).toEqual(["a=2 b=3 c=4", "a=2 b=3 c=4"]);
  });

  it("renames a claim whose line was lost", async () => {
    await change(right, ["c"]);
    program(["a", "b", "d"], 'moved: [{ from: "Node/c/eth1", to: "Node/d/eth1" }]');
    await project.up();
    expect([held(), await recorded()]).toEqual(["a=2 b=3 d=4", "a=2 b=3 d=4"]);
  });

  it("refuses an address that the record gave to its claim instead; refresh accepts it, or allowMove", async () => {
    await change(right, ["b"], [["b", "9", "shop"]]);
    program(["a", "b", "d"]);
    expect((await project.run("up", "--yes", "--skip-preview")).text).toMatch(/in-use: .*10\.0\.0\.9/);
    expect(held()).toBe("a=2 b=3 d=4");
    await project.ok("refresh", "--yes");
    await project.up();
    expect([held(), await recorded()]).toEqual(["a=2 b=9 d=4", "a=2 d=4 b=9"]);
    await change(right, ["b"], [["b", "8", "shop"]]);
    program(["a", "b", "d"], "allowMove: true");
    await project.up();
    expect(held()).toBe("a=2 b=8 d=4");
  });

  it("refuses a record that was lost, and takes it as it was when it is brought back", async () => {
    program(["a", "b", "d", "e"]);
    await broughtBack(() => lacks("3 of 3", "up", "--yes", "--skip-preview"));
    const before = project.sets().ips?.record;
    await project.ok("up", "--yes", "--strict");
    expect([held(), await recorded()]).toEqual(["a=2 b=8 d=4 e=1", "e=1 a=2 d=4 b=8"]);
    expect(project.sets().ips?.record).not.toBe(before);
    await project.ok("up", "--yes", "--strict", "--expect-no-changes");
  });

  it("leaves a record that was brought back with all that others have in it", async () => {
    await broughtBack();
    await change(right, [], [["stranger", "3", "else"]]);
    project.program(setText(["a", "b", "d", "e", "f"]));
    const { text } = await project.run("preview");
    expect(text).toContain("has 1 address, as 10.0.0.3 of Node/stranger/eth1");
    await change(right, ["stranger"]);
  });

  it("leaves no record that is not the one that it was", async () => {
    use(wrong);
    project.program(setText(["a", "b", "d", "e", "f"]));
    await lacks("3 of 4", "preview");
    project.program(setText(["b", "a"], { name: "other", rest: 'state: { backend: "lockfile", path: "none.lock" }' }));
    await lacks("3 of 4", "preview");
    use(right);
  });

  it("begins a record anew where the old one is gone for good: after a state delete, with its addresses in its claims", async () => {
    await kubectl("delete configmaps -l nodeippool.nmstate.io/record");
    const nodes = ["a", "b", "d", "e"];
    project.program(setText(nodes));
    await lacks("4 of 4", "preview");
    await project.ok("state", "delete", urn(), "--yes");
    const at = JSON.stringify({ a: 2, b: 8, d: 4, e: 1 });
    project.program(
      setText(nodes, { rest }).replace('pool: "lan" }', `pool: "lan", address: "10.0.0." + (${at})[node] }`),
    );
    await project.up();
    program(nodes);
    await project.ok("up", "--yes", "--strict");
    expect([held(), await recorded()]).toEqual(["a=2 b=8 d=4 e=1", "e=1 a=2 d=4 b=8"]);
  });

  it("does nothing in another record where all that it has is releasing, nor does a set that is new; a state delete accepts one", async () => {
    const tells = "no address of the set tells whether it was restored";
    const neither = async (...args: string[]) => {
      const { status, text } = await project.run(...args);
      expect(text).toContain(tells);
      expect(status).not.toBe(0);
    };
    program([]);
    await project.ok("up", "--yes", "--strict");
    use(wrong);
    const before = await recorded(wrong);
    for (const text of [
      setText(["x"], { rest }),
      setText(["x"]),
      setText(["x"], { name: "other", rest: rest.replace("shop", "other") }),
    ]) {
      project.program(text);
      await neither("preview");
      await neither("up", "--yes", "--skip-preview");
    }
    await neither("refresh", "--yes");
    await neither("destroy", "--yes", "--skip-preview");
    expect(await recorded(wrong)).toBe(before);
    use(right);
    await broughtBack();
    program(["x"]);
    await neither("up", "--yes", "--skip-preview");
    await project.ok("state", "delete", urn(), "--yes");
    await project.ok("up", "--yes", "--strict");
    expect([held(), await recorded()]).toEqual(["x=3", "x=3 e=1 a=2 d=4 b=8"]);
  });

  it("is destroyed where its record is", async () => {
    await project.ok("destroy", "--yes", "--skip-preview");
    expect(project.resources()).toEqual([]);
  });
});
