import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { formatAddress } from "../../core/index.ts";
import * as runtime from "../../provider/runtime.ts";
import type { SetInputs, SetState } from "../../provider/set-state.ts";
import { clusterOfFile } from "../support/cluster-of-file.ts";
import { RecordNamespace } from "../support/cluster-record.ts";
import { PulumiProject } from "../support/pulumi-engine.ts";
import { setInputs } from "../support/pulumi-inputs.ts";
import { BUILD_TIMEOUT } from "../support/tools.ts";

const cluster = clusterOfFile(async () => {});

/** A set: `p: a b, q: c` are its pools, and who claims of them. `rest` and `opts` are texts. */
function setText(name: string, claims: string, rest = "", opts = ""): string {
  const pools = claims.split(", ").filter(Boolean);
  const specs = pools.map((text) => `${text.split(":")[0]}: { range: { cidr: "10.0.${text.charCodeAt(0)}.0/24" } }`);
  const listed = pools.flatMap((text) => {
    const [pool, nodes = ""] = text.split(":");
    const owners = nodes.split(" ").filter(Boolean);
    return owners.map((node) => `{ owner: { kind: "Node", name: "${node}" }, name: "eth1", pool: "${pool}" }`);
  });
  return `const ${name} = new AllocationSet("${name}", { pools: { ${specs} }, claims: [${listed}], ${rest} }, { ${opts} });`;
}

