import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv } from "ajv";
import { beforeEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { goModule } from "../support/go-module.ts";
import { exampleText, infraOf } from "../support/metal3-infra.ts";
import { clusters, objectsOfInfra } from "../support/metal3-objects.ts";
import { BUILD_TIMEOUT, orSkip } from "../support/tools.ts";

// Machines and KubeadmConfigs, held against the schemas of Cluster API's own kinds, where every field must be known.

const clusterApi = "sigs.k8s.io/cluster-api";

beforeEach(async (context) => {
  await orSkip(context, goModule(clusterApi));
}, BUILD_TIMEOUT);

const kinds = {
  Machine: "core/config/crd/bases/cluster.x-k8s.io_machines.yaml",
  KubeadmConfig: "bootstrap/kubeadm/config/crd/bases/bootstrap.cluster.x-k8s.io_kubeadmconfigs.yaml",
};

interface Crd {
  readonly spec: {
    readonly versions: readonly { name: string; served: boolean; schema: { openAPIV3Schema: object } }[];
  };
}

describe.each(["v1beta1", "v1beta2"] as const)("%s", (apiVersion) => {
  it.each(Object.keys(kinds) as (keyof typeof kinds)[])("every %s is one", async (kind) => {
    const crd: Crd = parse(readFileSync(join(await goModule(clusterApi), kinds[kind]), "utf8"));
    const { served, schema } = crd.spec.versions.find(
      ({ name }) => name === apiVersion,
    ) as Crd["spec"]["versions"][number];
    expect(served).toBe(true);
    const takes = new Ajv({ strict: false, allErrors: true, logger: false }).compile(
      closed(schema.openAPIV3Schema) as object,
    );
    const cluster = { ...clusters.machines, apiVersion, namespace: "metal", version: "v1.36.3" };
    const objects = ["seed.yaml", "rack.yaml"].flatMap((name) =>
      (["network-data", "os-net-config"] as const).flatMap((network) =>
        objectsOfInfra(infraOf(exampleText(name)), { ...cluster, network }),
      ),
    );
    const ours = objects.filter((object) => object.kind === kind);
    expect(ours).toHaveLength(44);
    for (const { metadata: _, ...object } of ours) expect(takes(object) || takes.errors).toBe(true);
    expect(takes({ ...ours[0], spec: { clusterNames: "blue" } })).toBe(false);
  });
});

/** A schema of the API server, where a field that is not in it is an error as with strict validation. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== "object" || schema === null) return schema;
  const entries = Object.entries(schema).map(([key, value]) => [key, key === "default" ? value : closed(value)]);
  const isClosed = "properties" in schema && !("x-kubernetes-preserve-unknown-fields" in schema);
  return { ...Object.fromEntries(entries), ...(isClosed ? { additionalProperties: false } : {}) };
}
