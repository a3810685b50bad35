import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { afterEach, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { parseAllDocuments } from "yaml";
import { poolFinalizer as finalizer } from "../../controller/write/writer.ts";
import { type Access, findAccess, type KubeObject, type Objects, objectsOf, type Resource } from "../../kube/index.ts";
import { installNmstate, installNodeIPPool } from "../support/cluster/kinds.ts";
import { clusterOfFile } from "../support/cluster/of-file.ts";
import { readersEnvironment, root } from "../support/console.ts";
import { ownAccess, withRefusals } from "../support/controller/rights.ts";
import { gate, singlePod } from "../support/objects/workload-objects.ts";

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

interface Rights extends KubeObject {
  readonly rules: readonly Rule[];
}

const nmstate = "nmstate.io/v1";
const rbac = (plural: string): Resource => ({ apiVersion: "rbac.authorization.k8s.io/v1", plural });
const nodes: Resource = { apiVersion: "v1", plural: "nodes" };
const pools: Resource = { apiVersion: nmstate, plural: "nodeippools" };
const policies: Resource = { apiVersion: nmstate, plural: "nodenetworkconfigurationpolicies" };
const enactments: Resource = { apiVersion: "nmstate.io/v1beta1", plural: "nodenetworkconfigurationenactments" };
const events: Resource = { apiVersion: "v1", plural: "events" };
const configMaps: Resource = { apiVersion: "v1", plural: "configmaps" };

const documents = (path: string) =>
  parseAllDocuments(readFileSync(join(root, path), "utf8")).map((document) => document.toJS() as KubeObject);
const roles = documents("deploy/rbac.yaml").filter(({ kind }) => kind.endsWith("Role")) as Rights[];

/** Every right of the controller by itself. */
const rights = roles.flatMap(({ kind, rules }) =>
  rules.flatMap(({ resources, verbs }) =>
    resources.flatMap((resource) => verbs.map((verb) => ({ kind, resource, verb }))),
  ),
);

/** The rules of a role without one right. */
function without({ rules }: Rights, resource: string, verb: string): Rule[] {
  return rules.flatMap(({ apiGroups, resources, verbs }) =>
    resources.flatMap((one) => {
      const left = verbs.filter((right) => one !== resource || right !== verb);
      return left.length === 0 ? [] : [{ apiGroups, resources: [one], verbs: left }];
    }),
  );
}

describe("deploy/ on a real API server", () => {
  const cluster = clusterOfFile(async (started) => {
    await installNmstate(started);
    await started.kubectl(["apply", "-k", join(root, "deploy")]);
  });
  let kube: Objects;
  let admin: Access;
  beforeAll(() => {
    admin = findAccess({ kubeconfig: cluster().kubeconfig });
    kube = objectsOf(admin);
    return () => kube.close();
  });

  afterEach(clear);

  const labels = { "kubernetes.io/hostname": "node01" };
  const node = { apiVersion: "v1", kind: "Node", metadata: { name: "node01", labels } };
  const about = { "nmstate.io/node": "node01", "nmstate.io/policy": "static-ip--node01" };
  const ready = { conditions: [{ type: "Ready", status: "True", reason: "KubeletReady", message: "" }] };
  const pool = (name: string) =>
    kube.get<KubeObject & { metadata: { finalizers?: string[] }; status?: { allocated?: number; free?: string } }>(
      pools,
      name,
    );
  const policy = (name: string) => kube.get<KubeObject & { spec: Policy; status?: unknown }>(policies, name);
  interface Policy {
    readonly nodeSelector?: Record<string, string>;
    readonly desiredState: { readonly interfaces: readonly Record<string, unknown>[] };
  }
  const change = [{ op: "add", path: "/spec/desiredState/interfaces/0/mtu", value: 9000 }];

  async function prepare(): Promise<void> {
    for (const path of ["pools", "static-ip"])
      for (const object of documents(`examples/static-ip/manifests/${path}.yaml`)) {
        const spec = { ...(object as KubeObject & { spec: object }).spec };
        if (object.kind === "NodeIPPool") Object.assign(spec, { authority: "Cluster" });
        await kube.create(object.kind === "NodeIPPool" ? pools : policies, { ...object, spec } as KubeObject);
      }
    await kube.create(nodes, node);
    await kube.patch(nodes, "node01", undefined, { status: ready }, { type: "merge", subresource: "status" });
  }

  async function clear(): Promise<void> {
    for (const { metadata } of await kube.list(pools))
      await kube.patch(pools, metadata.name, undefined, { metadata: { finalizers: null } }, { type: "merge" });
    for (const resource of [policies, enactments, pools, nodes, events])
      for (const object of await kube.list(resource)) await kube.delete(resource, object);
    for (const object of await kube.list(configMaps, { namespace: "nodeippool" }))
      await kube.delete(configMaps, object);
  }

  /** A pool that has addresses of the others of this kind. */
  async function overlapping(name: string): Promise<void> {
    const spec = { range: { cidr: "10.10.12.0/24" } };
    if ((await pool(name)) === undefined)
      await kube.create(pools, { apiVersion: nmstate, kind: "NodeIPPool", metadata: { name }, spec } as KubeObject);
  }

  /** Does an Event say this? */
  async function isSaid(text: string): Promise<boolean> {
    const all = await kube.list<KubeObject & { message: string }>(events, { namespace: "default" });
    return all.some(({ message }) => message.includes(text));
  }

  /** Asks for a reset. Is it done? */
  async function isReset(): Promise<boolean> {
    const name = "node01.static-ip--node01";
    const annotations = { "nmstate.io/reset-ippool": "traffic-2" };
    const there = await kube.get(enactments, name);
    const apiVersion = "nmstate.io/v1beta1";
    const kind = "NodeNetworkConfigurationEnactment";
    if (there === undefined)
      await kube.create(enactments, { apiVersion, kind, metadata: { name, labels: about, annotations } });
    return there !== undefined && there.metadata.annotations?.["nmstate.io/reset-ippool"] === undefined;
  }

  /** What comes of it, one after the other. */
  const steps: readonly (readonly [string, () => Promise<boolean>])[] = [
    ["the node has a policy", async () => (await policy("static-ip--node01")) !== undefined],
    ["the policy is parked", async () => (await policy("static-ip"))?.spec.nodeSelector !== undefined],
    ["the policy has conditions", async () => (await policy("static-ip"))?.status !== undefined],
    [
      "a pool in use has a finalizer",
      async () => (await pool("traffic-2"))?.metadata.finalizers?.includes(finalizer) === true,
    ],
    ["a reset that an enactment asks for is done", isReset],
    ["the pool counts it", async () => (await pool("traffic-2"))?.status?.allocated === 1],
    [
      "a change reaches the node's policy",
      async () => {
        const [nic] = (await policy("static-ip"))?.spec.desiredState.interfaces ?? [];
        if (nic?.mtu === undefined) await kube.patch(policies, "static-ip", undefined, change, { type: "json" });
        return (await policy("static-ip--node01"))?.spec.desiredState.interfaces[0]?.mtu === 9000;
      },
    ],
    [
      "a node that is gone leaves no policy",
      async () => {
        const there = await kube.get(nodes, "node01");
        if (there !== undefined) await kube.delete(nodes, there);
        return (await policy("static-ip--node01")) === undefined;
      },
    ],
    ["an Event tells of its address", () => isSaid("node01 10.10.10.1")],
    [
      "an Event tells of an overlap",
      async () => {
        for (const name of ["a", "b"]) await overlapping(name);
        return isSaid("The NodeIPPool b is overlapping");
      },
    ],
    [
      "and of another one",
      async () => {
        await overlapping("c");
        const b = await pool("b");
        if (b !== undefined) await kube.delete(pools, b);
        return isSaid("The NodeIPPool c is overlapping");
      },
    ],
  ];

  /** Goes through all steps. Says which one is not reached, so many milliseconds after `isRefused`, or nothing. */
  async function halt(debounce: number, isRefused: () => boolean): Promise<string | undefined> {
    for (const [name, isReached] of steps) {
      let end = Date.now() + 20_000;
      while (!(await isReached())) {
        if (isRefused()) end = Math.min(end, Date.now() + debounce);
        if (Date.now() > end) return name;
        await sleep(20);
      }
    }
    return undefined;
  }

  it("serves the proposal's example with the token of its ServiceAccount, and is refused nothing", async () => {
    await prepare();
    await withRefusals(await ownAccess(cluster()), async (refused) => {
      expect(await halt(0, () => refused.size > 0)).toBeUndefined();
      expect([...refused]).toEqual([]);
    });
  });

  describe("needs each of its rights", () => {
    beforeAll(async () => {
      // A streamed list asks for the right to watch alone; servers up to 1.31, and 1.33, have none.
      await cluster().killApiServer();
      await cluster().startApiServer(["--feature-gates=WatchList=false"]);
      await installNmstate(cluster());
      await installNodeIPPool(cluster());
    });
    /** A controller that may do all but this. */
    async function limited(kind: string, resource: string, verb: string): Promise<Access> {
      const name = `without-${verb}-${resource.replace("/", "-")}`;
      // Only who is called so may change the policy of a node.
      const user = `system:serviceaccount:${name}:nodeippool-controller`;
      for (const role of roles) {
        const { namespace } = role.metadata;
        const metadata = { name, ...(namespace !== undefined && { namespace }) };
        const rules = role.kind === kind ? without(role, resource, verb) : role.rules;
        const plural = role.kind === "Role" ? "roles" : "clusterroles";
        await kube.create(rbac(plural), { ...role, metadata, rules } as KubeObject);
        await kube.create(rbac(plural.replace("roles", "rolebindings")), {
          apiVersion: role.apiVersion,
          kind: `${role.kind}Binding`,
          metadata,
          roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: role.kind, name },
          subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: user }],
        } as KubeObject);
      }
      return { ...admin, user: { ...admin.user, impersonate: { user, groups: [] } } };
    }

    const late = [
      ["nodes", ""],
      ["nodenetworkconfigurationenactments", "nmstate.io"],
      ["nodenetworkstates", "nmstate.io"],
    ] as const;
    const early = rights.filter(({ verb, resource }) => verb !== "get" || !late.some(([one]) => one === resource));
    it.each(early)("$verb $resource", async ({ kind, resource, verb }) => {
      const access = await limited(kind, resource, verb);
      await prepare();
      let halted: string | undefined;
      await withRefusals(access, async (refused) => {
        const right = `${verb} ${resource}`;
        halted = await halt(1_000, () => refused.has(right));
        expect([...refused]).toContain(right);
      });
      expect(halted).toBeDefined();
    });

    it.each(late)("get %s: without it nothing is free again", async (resource, group) => {
      const access = await limited("ClusterRole", resource, "get");
      const isFreed = async () => (await pool("traffic-2"))?.status?.free === "8";
      await prepare();
      await withRefusals(access, async (refused) => {
        await halt(1_000, () => refused.has(`get ${resource}`));
        await expect.poll(() => [...refused], { timeout: 60_000 }).toEqual([`get ${resource}`]);
        await sleep(1_000);
        expect(await isFreed()).toBe(false);
        const value = { apiGroups: [group], resources: [resource], verbs: ["get"] };
        const right = { op: "add", path: "/rules/-", value };
        await kube.patch(rbac("clusterroles"), `without-get-${resource}`, undefined, [right], { type: "json" });
        await expect.poll(isFreed, { timeout: 60_000 }).toBe(true);
        const said = async () => (await kube.list<KubeObject & { reason: string }>(events)).map(({ reason }) => reason);
        await expect.poll(said, { timeout: 5_000 }).toContain("Released");
      });
    });
  });

  const kubectl = (args: string, input?: string) => cluster().kubectl(args.split(" "), input);

  it("is as it was applied, and can be applied by the server, too", async () => {
    expect(await kubectl(`diff -k ${join(root, "deploy")}`)).toBe("");
    const dry = await kubectl(`apply --server-side --force-conflicts --dry-run=server -k ${join(root, "deploy")}`);
    expect(dry.trim().split("\n")).toHaveLength(12);
  });

  it("lets nobody but the controller change the policy of a node, and everybody delete it", async () => {
    const child = {
      apiVersion: nmstate,
      kind: "NodeNetworkConfigurationPolicy",
      metadata: { name: "static-ip--node01", labels: { "app.kubernetes.io/managed-by": "nodeippool-controller" } },
      spec: { desiredState: { interfaces: [{ name: "eth1" }] } },
    };
    const other = { ...child, metadata: { name: "other" } };
    await kube.create(policies, child);
    await kube.create(policies, other);
    const refused = async (args: string) => {
      const text = await kubectl(args).then(
        () => "",
        (error) => `${error}`,
      );
      return /denied request: (.*)/.exec(text)?.[1];
    };
    const edit = '--type=merge -p {"spec":{"maxUnavailable":1}}';
    await until(async () => (await refused(`patch nncp static-ip--node01 ${edit} --dry-run=server`)) !== undefined);
    expect(await refused(`patch nncp static-ip--node01 ${edit}`)).toMatch(
      /^the controller of nodeippool keeps this policy/,
    );
    expect(await refused("label nncp static-ip--node01 app.kubernetes.io/managed-by-")).toMatch(/^the label /);
    expect(await refused("label nncp other app.kubernetes.io/managed-by=nodeippool-controller")).toMatch(/^the label /);
    expect(await refused(`patch nncp other ${edit}`)).toBeUndefined();
    expect(await refused("annotate nncp static-ip--node01 seen=yes")).toBeUndefined();
    expect(await refused("delete nncp static-ip--node01")).toBeUndefined();
  });

  it("says at its start that an administrator may not run it where that policy is", async () => {
    const env = { ...readersEnvironment(), KUBECONFIG: cluster().kubeconfig };
    const words = ["controller", "--namespace", "nodeippool", "--listen", "off"];
    const run = promisify(execFile)("nodeippool", words, { env, timeout: 30_000 });
    await expect(run).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringMatching(
        /runs as .*, but ValidatingAdmissionPolicy nodeippool-protection .*kubectl create token/s,
      ),
    });
  });

  it("parks policies that take addresses from pools as they are applied, if asked, and no others", async () => {
    await kubectl(`apply -f ${join(root, "deploy/parking.yaml")}`);
    const [example] = documents("examples/static-ip/manifests/static-ip.yaml") as [KubeObject & { spec: object }];
    const parked = { "nmstate.io/ippool-template": "parked" };
    const nodeSelector = { "example.net/rack": "a/1" };
    const dry = async (spec: object) => {
      const text = await kubectl("create --dry-run=server -o json -f -", JSON.stringify({ ...example, spec }));
      return JSON.parse(text).spec;
    };
    await until(async () => (await dry(example.spec)).nodeSelector !== undefined);
    expect(await dry(example.spec)).toEqual({ ...example.spec, nodeSelector: parked });
    expect((await dry({ ...example.spec, nodeSelector })).nodeSelector).toEqual({ ...nodeSelector, ...parked });
    const capture = { gateway: 'interfaces.name=="eth1"' };
    expect(await dry({ capture, nodeSelector })).toEqual({ capture, nodeSelector });
    expect(await dry({ nodeSelector })).toEqual({ nodeSelector });
  });

  it("gates pods and parks policies, too, where a kustomization gives it another namespace", async () => {
    const folder = mkdtempSync(join(tmpdir(), "nodeippool-namespace-"));
    onTestFinished(async () => {
      await kubectl(`apply -k ${join(root, "deploy")}`);
      await kubectl("delete namespace network --wait=false");
      rmSync(folder, { recursive: true });
    });
    cpSync(join(root, "deploy"), join(folder, "deploy"), { recursive: true });
    const parts = ["vm-addresses", "workload-addresses", "detect"].map((name) => `deploy/${name}`);
    const files = `resources: [deploy, deploy/parking.yaml]\ncomponents: [${parts}]\n`;
    writeFileSync(join(folder, "kustomization.yaml"), `namespace: network\n${files}`);
    await kubectl(`apply -k ${folder}`);
    await kubectl("delete serviceaccount nodeippool-controller -n nodeippool");
    const [example] = documents("examples/static-ip/manifests/static-ip.yaml") as [KubeObject];
    const { schedulingGates: _, ...spec } = singlePod("new").spec;
    const labelled = { ...singlePod("new"), spec };
    const networks = { "k8s.v1.cni.cncf.io/networks": "red" };
    const launcher = {
      ...labelled,
      metadata: { name: "vm", labels: { "kubevirt.io": "virt-launcher" }, annotations: networks },
    };
    const held = async () => {
      const dry = (object: object) => kubectl("create --dry-run=server -o json -f -", JSON.stringify(object));
      const specs = (await Promise.all([labelled, launcher, example].map(dry))).map((text) => JSON.parse(text).spec);
      return specs.map(({ schedulingGates, initContainers, nodeSelector }) => [
        schedulingGates?.[0].name,
        initContainers?.[0].name,
        nodeSelector,
      ]);
    };
    const parked = { "nmstate.io/ippool-template": "parked" };
    const both = [
      [gate, "nodeippool-detect", undefined],
      [gate, undefined, undefined],
      [undefined, undefined, parked],
    ];
    await expect.poll(held, { timeout: 15_000, interval: 200 }).toEqual(both);
    await kubectl("delete clusterrole nodeippool-controller");
    const none = [undefined, undefined, undefined];
    await expect.poll(held, { timeout: 15_000, interval: 200 }).toEqual([none, none, none]);
  });
});

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 100 && !(await holds()); tries++) await sleep(100);
}
