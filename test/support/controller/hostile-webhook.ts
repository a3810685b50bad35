import { once } from "node:events";
import { readFileSync } from "node:fs";
import https from "node:https";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { asBag, type Bag } from "../../../schema/objects.ts";
import type { Cluster } from "../cluster/cluster.ts";

/** What the webhook makes of an object, in place of what was written. */
export type Mutate = (object: Bag) => Bag;

/** Registers a mutating admission webhook for all objects of some resources; returns what takes it away. */
export async function startWebhook(
  cluster: Cluster,
  rules: readonly { readonly group: string; readonly resources: readonly string[] }[],
  mutate: Mutate,
): Promise<() => Promise<void>> {
  const { authority, server: pair } = cluster.certificates;
  const read = (path: string) => readFileSync(path, "utf8");
  const server = https.createServer(
    { cert: read(pair.certificate), key: read(pair.key) },
    async (request, response) => {
      const { request: asked } = (await json(request)) as { request: { uid: string; object: Bag } };
      const patch = patchOf(asked.object, mutate(asked.object));
      const answer = { uid: asked.uid, allowed: true, patchType: "JSONPatch", patch: btoa(JSON.stringify(patch)) };
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response: answer }));
    },
  );
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const webhook = {
    name: "hostile.example.org",
    clientConfig: { url: `https://127.0.0.1:${port}/`, caBundle: btoa(read(authority.certificate)) },
    rules: rules.map(({ group, resources }) => ({
      apiGroups: [group],
      apiVersions: ["*"],
      operations: ["CREATE", "UPDATE"],
      resources,
    })),
    admissionReviewVersions: ["v1"],
    sideEffects: "None",
    failurePolicy: "Ignore",
    timeoutSeconds: 2,
  };
  const kind = { apiVersion: "admissionregistration.k8s.io/v1", kind: "MutatingWebhookConfiguration" };
  await cluster.kubectl(
    ["apply", "-f", "-"],
    JSON.stringify({ ...kind, metadata: { name: "hostile" }, webhooks: [webhook] }),
  );
  return async () => {
    await cluster.kubectl(["delete", "mutatingwebhookconfiguration", "hostile", "--ignore-not-found"]);
    server.closeAllConnections();
    server.close();
  };
}

/** Each of these parts that is another one. */
function patchOf(before: Bag, after: Bag): object[] {
  const paths = [
    ["metadata", "labels"],
    ["metadata", "annotations"],
    ["metadata", "finalizers"],
    ["metadata", "ownerReferences"],
    ["spec"],
    ["status"],
    ["data"],
  ];
  const at = (object: Bag, path: readonly string[]) => path.reduce<unknown>((one, name) => asBag(one)?.[name], object);
  return paths.flatMap((path) => {
    const value = at(after, path);
    if (JSON.stringify(at(before, path)) === JSON.stringify(value)) return [];
    return [
      { op: value === undefined ? "remove" : "add", path: `/${path.join("/")}`, ...(value !== undefined && { value }) },
    ];
  });
}
