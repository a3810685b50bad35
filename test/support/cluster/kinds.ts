import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parse } from "yaml";
import { findAccess, type KubeObject, type Objects, objectsOf } from "../../../kube/index.ts";
import { root } from "../console.ts";
import { generatedCrds } from "../tools/generated-crds.ts";
import { goModule } from "../tools/go-module.ts";
import type { Cluster } from "./cluster.ts";

const crds = { apiVersion: "apiextensions.k8s.io/v1", plural: "customresourcedefinitions" };
const admission = (plural: string) => ({ apiVersion: "admissionregistration.k8s.io/v1", plural });
const manager = "tests";

interface Crd extends KubeObject {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly plural: string };
    readonly versions: readonly { readonly name: string }[];
  };
}

/** Our NodeIPPool kind. */
export async function installNodeIPPool(cluster: Cluster): Promise<void> {
  await installCrds(cluster, join(root, "deploy/crd"));
}

/** The kinds of kubernetes-nmstate as it ships them. */
export async function installNmstate(cluster: Cluster): Promise<void> {
  await installCrds(cluster, join(await goModule("github.com/nmstate/kubernetes-nmstate"), "deploy/crds"));
}

/** Of Cluster API what its contract with IPAM providers is about, as it ships it. */
export async function installClusterApi(cluster: Cluster): Promise<void> {
  const folder = join(await goModule("sigs.k8s.io/cluster-api"), "core/config/crd/bases");
  const kinds = [
    "ipam.cluster.x-k8s.io_ipaddressclaims",
    "ipam.cluster.x-k8s.io_ipaddresses",
    "cluster.x-k8s.io_clusters",
  ];
  await installCrds(
    cluster,
    folder,
    kinds.map((kind) => `${kind}.yaml`),
  );
}

/** The pools of Cluster API's own provider of addresses. */
export async function installInClusterProvider(cluster: Cluster): Promise<void> {
  const provider = await goModule("sigs.k8s.io/cluster-api-ipam-provider-in-cluster");
  await installCrds(cluster, join(provider, "config/crd/bases"));
}

/** What machines of bare-metal hosts are, of Cluster API and of Metal3. */
export async function installMachines(cluster: Cluster): Promise<void> {
  const clusterApi = await goModule("sigs.k8s.io/cluster-api");
  await installCrds(cluster, join(clusterApi, "core/config/crd/bases"), ["cluster.x-k8s.io_machines.yaml"]);
  const bootstrap = "bootstrap.cluster.x-k8s.io_kubeadmconfigs.yaml";
  await installCrds(cluster, join(clusterApi, "bootstrap/kubeadm/config/crd/bases"), [bootstrap]);
  await installCrds(cluster, await generatedCrds("metal3"));
}

/** The kinds of whereabouts, and the networks that pods are attached to. */
export async function installWhereabouts(cluster: Cluster): Promise<void> {
  const kinds = ["ippools", "nodeslicepools", "overlappingrangeipreservations"];
  const own = join(await goModule("github.com/k8snetworkplumbingwg/whereabouts"), "doc/crds");
  await installCrds(
    cluster,
    own,
    kinds.map((kind) => `whereabouts.cni.cncf.io_${kind}.yaml`),
  );
  const client = await goModule("github.com/k8snetworkplumbingwg/network-attachment-definition-client");
  await installCrds(cluster, join(client, "artifacts"), ["networks-crd.yaml"]);
}

/** Persistent addresses: claims for them, and the networks that pods are attached to. */
export async function installIpamClaims(cluster: Cluster): Promise<void> {
  const claims = await goModule("github.com/k8snetworkplumbingwg/ipamclaims");
  await installCrds(cluster, join(claims, "artifacts"), ["k8s.cni.cncf.io_ipamclaims.yaml"]);
  const client = await goModule("github.com/k8snetworkplumbingwg/network-attachment-definition-client");
  await installCrds(cluster, join(client, "artifacts"), ["networks-crd.yaml"]);
}

