import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Cluster } from "./cluster.ts";
import { root } from "./console.ts";
import { goModule } from "./go-module.ts";

/** Our NodeIPPool kind. */
export async function installNodeIPPool(cluster: Cluster): Promise<void> {
  await install(cluster, join(root, "deploy/crd/nodeippools.nmstate.io.yaml"), ["v1/nodeippools"]);
}

/** The kinds of kubernetes-nmstate as it ships them. */
export async function installNmstate(cluster: Cluster): Promise<void> {
  const crds = join(await goModule("github.com/nmstate/kubernetes-nmstate"), "deploy/crds");
  await install(cluster, crds, [
    "v1/nodenetworkconfigurationpolicies",
    "v1beta1/nodenetworkconfigurationenactments",
    "v1beta1/nodenetworkstates",
  ]);
}

/** Returns once the server answers for each of the kinds. */
async function install({ kubectl }: Cluster, path: string, kinds: readonly string[]): Promise<void> {
  await kubectl(["apply", "--server-side", "-f", path]);
  for (const kind of kinds)
    await until(async () => (await kubectl(["get", "--raw", `/apis/nmstate.io/${kind}`])).includes("List"));
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (let tries = 1; !(await holds().catch((error) => tries > 100 && Promise.reject(error))); tries++) {
    if (tries > 100) throw new Error("not within 10 seconds");
    await sleep(100);
  }
}

/** The ValidatingAdmissionPolicy for NNCPs that kubernetes-nmstate ships in its operator's manifest; returns once it is in force. */
export async function installNmstateAdmission({ kubectl }: Cluster): Promise<void> {
  const manifest = join(await goModule("github.com/nmstate/kubernetes-nmstate"), "deploy/handler/operator.yaml");
  const documents = readFileSync(manifest, "utf8").split(/^---$/m);
  const policies = documents.filter((text) => /^kind: ValidatingAdmissionPolicy/m.test(text));
  await kubectl(["apply", "-f", "-"], policies.join("---").replaceAll('{{template "handlerPrefix" .}}', ""));

  const metadata = { name: "n".repeat(64) };
  const refused = { apiVersion: "nmstate.io/v1", kind: "NodeNetworkConfigurationPolicy", metadata, spec: {} };
  const create = () => kubectl(["create", "--dry-run=server", "-f", "-"], JSON.stringify(refused));
  await until(() =>
    create().then(
      () => false,
      (error) => error.message.includes("invalid policy name"),
    ),
  );
}
