import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { App, Chart, Testing } from "cdk8s";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { NodeIPPoolController } from "../../constructs/index.ts";
import { root } from "../support/console.ts";
import { BUILD_TIMEOUT, orSkip, tool } from "../support/tools/tools.ts";

// biome-ignore lint/suspicious/noExplicitAny: what Helm makes
type Any = any;

interface Made {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; annotations?: Record<string, string> };
}

describe("kustomize, the Helm chart and the cdk8s construct", () => {
  let tools: Promise<[string, string]>;
  let kubectl: string;
  let helm: string;
  beforeAll(async () => {
    tools = Promise.all([tool("kubectl"), tool("helm")]);
    await tools.catch(() => {}); // beforeEach tells of it
  }, BUILD_TIMEOUT);
  beforeEach(async (context) => {
    [kubectl, helm] = await orSkip(context, tools);
  });

  const run = (command: string, ...args: string[]) => execFileSync(command, args, { cwd: root, encoding: "utf8" });
  const objectsIn = (text: string) =>
    parseAllDocuments(text)
      .map((document): Made => document.toJS())
      .filter((object) => object !== null)
      .toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  const keyOf = ({ kind, metadata }: Made) => `${kind}/${metadata.name}`;
  const chart = (namespace: string, ...values: string[]) => {
    const sets = values.flatMap((value) => ["--set", value]);
    return objectsIn(
      run(helm, "template", "any", "deploy/chart", "-n", namespace, "--kube-version", "1.36.0", ...sets),
    );
  };
  const construct = (props: ConstructorParameters<typeof NodeIPPoolController>[2] = {}) => {
    const app = new App();
    const made = new Chart(app, "network", { disableResourceNameHashes: true });
    new NodeIPPoolController(made, "controller", props);
    return (Testing.synth(made) as Made[]).toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  };
  const withoutNamespace = (objects: readonly Made[]) => objects.filter(({ kind }) => kind !== "Namespace");
  /** Helm leaves the kind when it is uninstalled; its annotation says so. */
  const withoutPolicy = (objects: readonly Made[]) =>
    objects.map(({ metadata: { annotations, ...metadata }, ...rest }) => {
      const { "helm.sh/resource-policy": _, ...other } = annotations ?? {};
      return { ...rest, metadata: { ...metadata, ...(Object.keys(other).length > 0 && { annotations: other }) } };
    });

  /** A kustomization of deploy/ with a component of it. */
  function withComponent(name: string): string {
    const folder = mkdtempSync(join(tmpdir(), "kustomization-"));
    cpSync(join(root, "deploy"), join(folder, "deploy"), { recursive: true });
    const kustomization = `resources: [deploy]\ncomponents: [deploy/${name}]\n`;
    writeFileSync(join(folder, "kustomization.yaml"), kustomization);
    return folder;
  }

  it("make the same objects", () => {
    const kustomize = objectsIn(run(kubectl, "kustomize", "deploy"));
    expect(kustomize).toHaveLength(12);
    expect(construct()).toEqual(kustomize);
    expect(withoutPolicy(chart("nodeippool"))).toEqual(withoutNamespace(kustomize));
  });

  it.each([
    ["fleet", { fleet: true }, 4],
    ["cluster-api", { clusterApi: true }, 2],
    ["metal3", { metal3: "metal3" }, 2],
    ["node-slices", { nodeSlices: "kube-system" }, 4],
    ["ipam-claims", { ipamClaims: true }, 2],
    ["vm-claims", { vmClaims: true }, 2],
    ["vm-addresses", { vmAddresses: true }, 4],
    ["workload-addresses", { workloadAddresses: true }, 4],
    ["detect", { detect: "nodeippool-detect:0.1.0" }, 2],
  ])("make the same objects with %s", (name, props, more) => {
    const kustomize = objectsIn(run(kubectl, "kustomize", withComponent(name)));
    expect(kustomize).toHaveLength(12 + more);
    expect(construct(props)).toEqual(kustomize);
    const values = Object.entries(props).map(([key, value]) => `${key}=${value}`);
    expect(withoutPolicy(chart("nodeippool", ...values))).toEqual(withoutNamespace(kustomize));
  });

  it("keep the kind when the release goes", () => {
    const made = chart("nodeippool");
    const kept = made.filter(({ metadata }) => metadata.annotations?.["helm.sh/resource-policy"] === "keep");
    expect(kept.map(keyOf)).toEqual(["CustomResourceDefinition/nodeippools.nmstate.io"]);
  });

  it("make the same objects with other values", () => {
    const image = "registry.example.net/nodeippool:2";
    const props = { namespace: "network", image, replicas: 2, metal3: "hosts", nodeSlices: "cni", ipamClaims: true };
    const own = ["metal3=hosts", "nodeSlices=cni", "ipamClaims=true", "vmClaims=true", "vmAddresses=true"];
    const freeing = { workloadAddresses: true, freeTerminating: "all-nodes", freeTerminatingAfter: "5m" } as const;
    const more = Object.entries({ ...freeing, lookEvery: "1h" }).map(([key, value]) => `${key}=${value}`);
    const values = [`image=${image}`, "replicas=2", ...own, "parkAtAdmission=true", ...more];
    const asked = { ...props, ...freeing, lookEvery: "1h", vmClaims: true, vmAddresses: true, parkAtAdmission: true };
    const made = construct(asked);
    expect(withoutPolicy(chart("network", ...values))).toEqual(withoutNamespace(made));
    expect(made.map(keyOf)).toEqual(
      expect.arrayContaining(["Namespace/network", "MutatingAdmissionPolicy/nodeippool-parking"]),
    );
    const text = JSON.stringify(made);
    expect(text).toContain('"replicas":2');
    expect(text).toContain('"image":"registry.example.net/nodeippool:2"');
    expect(text).toContain('"namespace":"hosts"');
    expect(text).toContain('"namespace":"cni"');
    expect(text).not.toMatch(/"namespace":"(nodeippool|metal3|kube-system)"|nodeippool:0/);
  });

  it("say where the pod runs, and which registry it is from", () => {
    const more = [
      "imagePullSecrets[0].name=regcred",
      "nodeSelector.infra=x",
      "podLabels.team=net",
      "podAnnotations.a=b",
    ];
    const affinity = "affinity.podAntiAffinity.x=y";
    const made = chart("nodeippool", ...more, affinity, "tolerations[0].operator=Exists");
    const { template } = (made.find(({ kind }) => kind === "Deployment") as unknown as { spec: Any }).spec;
    expect(template.metadata).toEqual({
      annotations: { a: "b" },
      labels: { "app.kubernetes.io/name": "nodeippool", team: "net" },
    });
    expect(template.spec).toMatchObject({
      imagePullSecrets: [{ name: "regcred" }],
      nodeSelector: { infra: "x" },
      affinity: { podAntiAffinity: { x: "y" } },
      tolerations: [{}, {}, { operator: "Exists" }],
    });
    expect(template.spec.securityContext).not.toHaveProperty("runAsUser");
  });

  it("leave the kind out of the chart if asked", () => {
    const kinds = chart("nodeippool", "crds.install=false").map(({ kind }) => kind);
    expect(kinds).toHaveLength(10);
    expect(kinds).not.toContain("CustomResourceDefinition");
  });

  it("have the version of the package", () => {
    const read = (path: string) => parse(readFileSync(join(root, path), "utf8"));
    const { version } = read("package.json");
    expect(read("deploy/chart/Chart.yaml")).toMatchObject({ version, appVersion: version });
    expect(read("deploy/chart/values.yaml").image).toBe(`nodeippool:${version}`);
    expect(JSON.stringify(construct())).toContain(`"image":"nodeippool:${version}"`);
  });

  it("are a chart without complaints", () => {
    expect(run(helm, "lint", "--strict", "deploy/chart", "--kube-version", "1.36.0")).toContain("0 chart(s) failed");
  });
});
