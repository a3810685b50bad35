import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import type { Cluster } from "../cluster/cluster.ts";
import { goModule } from "../tools/go-module.ts";

const namespace = "nmstate";

interface WebhookConfiguration {
  readonly webhooks: readonly { readonly clientConfig: { readonly service: { readonly path: string } } }[];
}

/** What an installation of kubernetes-nmstate has in the API server for its handlers: namespace, account and rights. */
export async function installNmstateRights(cluster: Cluster): Promise<void> {
  const files = await Promise.all(["service_account", "role", "role_binding"].map((name) => manifest(`${name}.yaml`)));
  const home = { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } };
  await cluster.kubectl(["apply", "-f", "-"], [JSON.stringify(home), ...files].join("\n---\n"));
}

/** The mutating webhooks of its manifest, with a server on this port of loopback in place of a Service; `ca` is a PEM file. */
export async function installNmstateWebhook(cluster: Cluster, port: number, ca: string): Promise<void> {
  const texts = (await manifest("operator.yaml")).split(/^---$/m);
  const text = texts.find((one) => /^kind: MutatingWebhookConfiguration$/m.test(one));
  const configuration: WebhookConfiguration = parse(text ?? "");
  const caBundle = readFileSync(ca, "base64");
  const webhooks = configuration.webhooks.map(({ clientConfig: { service }, ...webhook }) => ({
    ...webhook,
    clientConfig: { url: `https://127.0.0.1:${port}${service.path}`, caBundle },
  }));
  await cluster.kubectl(["apply", "-f", "-"], JSON.stringify({ ...configuration, webhooks }));
}

/** A file of its operator's templates, as the operator fills it in where there is no OpenShift. */
async function manifest(name: string): Promise<string> {
  const folder = join(await goModule("github.com/nmstate/kubernetes-nmstate"), "deploy/handler");
  return readFileSync(join(folder, name), "utf8")
    .replace(/^\{\{define .*\n/, "")
    .replace(/^\{\{-? if \.IsOpenShift \}\}\n.*?^\{\{-? end \}\}\n/gms, "")
    .replaceAll('{{template "handlerPrefix" .}}', "")
    .replaceAll("{{ .HandlerNamespace }}", namespace);
}

/** The Pod of a node's handler, as its DaemonSet would make it: handlers count nodes by these. */
export function handlerPod(node: string) {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: `nmstate-handler-${node}`,
      namespace,
      labels: { app: "kubernetes-nmstate", component: "kubernetes-nmstate-handler", name: "nmstate-handler" },
    },
    spec: {
      nodeName: node,
      hostNetwork: true,
      serviceAccountName: "nmstate-handler",
      containers: [{ name: "nmstate-handler", image: "nmstate-handler" }],
      tolerations: [{ operator: "Exists" }],
    },
  };
}

/** A kubeconfig of the handlers' account. The server's certificate is for loopback, so its name is said. */
export async function handlerKubeconfig(cluster: Cluster, server: string): Promise<string> {
  const token = await cluster.kubectl(["create", "token", "nmstate-handler", "-n", namespace, "--duration", "24h"]);
  const ca = readFileSync(cluster.certificates.authority.certificate, "base64");
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "lab", cluster: { server, "tls-server-name": "localhost", "certificate-authority-data": ca } }],
    users: [{ name: "handler", user: { token: token.trim() } }],
    contexts: [{ name: "lab", context: { cluster: "lab", user: "handler" } }],
    "current-context": "lab",
  });
}
