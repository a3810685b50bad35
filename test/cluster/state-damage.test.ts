import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { plan } from "../../core/plan/plan.ts";
import type { StateBackend } from "../../state/backend.ts";
import { kubernetes } from "../../state/kubernetes/backend.ts";
import { blockWith } from "../support/cli/markdown.ts";
import { clusterOfFile } from "../support/cluster/of-file.ts";
import { kubeconfigOf, RecordNamespace } from "../support/cluster/record.ts";
import { claimOf, poolOf } from "../support/core/text.ts";

const pools = [poolOf("p", "10.0.0.0/24"), poolOf("q", "10.0.1.0/24")];
const part = "ippool.default.10.0.0.0-24";
const label = "nodeippool.nmstate.io/record";

const cluster = clusterOfFile(async () => {});

async function allocate(backend: StateBackend, nodes: readonly string[], names: readonly string[] = ["p", "q"]) {
  const claims = nodes.flatMap((node) => names.map((pool) => claimOf(`Node/${node}/a pool=${pool}`)));
  return backend.commit(plan({ pools, claims, snapshot: await backend.read() }));
}

async function recorded(): Promise<RecordNamespace> {
  const namespace = await RecordNamespace.make(cluster());
  await allocate(namespace.open(), ["n1", "n2"]);
  return namespace;
}

/** Rewrites an object through its YAML, as an editor does. */
async function edit(namespace: RecordNamespace, name: string, change: (text: string) => string): Promise<void> {
  const old = await namespace.kubectl(`get configmap ${name} -o json`);
  const next = change(old);
  expect(next).not.toBe(old);
  await namespace.kubectl("replace -f -", next);
}