/** VMs of KubeVirt, and their instances. */
export async function installKubevirt(cluster: Cluster): Promise<void> {
  const kinds = ["virtualmachines", "virtualmachineinstances"];
  await installCrds(
    cluster,
    await generatedCrds("kubevirt"),
    kinds.map((kind) => `kubevirt.io_${kind}.yaml`),
  );
}

/** All kinds that virt-controller watches; virt-operator gives those of VMs and migrations their subresources, the types do not say them. */
export async function installAllOfKubevirt(cluster: Cluster): Promise<void> {
  const folder = await generatedCrds("kubevirt");
  const isKind = (name: string) => !/datavolumetemplatespecs|virtualmachineinstancepresets/.test(name);
  await installCrds(cluster, folder, readdirSync(folder).filter(isKind));
  const withStatus = (plural: string) => plural !== "virtualmachineinstances";
  const kube = administrator(cluster);
  for (const crd of await kube.list<Crd>(crds)) {
    const { group, names, versions } = crd.spec;
    if (!group.endsWith("kubevirt.io") || !withStatus(names.plural)) continue;
    const spec = { versions: versions.map((one) => ({ ...one, subresources: { status: {} } })) };
    await kube.patch(crds, crd.metadata.name, undefined, { spec }, { type: "merge" });
  }
}

/** Our kind and theirs, with what they admit. */
export async function installAll(cluster: Cluster): Promise<void> {
  await Promise.all([installNodeIPPool, installNmstate, installNmstateAdmission].map((install) => install(cluster)));
}

/** Returns once the server answers for each of the kinds. */
async function installCrds(cluster: Cluster, folder: string, names = readdirSync(folder)): Promise<void> {
  const kube = administrator(cluster);
  const all = names.map((name): Crd => parse(readFileSync(join(folder, name), "utf8")));
  await Promise.all(all.map((crd) => kube.apply(crds, crd, { manager, force: true })));
  for (const { spec } of all) {
    const resource = { apiVersion: `${spec.group}/${spec.versions[0]?.name}`, plural: spec.names.plural };
    await until(() => kube.list(resource).then(() => true));
  }
}

/** The ValidatingAdmissionPolicy for NNCPs that kubernetes-nmstate ships in its operator's manifest; returns once it is in force. */
export async function installNmstateAdmission(cluster: Cluster): Promise<void> {
  const kube = administrator(cluster);
  const manifest = join(await goModule("github.com/nmstate/kubernetes-nmstate"), "deploy/handler/operator.yaml");
  for (const text of readFileSync(manifest, "utf8").split(/^---$/m)) {
    const kind = /^kind: (ValidatingAdmissionPolicy(Binding)?)$/m.exec(text);
    if (kind === null) continue;
    const policy: KubeObject = parse(text.replaceAll('{{template "handlerPrefix" .}}', ""));
    const plural = kind[2] ? "validatingadmissionpolicybindings" : "validatingadmissionpolicies";
    await kube.apply(admission(plural), policy, { manager, force: true });
  }
  const nncps = { apiVersion: "nmstate.io/v1", plural: "nodenetworkconfigurationpolicies" };
  const metadata = { name: "n".repeat(64) };
  const refused = { apiVersion: nncps.apiVersion, kind: "NodeNetworkConfigurationPolicy", metadata, spec: {} };
  await until(async () => {
    const made = await kube.create(nncps, refused).catch((error) => String(error));
    if (typeof made === "string") return made.includes("invalid policy name");
    return !(await kube.delete(nncps, made));
  });
}

function administrator({ kubeconfig }: Cluster): Objects {
  return objectsOf(findAccess({ kubeconfig }));
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (let tries = 1; !(await holds().catch((error) => tries > 200 && Promise.reject(error))); tries++) {
    if (tries > 200) throw new Error("not within 10 seconds");
    await sleep(50);
  }
}
