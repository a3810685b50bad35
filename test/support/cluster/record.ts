import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { findAccess, type Objects, type ObjectsOptions, objectsOf } from "../../../kube/index.ts";
import type { StateBackend } from "../../../state/backend.ts";
import { kubernetes } from "../../../state/kubernetes/backend.ts";
import type { Cluster } from "./cluster.ts";

let count = 0;

/** A namespace of its own in a cluster, for a record. */
export class RecordNamespace {
  readonly cluster: Cluster;
  readonly name = `record-${++count}`;

  constructor(cluster: Cluster) {
    this.cluster = cluster;
  }

  static async make(cluster: Cluster): Promise<RecordNamespace> {
    const made = new RecordNamespace(cluster);
    await cluster.kubectl(["create", "namespace", made.name]);
    return made;
  }

  kubectl(args: string, input?: string): Promise<string> {
    return this.cluster.kubectl(["-n", this.name, ...args.split(" ")], input);
  }

  /** A backend with a connection of its own, as the administrator unless another kubeconfig is given. */
  open(kubeconfig = this.cluster.kubeconfig, options: ObjectsOptions = {}): StateBackend {
    return kubernetes(this.objects(kubeconfig, options), this.name);
  }

  objects(kubeconfig = this.cluster.kubeconfig, options: ObjectsOptions = {}): Objects {
    return objectsOf(findAccess({ kubeconfig }), options);
  }

  /** Names and versions of all ConfigMaps. */
  async stamp(): Promise<string> {
    const maps = await this.objects().list({ apiVersion: "v1", plural: "configmaps" }, { namespace: this.name });
    return maps.map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`).join();
  }
}

/** The path of a kubeconfig of another user, or that leads elsewhere. */
export function kubeconfigOf({ server, certificates, folder }: Cluster, token: string, url = server): string {
  const cluster = { server: url, "certificate-authority": certificates.authority.certificate };
  const path = join(folder, `kubeconfig-other-${++count}`);
  const one = (kind: string, value: unknown) => [{ name: "one", [kind]: value }];
  const contexts = one("context", { cluster: "one", user: "one" });
  const config = {
    clusters: one("cluster", cluster),
    users: one("user", { token }),
    contexts,
    "current-context": "one",
  };
  writeFileSync(path, JSON.stringify(config));
  return path;
}