describe("a set or a pool that goes elsewhere", () => {
  let project: PulumiProject;
  let place: RecordNamespace;
  beforeEach(async () => {
    project = await PulumiProject.create("");
    place = await RecordNamespace.make(cluster());
    Object.assign(project.variables, { KUBECONFIG: cluster().kubeconfig });
  }, BUILD_TIMEOUT);
  afterEach(() => {
    vi.unstubAllEnvs();
    project?.remove();
  });

  const lock = (path: string) => `state: { backend: "lockfile", path: "${path}" }`;
  const inCluster = (set: string, more = "") =>
    `set: "${set}", state: { backend: "kubernetes", namespace: "${place.name}", ${more} }`;

  /** `a=1 s1, b=2 s1 / c=3 s1`: what the record has of a pool, live and releasing. */
  async function recorded(pool: string): Promise<string> {
    const { allocations, releasing } = await place.open().read();
    const text = (lines: typeof allocations) =>
      lines
        .filter((line) => line.pool === pool)
        .map(({ claim, address, set }) => `${claim.split("/")[1]}=${formatAddress(address).split(".")[3]} ${set}`)
        .join(", ");
    return [text(allocations), text(releasing)].join(" / ").replace(/ \/ $/, "");
  }

  async function up(...texts: string[]): Promise<string> {
    project.program(texts.join("\n"));
    return project.ok("up", "--yes", "--strict");
  }

  const unchanged = () => project.ok("preview", "--expect-no-changes");

  async function refused(texts: string[], ...says: string[]): Promise<void> {
    project.program(texts.join("\n"));
    const { status, text } = await project.run("preview");
    expect(status).not.toBe(0);
    for (const each of says) expect(text).toContain(each);
  }

  it("is where it was when only the words for its record change, whatever becomes of its name", async () => {
    await up(setText("ips", "p: a b", inCluster("shop")));
    const before = await place.stamp();
    await up(setText("ips", "p: a b", inCluster("shop", 'context: "test"')));
    expect(await recorded("p")).toBe("a=1 shop, b=2 shop");
    await up(setText("renamed", "p: a b", inCluster("shop")));
    expect(await recorded("p")).toBe("a=1 shop, b=2 shop");
    expect(await place.stamp()).toBe(before);
    await up(setText("renamed", "p: a", inCluster("shop", 'context: "test"')));
    expect(await recorded("p")).toBe("a=1 shop / b=2 shop");
  });

  it("is replaced, deleted before that, by one update: what it claims no more is releasing then", async () => {
    const set = (claims: string) => setText("ips", claims, inCluster("shop"), "deleteBeforeReplace: true");
    await up(set("p: a b, q: z"));
    project.program(set("p: a c"));
    await project.up("--replace", project.resources().find(({ urn }) => urn.endsWith("::ips"))?.urn as string);
    expect([await recorded("p"), await recorded("q")]).toEqual(["a=1 shop, c=3 shop / b=2 shop", " / z=1 shop"]);
  });

  it("goes on in a lockfile to which its record was moved", async () => {
    await up(setText("ips", "p: a b", inCluster("shop")));
    const { text } = await project.start("nodeippool", "migrate", "lockfile", "--namespace", place.name).ended;
    expect(text).toContain("nodeippool.lock");
    await up(setText("ips", "p: a b", 'set: "shop", state: { backend: "lockfile", path: "nodeippool.lock" }'));
    expect(project.sets().ips?.addresses).toEqual({ p: { "Node/a/eth1": "10.0.112.1", "Node/b/eth1": "10.0.112.2" } });
    await project.ok("up", "--yes", "--strict", "--expect-no-changes");
  });

  it("ends by itself where its record was moved to a lockfile, and another resource takes its place there", async () => {
    const there = (name: string, claims: string) => setText(name, claims, `set: "shop", ${lock("nodeippool.lock")}`);
    const moved = () => project.start("nodeippool", "migrate", "lockfile", "--namespace", place.name).ended;
    await up(setText("A", "p: a b", inCluster("shop")));
    expect(await moved()).toMatchObject({ status: 0 });
    const before = project.read("nodeippool.lock");
    // Taken out first, it would leave its addresses live there, also where another lock has a set of its name.
    project.program(setText("C", "q: ", `set: "shop", ${lock("other.lock")}`));
    for (const [verb, hint] of [
      ["up", "Set shop was in it. Bring that one up alone first, with the state to which it has moved; then this one."],
      ["destroy", "Put the set into the program with the state to which it has moved, and pulumi up"],
    ] as const) {
      const { status, text } = await project.run(verb, "--yes", "--skip-preview");
      expect(status).not.toBe(0);
      expect(text).toContain(hint);
    }
    project.program(there("A", "p: a b"));
    await project.up("--replace", project.resources().find(({ urn }) => urn.endsWith("::A"))?.urn as string);
    expect(project.resources().filter(({ urn }) => urn.endsWith("::A"))).toHaveLength(1);
    await project.ok("refresh", "--yes", "--expect-no-changes");
    await project.ok("destroy", "--yes", "--skip-preview");
    expect(project.resources()).toEqual([]);
    expect(project.read("nodeippool.lock")).toBe(before);
  });

  it("ends by itself where its record was moved to a lockfile, and it is renamed without an alias", async () => {
    await up(setText("A", "p: a b", inCluster("shop")));
    await project.start("nodeippool", "migrate", "lockfile", "--namespace", place.name).ended;
    await up(setText("B", "p: a b", `set: "shop", ${lock("nodeippool.lock")}`));
    expect(Object.keys(project.sets())).toEqual(["B"]);
    await unchanged();
  });

  it("ends by itself where its record was moved on to another cluster, and its claims were renamed there", async () => {
    await up(setText("A", "p: a b", inCluster("shop")));
    const second = await RecordNamespace.make(cluster());
    for (const move of [`lockfile --namespace ${place.name}`, `kubernetes --namespace ${second.name}`])
      expect(await project.start("nodeippool", "migrate", ...move.split(" ")).ended).toMatchObject({ status: 0 });
    place = second;
    await up(setText("B", "p: a c", `${inCluster("shop")}, moved: [{ from: "Node/b/eth1", to: "Node/c/eth1" }]`));
    expect([Object.keys(project.sets()), await recorded("p")]).toEqual([["B"], "a=1 shop, c=2 shop"]);
    await unchanged();
  });

  it("does not end where its record was moved to a lockfile, and another lock has a set of its name", async () => {
    await up(setText("A", "p: a b", inCluster("shop")));
    await project.start("nodeippool", "migrate", "lockfile", "--namespace", place.name).ended;
    const before = project.read("nodeippool.lock");
    project.program(setText("B", "p: b", `set: "shop", ${lock("other.lock")}`));
    const recording = project.start("nodeippool", "allocate", "--lock", "other.lock", "--", "pulumi", "preview");
    for (const { status, text } of [await recording.ended, await project.run("up", "--yes", "--skip-preview")]) {
      expect(status).not.toBe(0);
      expect(text).toContain("; where the program has it now, addresses of the set are missing");
    }
    expect(Object.keys(project.sets())).toEqual(["A"]);
    expect(project.read("nodeippool.lock")).toBe(before);
  });

  /** Until it goes through: who loses a race against another set of the program fails, and the next update heals that. */
  async function settled(...texts: string[]): Promise<void> {
    project.program(texts.join("\n"));
    for (let tries = 1; (await project.run("up", "--yes", "--skip-preview")).status !== 0; tries++)
      expect(tries).toBeLessThan(3);
  }

  it("is a pool that goes from one claim set of a cluster's record to another and back: nobody moves", async () => {
    const [a, b] = [inCluster("s1"), inCluster("s2")];
    await up(setText("A", "p: a b c, q: z", a));
    await up(setText("A", "q: z", a), setText("B", "p: d c b", b, "dependsOn: A"));
    expect(await recorded("p")).toBe("b=2 s2, c=3 s2, d=4 s2 / a=1 s2");
    await unchanged();
    await settled(setText("B", "", b), setText("A", "p: a b c, q: z", a));
    expect(await recorded("p")).toBe("a=1 s1, b=2 s1, c=3 s1 / d=4 s1");
    await settled(setText("A", "q: z", a), setText("B", "p: b d", b));
    expect(await recorded("p")).toBe("b=2 s2, d=4 s2 / a=1 s2, c=3 s2");
    // Given up by one, and taken by the other only later; under another name, too.
    await up(setText("A", "q: z", a), setText("B", "", b));
    expect(await recorded("p")).toBe(" / a=1 s2, b=2 s2, c=3 s2, d=4 s2");
    await up(setText("A", "q: z, p: d", inCluster("s3")));
    expect([await recorded("p"), await recorded("q")]).toEqual(["d=4 s3 / a=1 s3, b=2 s3, c=3 s3", "z=1 s3"]);
  });

  it("is a pool that goes from one set to another with the record in the stack: nobody moves", async () => {
    const held = () => {
      const { A, B } = project.sets();
      return [A?.addresses, A?.releasing, B?.addresses, B?.releasing].map(
        (pools) => Object.keys(pools?.p ?? {}).length,
      );
    };
    await up(setText("A", "p: a b, q: z"));
    await up(setText("A", "q: z"), setText("B", "p: c b"));
    await project.up(); // until then the one that gave it says that it has to release it
    await unchanged();
    await up(setText("A", "q: z y"), setText("B", "p: c b"));
    expect(held()).toEqual([0, 0, 2, 1]);
    await unchanged();
    await up(setText("A", "p: c b, q: z y"), setText("B", ""));
    await up(setText("A", "p: a b c, q: z"), setText("B", ""));
    expect(project.sets().A?.addresses.p).toEqual({
      "Node/a/eth1": "10.0.112.1",
      "Node/b/eth1": "10.0.112.2",
      "Node/c/eth1": "10.0.112.3",
    });
  });

  it("is no pool without its set where the record is another one; as the hint says it goes, and nobody moves", async () => {
    const says = ["pools.p: another record of this stack has", "change the state of that set alone"];
    const given = setText("A", "q: z");
    await up(setText("A", "p: a b, q: z"));
    await refused(
      [given, setText("B", "p: d b", inCluster("s2"))],
      ...says,
      "2 addresses",
      "10.0.112.1 of Node/a/eth1",
    );
    await refused([given, setText("B", "p: d b", lock("other.lock"))], ...says);
    await up(given, setText("own", "p: a b"));
    await up(given, setText("own", "p: a b", inCluster("s1")));
    await settled(given, setText("own", "", inCluster("s1")), setText("B", "p: d b", inCluster("s2")));
    expect(await recorded("p")).toBe("b=2 s2, d=3 s2 / a=1 s2");
    // Given up before, it is still there.
    await up(given, setText("B", "", inCluster("s2")));
    await refused([setText("A", "q: z, p: b"), setText("B", "", inCluster("s2"))], ...says, "3 addresses");
  });

  it("goes from one lockfile to another alone, and takes no pool of another set along", async () => {
    const inLock = (set: string, path: string) => `set: "${set}", ${lock(path)}`;
    const record = async (path: string, ...args: string[]) => {
      const command = ["allocate", "--lock", path, "--", "pulumi", "preview", "--non-interactive", ...args];
      return await project.start("nodeippool", ...command).ended;
    };
    const [given, own] = [setText("A", "q: z", inLock("s1", "one.lock")), "p: a b"];
    project.program([given, setText("own", own, inLock("s2", "one.lock"))].join("\n"));
    expect(await record("one.lock")).toMatchObject({ status: 0 });
    await project.up();
    project.program([given, setText("B", own, inLock("s3", "two.lock"))].join("\n"));
    const text = expect.stringContaining("pools.p: another record of this stack has 2 addresses");
    expect(await record("two.lock", "--target", "**B")).toMatchObject({ status: 1, text });
    project.program([given, setText("own", "p: b 0 a", inLock("s2", "two.lock"))].join("\n"));
    expect(await record("two.lock", "--target", "**own")).toMatchObject({ status: 0 });
    await project.up();
    const held = { "Node/0/eth1": "10.0.112.3", "Node/a/eth1": "10.0.112.1", "Node/b/eth1": "10.0.112.2" };
    expect(project.sets().own?.addresses.p).toEqual(held);
    await unchanged();
  });

  it("takes all that it has along to another name in its record", async () => {
    const says =
      "this change of state or set leaves behind 1 address that would be forgotten, as 10.0.112.1 of Node/a/eth1";
    await up(setText("A", "p: a, q: z y", inCluster("s1")));
    await refused([setText("A", "q: z", inCluster("s2"))], says, "change that alone");
    await up(setText("A", "p: a, q: z", inCluster("s2")));
    await up(setText("A", "q: z", inCluster("s2")));
    expect([await recorded("p"), await recorded("q")]).toEqual([" / a=1 s2", "z=2 s2 / y=1 s2"]);
    await refused([setText("A", "q: z", inCluster("s3"))], says);
    await up(setText("A", "p: c a, q: z", inCluster("s2")));
    expect(await recorded("p")).toBe("a=1 s2, c=2 s2");
  });

  it("says what to do where an update moved a pool and the state does not know", async () => {
    const [before, after] = [
      [setText("A", "p: a b", inCluster("s1"))],
      [setText("A", "", inCluster("s1")), setText("B", "p: b a", inCluster("s2"))],
    ];
    await up(...before);
    const old = await project.ok("stack", "export");
    await settled(...after);
    project.write("old.json", old.slice(old.indexOf("{")));
    await project.ok("stack", "import", "--file", "old.json");
    await refused(before, "has moved it to set s2. Run the program of that update again, to its end, then this one.");
    await settled(...after);
    await settled(...before);
    expect(await recorded("p")).toBe("a=1 s1, b=2 s1");
  });

  it("plans nothing of a pool that another set of the run takes over", async () => {
    vi.stubEnv("KUBECONFIG", cluster().kubeconfig);
    const state = { backend: "kubernetes", namespace: place.name } as const;
    const pools = { p: { range: { cidr: "10.0.112.0/24" } } };
    const claims = [{ key: "Node/a/eth1", pool: "p" }];
    const planned = async (olds: Partial<SetState>, rest: Partial<SetInputs>) => {
      const { inputs, failures } = await runtime.check(olds as SetState, setInputs({ state, ...rest }));
      expect(failures).toBeUndefined();
      return inputs as SetState;
    };
    const { id, outs: own } = await runtime.create(await planned({}, { set: "s1", pools, claims }));
    const taker = await planned({}, { set: "s2", pools, claims, previous: { others: [own] } });
    const giver = await planned(own, { set: "s1", previous: { own, others: [] } });
    await runtime.create(taker);
    await runtime.update(id, own, giver);
    expect(await recorded("p")).toBe("a=1 s2");
  });

  it("is a pool that goes from one claim set of a lockfile to another, whichever is planned first", async () => {
    const inLock = (set: string) => `set: "${set}", ${lock("nodeippool.lock")}`;
    const lines = () =>
      [...project.read("nodeippool.lock").matchAll(/"10\.0\.112\.(\d+)".*Node\/(\w)\/.*"set":"(\w+)"/g)]
        .map(([, last, node, set]) => `${node}=${last} ${set}`)
        .join(", ");
    const allocated = async (...texts: string[]) => {
      project.program(texts.join("\n"));
      const args = ["allocate", "--", "pulumi", "preview", "--non-interactive"];
      const { status, text } = await project.start("nodeippool", ...args).ended;
      expect([status, text]).toEqual([0, expect.stringContaining("recorded in nodeippool.lock")]);
      await project.ok("up", "--yes", "--strict");
    };
    const [a, b] = [inLock("s1"), inLock("s2")];
    await allocated(setText("A", "p: a b c, q: z", a));
    await allocated(setText("A", "q: z", a), setText("B", "p: d c b", b, "dependsOn: A"));
    expect(lines()).toBe("b=2 s2, c=3 s2, d=4 s2, a=1 s2");
    await unchanged();
    await allocated(setText("A", "p: a b c, q: z", a), setText("B", "", b, "dependsOn: A"));
    expect(lines()).toBe("a=1 s1, b=2 s1, c=3 s1, d=4 s1");
  });
});
