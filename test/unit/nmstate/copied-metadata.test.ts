import { describe, expect, it } from "vitest";
import { copiedMetadata } from "../../../integrations/nmstate/copied-metadata.ts";

describe("of the labels and annotations of a policy, what is rendered of it", () => {
  it.each([
    ["tier", "web"],
    ["app.kubernetes.io/name", "net"],
    ["app.kubernetes.io/part-of", "net"],
    ["app.kubernetes.io/instance", "prod"],
    ["app.kubernetes.io/managed-by", "team-network"],
    ["argocd.argoproj.io/sync-wave", "3"],
    ["argocd.argoproj.io/sync-options", "Prune=false"],
    ["kustomize.toolkit.fluxcd.io/prune", "disabled"],
    ["helm.sh/hook", "post-install"],
    ["pulumi.com/waitFor", "condition=Available"],
  ])("has %s: %s, which a user wrote", (name, value) => {
    expect(copiedMetadata({ [name]: value })).toEqual({ [name]: value });
  });

  it.each([
    ["nmstate.io/webhook-mutating-timestamp", "1790000000"],
    ["nmstate.io/reset-ippool", ""],
    ["kubectl.kubernetes.io/last-applied-configuration", "{}"],
    ["applyset.kubernetes.io/part-of", "applyset-x-v1"],
    ["applyset.kubernetes.io/id", "applyset-x-v1"],
    ["config.kubernetes.io/index", "0"],
    ["internal.config.kubernetes.io/path", "a.yaml"],
    ["config.k8s.io/owning-inventory", "x"],
    ["argocd.argoproj.io/tracking-id", "net:nmstate.io/NodeNetworkConfigurationPolicy:/a"],
    ["argocd.argoproj.io/installation-id", "x"],
    ["kustomize.toolkit.fluxcd.io/name", "net"],
    ["kustomize.toolkit.fluxcd.io/namespace", "flux-system"],
    ["helm.toolkit.fluxcd.io/name", "net"],
    ["meta.helm.sh/release-name", "net"],
    ["meta.helm.sh/release-namespace", "default"],
    ["app.kubernetes.io/managed-by", "Helm"],
    ["app.kubernetes.io/managed-by", "nodeippool-controller"],
    ["objectset.rio.cattle.io/hash", "0123"],
    ["field.cattle.io/projectId", "c:p"],
    ["kapp.k14s.io/app", "1"],
  ])("has no %s: %s, which a program wrote", (name, value) => {
    expect(copiedMetadata({ [name]: value, tier: "web" })).toEqual({ tier: "web" });
  });
});