describe("a record that was changed by hand", () => {
  it.each<{ name: string; damage: (n: RecordNamespace) => Promise<unknown>; want: RegExp }>([
    {
      name: "a part is deleted",
      damage: (n) => n.kubectl(`delete configmap ${part}`),
      want: /^ConfigMap \S+\/ippool\.default\.10\.0\.0\.0-24 is gone, or has lost its label: it holds pool p\n.*take the object from a backup.*line of pool p out of/s,
    },
    {
      name: "a part loses its label",
      damage: (n) => n.kubectl(`label configmap ${part} ${label}-`),
      want: /is gone, or has lost its label: it holds pool p\n.*Put the label back/s,
    },
    {
      name: "the index is deleted",
      damage: (n) => n.kubectl("delete configmap ippool.index"),
      want: /ippool\.index is gone: .*\n.*backup.* make it anew:\n.*--from-literal=pools='- \{"pool":"p".*\n- \{"pool":"q"/s,
    },
    {
      name: "the index loses its label",
      damage: (n) => n.kubectl(`label configmap ippool.index ${label}-`),
      want: /ippool\.index has lost its label .*\n.*kubectl -n \S+ label configmap ippool\.index \S+=index/s,
    },
    {
      name: "everything loses its label",
      damage: (n) => n.kubectl(`label configmap --all ${label}-`),
      want: /ippool\.index has lost its label .*\n.*kubectl -n \S+ label configmap ippool\.index \S+=index/s,
    },
    {
      name: "a line is given to another owner in another spelling",
      damage: (n) => edit(n, part, (text) => text.replace("Node/n1/a", "n1")),
      want: /^ConfigMap \S+:6:1: this line names no valid claim.*\n.*Put it back as it was/s,
    },
    {
      name: "an address is given away twice",
      damage: (n) => edit(n, part, (text) => text.replace("10.0.0.2", "10.0.0.1")),
      want: /:7:1: this line gives 10\.0\.0\.1 away again; Node\/n1\/a holds it/,
    },
    {
      name: "the cidr is edited",
      damage: (n) => edit(n, part, (text) => text.replace("10.0.0.0/24", "10.0.0.0/16")),
      want: /holds pool p, whose place is ippool\.default\.10\.0\.0\.0-16/,
    },
    {
      name: "a part is copied",
      damage: async (n) =>
        n.kubectl(
          "create -f -",
          (await n.kubectl(`get configmap ${part} -o json`))
            .replaceAll(part, "copy")
            .replace(/"(uid|resourceVersion)": "[^"]*",?/g, ""),
        ),
      want: /copy holds pool p, whose place is ippool\.default|pool p is in both/,
    },
    {
      name: "the record is emptied",
      damage: (n) => n.kubectl(`patch configmap ${part} --type=json -p [{"op":"remove","path":"/data/record"}]`),
      want: /holds no record\n.*Put it back/s,
    },
    {
      name: "a compressed record is broken",
      damage: (n) => n.kubectl(`patch configmap ${part} --type=merge -p {"data":null,"binaryData":{"record":"AAAA"}}`),
      want: /holds no record: incorrect header check/,
    },
    {
      name: "a pool is taken out of the index",
      damage: (n) => edit(n, "ippool.index", (text) => text.replace(/- \{\\"pool\\":\\"p\\".*?\\n/, "")),
      want: /ippool\.index does not list pool p in 10\.0\.0\.0\/24 of network default, which has addresses\n.*\n {2}- \{"pool":"p","cidr":"10\.0\.0\.0\/24"\}/s,
    },
    {
      name: "the index is overwritten",
      damage: (n) => n.kubectl('patch configmap ippool.index --type=merge -p {"data":{"pools":"nothing"}}'),
      want: /ippool\.index has a line that is not a line of a record: nothing/,
    },
    {
      name: "the index gets a key",
      damage: (n) => n.kubectl('patch configmap ippool.index --type=merge -p {"data":{"note":"hello"}}'),
      want: /ippool\.index holds "note", which is no part of it/,
    },
  ])("$name: corrupt, with what to do; nothing is written", async ({ damage, want }) => {
    const namespace = await recorded();
    const before = await namespace.open().read();
    const made = plan({ pools, claims: [claimOf("Node/n3/a")], snapshot: before });
    await damage(namespace);
    const stamp = await namespace.stamp();
    const refused = { name: "IpamError", code: "corrupt", message: expect.stringMatching(want) };
    await expect(namespace.open().read()).rejects.toMatchObject(refused);
    await expect(namespace.open().commit(made)).rejects.toMatchObject(refused);
    expect(await namespace.stamp()).toBe(stamp);
  });

  it("a name that is taken by an object of somebody else", async () => {
    const namespace = await RecordNamespace.make(cluster());
    await namespace.kubectl(`create configmap ${part} --from-literal=a=b`);
    await expect(allocate(namespace.open(), ["n1"])).rejects.toMatchObject({
      code: "corrupt",
      message: expect.stringContaining(`${part} has lost its label`),
    });
  });

  it("what others write beside the record stays", async () => {
    const namespace = await recorded();
    await namespace.kubectl(`label configmap ${part} team=network`);
    await namespace.kubectl(`annotate configmap ${part} note=hello`);
    await allocate(namespace.open(), ["n1", "n2", "n3"]);
    const { metadata } = JSON.parse(await namespace.kubectl(`get configmap ${part} -o json`));
    expect(metadata.labels).toEqual({ team: "network", [label]: "subnet" });
    expect(metadata.annotations).toMatchObject({ note: "hello", "nodeippool.nmstate.io/pools": "p" });
  });

  it("an object that was made immutable is told of", async () => {
    const namespace = await recorded();
    await namespace.kubectl(`patch configmap ${part} --type=merge -p {"immutable":true}`);
    const refused = { code: "invalid", message: expect.stringMatching(/immutable/) };
    await expect(allocate(namespace.open(), ["n1", "n2", "n3"])).rejects.toMatchObject(refused);
  });
});

describe("a writer that goes on", () => {
  it("writes all other subnets while a part is immutable, and that one once it is made anew", async () => {
    const namespace = await recorded();
    const goingOn = kubernetes(namespace.objects(), namespace.name, { goesOn: true });
    const object = await namespace.kubectl(`get configmap ${part} -o json`);
    await namespace.kubectl(`patch configmap ${part} --type=merge -p {"immutable":true}`);
    await expect(allocate(goingOn, ["n1", "n2", "n3"])).rejects.toThrow(/immutable/);
    const { unreadable = [] } = await goingOn.read();
    expect(unreadable.map(({ pools: of, why }) => [of.map(({ name }) => name), why])).toEqual([
      [["p"], expect.stringMatching(/immutable/)],
    ]);
    const beside = (pool: string) =>
      goingOn.read().then((snapshot) => {
        const claims = [claimOf(`Node/n4/a pool=${pool}`)];
        return goingOn.commit(plan({ pools, claims, set: "other", snapshot }));
      });
    expect((await beside("q")).allocations).toHaveLength(6);
    await namespace.kubectl(`delete configmap ${part}`);
    await namespace.kubectl("create -f -", object.replace(/"(uid|resourceVersion)": "[^"]*",?/g, ""));
    expect((await allocate(goingOn, ["n1", "n2", "n3"])).allocations).toHaveLength(7);
  });

  it("writes all other subnets while a quota refuses a new ConfigMap, and that one once there is room", async () => {
    const namespace = await recorded();
    const goingOn = kubernetes(namespace.objects(), namespace.name, { goesOn: true });
    const add = async (...names: string[]) => {
      const claims = names.map((pool) => claimOf(`Node/n3/a pool=${pool}`));
      const third = poolOf("r", "10.0.2.0/24");
      return goingOn.commit(plan({ pools: [...pools, third], claims, set: "other", snapshot: await goingOn.read() }));
    };
    const hard = { "count/configmaps": "2" };
    const metadata = { name: "maps" };
    const quota = { apiVersion: "v1", kind: "ResourceQuota", metadata, spec: { hard }, status: { hard, used: hard } };
    await namespace.kubectl("create -f -", JSON.stringify(quota));
    await namespace.kubectl("replace --subresource=status -f -", JSON.stringify(quota));
    await expect(add("q", "r")).rejects.toThrow(/exceeded quota/);
    expect((await goingOn.read()).unreadable).toEqual([
      {
        isRead: true,
        pools: [expect.objectContaining({ name: "r" })],
        why: expect.stringMatching(/^ConfigMap \S+10\.0\.2\.0-24 cannot be written: .*exceeded quota: maps/),
      },
    ]);
    await add("q");
    await namespace.kubectl("delete resourcequota maps");
    expect((await goingOn.read()).unreadable).toBeUndefined();
    expect((await add("q", "r")).allocations).toHaveLength(6);
  });
});

describe("rights", () => {
  const role = blockWith(readFileSync("docs/state-backends.md", "utf8"), "kind: Role\n");

  /** A namespace in which the user `nobody` has the rights of the page, less what is taken away. */
  async function withRights(change: (text: string) => string) {
    const namespace = await RecordNamespace.make(cluster());
    const user = "kind: User, name: nobody";
    const mine = change(role).replaceAll("namespace: network", `namespace: ${namespace.name}`);
    await namespace.kubectl("apply -f -", mine.replace(/kind: ServiceAccount, name: \S+, namespace: [^ }]+/, user));
    return { namespace, backend: namespace.open(kubeconfigOf(cluster(), cluster().tokens.nobody)) };
  }

  it("those of the page are enough for everything", async () => {
    const { backend } = await withRights((text) => text);
    await allocate(backend, ["n1"]);
    await allocate(backend, ["n1", "n2"]);
    expect((await allocate(backend, [])).releasing).toHaveLength(4);
  });

  it("who may not look at the namespace has the record all the same", async () => {
    const { backend } = await withRights((text) => text.replace(/resources: \[namespaces\]/, "resources: [events]"));
    expect((await allocate(backend, ["n1"])).allocations).toHaveLength(2);
  });

  it.each([
    ["list", /list/],
    ["create", /create/],
    ["update", /update/],
  ])("without %s: invalid, and the message says which right it is", async (verb, want) => {
    const { namespace, backend } = await withRights((text) =>
      text.replace(new RegExp(`(configmaps.*verbs:.*)\\b${verb}\\b`, "s"), "$1watch"),
    );
    if (verb === "update") await allocate(namespace.open(), ["n1"]);
    const refused = allocate(backend, ["n1", "n2"]);
    await expect(refused).rejects.toMatchObject({ code: "invalid", message: expect.stringMatching(want) });
    await expect(refused).rejects.toThrow(/forbidden: User "nobody" cannot [\s\S]*ask an administrator/);
  });

  it("list alone is enough to read", async () => {
    const { namespace, backend } = await withRights((text) =>
      text.replace("verbs: [list, create, update]", "verbs: [list]"),
    );
    await allocate(namespace.open(), ["n1"]);
    expect((await backend.read()).allocations).toHaveLength(2);
  });
});

describe("what is not there", () => {
  it("a namespace: invalid, also for whoever only reads", async () => {
    const namespace = new RecordNamespace(cluster());
    const refused = {
      code: "invalid",
      message: expect.stringMatching(/there is no namespace record-\d+ in .*\n.*Make it/),
    };
    await expect(namespace.open().read()).rejects.toMatchObject(refused);
    await expect(allocate(namespace.open(), ["n1"])).rejects.toMatchObject(refused);
  });

  it("a namespace that is being deleted takes nothing new", async () => {
    const namespace = await recorded();
    await namespace.kubectl(`delete namespace ${namespace.name} --wait=false`);
    await expect(allocate(namespace.open(), ["n1", "n2", "n3"])).resolves.toBeDefined();
    const other = [poolOf("z", "10.7.0.0/24")];
    const claims = [claimOf("Node/n1/a pool=z")];
    const made = plan({ pools: other, claims, set: "z", snapshot: await namespace.open().read() });
    await expect(namespace.open().commit(made)).rejects.toThrow(/being terminated/);
  });

  it("a server: unavailable, and it is named", async () => {
    const namespace = new RecordNamespace(cluster());
    const nowhere = kubeconfigOf(cluster(), "x", "https://127.0.0.1:9");
    await expect(namespace.open(nowhere, { budget: 300 }).read()).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("127.0.0.1:9"),
    });
  });
});
