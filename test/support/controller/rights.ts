import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { parseAllDocuments } from "yaml";
import type { LogEvent } from "../../../controller/dependencies.ts";
import { type Access, findAccess, type KubeObject, objectsOf, type Resource } from "../../../kube/index.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { installNodeIPPool } from "../cluster/kinds.ts";
import { root } from "../console.ts";
import { withController } from "./run.ts";
import { hurried } from "./timing.ts";

interface Role extends KubeObject {
  readonly kind: string;
  readonly rules?: readonly { readonly resources: readonly string[]; readonly verbs: readonly string[] }[];
}

/** What it is to serve, and how. */
type ControllerOptions = NonNullable<Parameters<typeof withController>[2]>;

type Kinds = (cluster: Cluster) => Promise<void>;

/** What the controller finds in a cluster: our kind and these, its namespace, and the rights of deploy/ and of one folder in it. */
export async function prepareController(cluster: Cluster, kinds: readonly Kinds[], folder: string): Promise<void> {
  const installed = Promise.all([installNodeIPPool, ...kinds].map((install) => install(cluster)));
  await cluster.kubectl(["create", "namespace", "nodeippool"]);
  const paths = ["rbac.yaml", `${folder}/rbac.yaml`].map((path) => join(root, "deploy", path));
  await cluster.kubectl(["apply", ...paths.flatMap((path) => ["-f", path])]);
  await installed;
}

/** The controller's own account, which has these rights and no others. */
export async function ownAccess(cluster: Cluster): Promise<Access> {
  const token = await cluster.kubectl(["create", "token", "nodeippool-controller", "-n", "nodeippool"]);
  return { ...findAccess({ kubeconfig: cluster.kubeconfig }), user: { token: token.trim() } };
}

/** Runs a controller as somebody around what is to be tried; that may ask what was refused so far, as `VERB RESOURCE`. */
export async function withRefusals(
  access: Access,
  work: (refused: ReadonlySet<string>) => Promise<void>,
  options: ControllerOptions = {},
): Promise<void> {
  const refused = new Set<string>();
  const log = ({ error }: LogEvent) => {
    const [, verb, resource] = /cannot (\w+) resource \\?"([^"\\]+)/.exec(`${error}`) ?? [];
    if (verb !== undefined) refused.add(`${verb} ${resource}`);
  };
  await withController(access, () => work(refused), { timing: hurried, ...options, log });
}

/** The same; it fails if anything is refused. */
export function servedAs(access: Access, work: () => Promise<void>, options: ControllerOptions): Promise<void> {
  const unrefused = async (refused: ReadonlySet<string>) => {
    await work();
    expect([...refused]).toEqual([]);
  };
  return withRefusals(access, unrefused, options);
}

function rolesIn(folder: string): Role[] {
  const text = readFileSync(join(root, "deploy", folder, "rbac.yaml"), "utf8");
  return parseAllDocuments(text).map((document): Role => document.toJS());
}

/** Each right that a folder of deploy/ gives, as `VERB RESOURCE`. */
export function rightsIn(folder: string): string[] {
  const rules = rolesIn(folder).flatMap((role) => role.rules ?? []);
  return rules.flatMap(({ resources, verbs }) =>
    resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}`)),
  );
}

/** Somebody who has all the rights of the controller, but one of a folder. */
export async function accessWithout(right: string, folder: string, cluster: Cluster): Promise<Access> {
  const admin = findAccess({ kubeconfig: cluster.kubeconfig });
  const kube = objectsOf(admin);
  const name = `${folder}-without-${right.replace(/[ /]/g, "-")}`;
  const bind = (kind: string, of: string, namespace?: string) =>
    kube.create(rbac(namespace === undefined ? "clusterrolebindings" : "rolebindings"), {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: namespace === undefined ? "ClusterRoleBinding" : "RoleBinding",
      metadata: { name: `${name}-${of}`, ...(namespace && { namespace }) },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind, name: of },
      subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name }],
    } as KubeObject);
  for (const role of rolesIn(folder)) {
    if (role.rules === undefined) continue;
    const rules = role.rules.flatMap(({ resources, verbs, ...rule }) =>
      resources.flatMap((resource) => {
        const left = verbs.filter((verb) => `${verb} ${resource}` !== right);
        return left.length === 0 ? [] : [{ ...rule, resources: [resource], verbs: left }];
      }),
    );
    const { namespace } = role.metadata;
    const metadata = { name, ...(namespace && { namespace }) };
    await kube.create(rbac(namespace === undefined ? "clusterroles" : "roles"), { ...role, metadata, rules } as Role);
    await bind(role.kind, name, namespace);
  }
  await bind("Role", "nodeippool-controller", "nodeippool");
  await bind("ClusterRole", "nodeippool-controller");
  kube.close();
  return { ...admin, user: { ...admin.user, impersonate: { user: name, groups: [] } } };
}

const rbac = (plural: string): Resource => ({ apiVersion: "rbac.authorization.k8s.io/v1", plural });
