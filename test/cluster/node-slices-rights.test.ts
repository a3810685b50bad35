import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import type { LogEvent } from "../../controller/ground.ts";
import { type Access, findAccess, type KubeObject, type Objects, objectsOf, type Resource } from "../../kube/index.ts";
import { resetAnnotation } from "../../schema/node-ip-pool.ts";
import { asBag, asList, type Bag } from "../../schema/objects.ts";
import { installNodeIPPool, installWhereabouts } from "../support/cluster-kinds.ts";
import { clusterOfFile } from "../support/cluster-of-file.ts";
import { root } from "../support/console.ts";
import { withController } from "../support/controller-run.ts";
import { hurried } from "../support/controller-timing.ts";
import { attachment } from "../support/whereabouts-objects.ts";

type Any = KubeObject & Bag;

interface Rights extends KubeObject {
  readonly kind: string;
  readonly apiVersion: string;
  readonly rules: readonly { readonly resources: readonly string[]; readonly verbs: readonly string[] }[];
}

const nodes: Resource = { apiVersion: "v1", plural: "nodes" };
const definitions: Resource = { apiVersion: "k8s.cni.cncf.io/v1", plural: "network-attachment-definitions" };
const pools: Resource = { apiVersion: "whereabouts.cni.cncf.io/v1alpha1", plural: "nodeslicepools" };
const rbac = (plural: string): Resource => ({ apiVersion: "rbac.authorization.k8s.io/v1", plural });
const namespace = "kube-system";

describe("node slices need each of the rights of deploy/node-slices", () => {
  const cluster = clusterOfFile(async (started) => {
    // A streamed list asks for the right to watch alone; servers up to 1.31, and 1.33, have none.
    await started.killApiServer();
    await started.startApiServer(["--feature-gates=WatchList=false"]);
    await installNodeIPPool(started);
    await installWhereabouts(started);
    await started.kubectl(["create", "namespace", "nodeippool"]);
    await started.kubectl(["apply", "-f", join(root, "deploy/rbac.yaml")]);
  });
  let kube: Objects;
  beforeAll(() => {
    kube = objectsOf(findAccess({ kubeconfig: cluster().kubeconfig }));
    return () => kube.close();
  });

  const roles = parseAllDocuments(readFileSync(join(root, "deploy/node-slices/rbac.yaml"), "utf8"))
    .map((document): Rights => document.toJS())
    .filter(({ rules }) => rules !== undefined);
  const rights = roles.flatMap(({ rules }) =>
    rules.flatMap(({ resources, verbs }) => verbs.map((verb) => `${verb} ${resources[0]}`)),
  );

  /** A controller that may do all but this. */
  async function without(right: string): Promise<Access> {
    const name = `without-${right.replace(" ", "-")}`;
    const bind = async (kind: string, of: string, place?: string) =>
      kube.create(rbac(place === undefined ? "clusterrolebindings" : "rolebindings"), {
        apiVersion: "rbac.authorization.k8s.io/v1",
        kind: place === undefined ? "ClusterRoleBinding" : "RoleBinding",
        metadata: { name: `${name}-${of}`, ...(place && { namespace: place }) },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind, name: of },
        subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name }],
      } as KubeObject);
    for (const role of roles) {
      const rules = role.rules.map(({ verbs, ...rule }) => ({
        ...rule,
        verbs: verbs.filter((verb) => `${verb} ${rule.resources[0]}` !== right),
      }));
      const place = role.kind === "Role" ? namespace : undefined;
      const metadata = { name, ...(place && { namespace: place }) };
      await kube.create(rbac(place ? "roles" : "clusterroles"), { ...role, metadata, rules } as KubeObject);
      await bind(role.kind, name, place);
    }
    await bind("Role", "nodeippool-controller", "nodeippool");
    await bind("ClusterRole", "nodeippool-controller");
    const admin = findAccess({ kubeconfig: cluster().kubeconfig });
    return { ...admin, user: { ...admin.user, impersonate: { user: name, groups: [] } } };
  }

  async function joins(name: string): Promise<void> {
    await kube.create(nodes, { apiVersion: "v1", kind: "Node", metadata: { name } });
    const status = { conditions: [{ type: "Ready", status: "True", reason: "Test", message: "" }] };
    await kube.patch(nodes, name, undefined, { status }, { type: "merge", subresource: "status" });
  }

  const listed = async () => {
    const pool = await kube.get<Any>(pools, "net", namespace);
    return pool && asList(asBag(pool.status)?.allocations).map((one) => asBag(one)?.nodeName);
  };

  it.each(rights)("%s", async (right) => {
    const refused = new Set<string>();
    const log = ({ error }: LogEvent) => {
      const [, verb, resource] = /cannot (\w+) resource \\?"([^"\\]+)/.exec(`${error}`) ?? [];
      if (verb !== undefined) refused.add(`${verb} ${resource}`);
    };
    const reached = async (nodesListed: readonly string[] | undefined) => {
      const isReached = async () => JSON.stringify(await listed()) === JSON.stringify(nodesListed);
      for (let i = 0; i < 300 && !refused.has(right) && !(await isReached()); i++) await sleep(100);
    };
    const work = async () => {
      await joins("n1");
      await kube.create(definitions, attachment("net", { range: "10.1.0.0/22", node_slice_size: "/24" }) as Any);
      await reached(["n1"]);
      await joins("n2");
      await reached(["n1", "n2"]);
      await cluster().kubectl(["annotate", "network-attachment-definition", "net", `${resetAnnotation}=`]);
      await cluster().kubectl(["delete", "node", "n1"]);
      await reached(["n2"]);
      await cluster().kubectl(["delete", "network-attachment-definition", "net"]);
      await reached(undefined);
      expect([...refused]).toContain(right);
    };
    const options = { log, timing: hurried, nodeSlices: namespace };
    try {
      await withController(await without(right), work, options);
    } finally {
      for (const kind of ["nodes", "network-attachment-definitions"])
        await cluster().kubectl(["delete", kind, "--all", "--ignore-not-found"]);
      await cluster().kubectl(["delete", "nodeslicepools", "--all", "-n", namespace]);
      await cluster().kubectl(["delete", "configmaps", "--all", "-n", "nodeippool"]);
    }
  });
});
