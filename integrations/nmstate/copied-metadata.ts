import { resetAnnotation } from "../../schema/node-ip-pool.ts";
import { managedBy } from "../contract/managed-by.ts";

/**
 * Labels and annotations that a program writes on the object that it manages, by which it finds the object again, or
 * compares it with what it applied. On a copy they name the wrong manager, which may delete or overwrite it.
 *
 * Not here is what users write for these programs (sync waves and options of Argo CD, `kustomize.toolkit.fluxcd.io/prune`),
 * nor `app.kubernetes.io/instance`: it is one of the labels that Kubernetes recommends, and an Argo CD that tracks its
 * objects by it sets it anew on all that it applies.
 */
const ofManagers: readonly RegExp[] = [
  // kubernetes-nmstate
  /^nmstate\.io\/webhook-mutating-timestamp$/,
  // kubectl, kustomize and kpt
  /^kubectl\.kubernetes\.io\//,
  /^applyset\.kubernetes\.io\//,
  /^(internal\.)?config\.kubernetes\.io\//,
  /^config\.k8s\.io\/owning-inventory$/,
  // Argo CD
  /^argocd\.argoproj\.io\/(tracking-id|installation-id)$/,
  // Flux
  /^kustomize\.toolkit\.fluxcd\.io\/(name|namespace|checksum)$/,
  /^helm\.toolkit\.fluxcd\.io\/(name|namespace)$/,
  // Helm
  /^meta\.helm\.sh\//,
  // Rancher and Fleet
  /^objectset\.rio\.cattle\.io\//,
  /^field\.cattle\.io\//,
  // kapp
  /^kapp\.k14s\.io\/(app|association|identity|original|original-diff-md5)$/,
];

/** The values of the label managed-by that a program sets itself; with any other one the user describes the object. */
const managers = ["Helm", ...Object.values(managedBy)];

/** Returns the labels or annotations that a copy of a user's object takes: without those of managers, and without requests to reset. */
export function copiedMetadata(bag: Readonly<Record<string, string>> = {}): Record<string, string> {
  const isCopied = ([name, value]: readonly [string, string]) =>
    name !== resetAnnotation &&
    !(name in managedBy && managers.includes(value)) &&
    !ofManagers.some((pattern) => pattern.test(name));
  return Object.fromEntries(Object.entries(bag).filter(isCopied));
}
