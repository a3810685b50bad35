import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, describe, expect, it } from "vitest";
import { findAccess, type KubeObject, type Objects, objectsOf, type Resource } from "../../kube/index.ts";
import type { Bag } from "../../schema/objects.ts";
import { installIpamClaims } from "../support/cluster/kinds.ts";
import { clusterOfFile } from "../support/cluster/of-file.ts";
import { accessWithout, prepareController, rightsIn, withRefusals } from "../support/controller/rights.ts";
import { claim, pool, standing } from "../support/objects/ipam-claims.ts";
import { macvlanNetwork } from "../support/objects/vm-objects.ts";

const claims: Resource = { apiVersion: "k8s.cni.cncf.io/v1alpha1", plural: "ipamclaims" };
const pools: Resource = { apiVersion: "nmstate.io/v1", plural: "nodeippools" };

describe("IPAMClaims need each of the rights of deploy/ipam-claims", () => {
  // A streamed list asks for the right to watch alone; servers up to 1.31, and 1.33, have none.
  const cluster = clusterOfFile(
    async (started) => {
      await prepareController(started, [installIpamClaims], "ipam-claims");
    },
    { flags: ["--feature-gates=WatchList=false"] },
  );
  let kube: Objects;
  beforeAll(() => {
    kube = objectsOf(findAccess({ kubeconfig: cluster().kubeconfig }));
    return () => kube.close();
  });
  const kubectl = (args: string, input?: string) => cluster().kubectl(args.split(" "), input);
  const told = async (name: string) => standing(await kube.get<KubeObject & Bag>(claims, name, "default"));

  it.each(rightsIn("ipam-claims"))("%s", async (right) => {
    const work = async (refused: ReadonlySet<string>) => {
      const reached = async (name: string, expected: string) => {
        for (let i = 0; i < 300 && !refused.has(right) && (await told(name)) !== expected; i++) await sleep(100);
      };
      for (const object of [pool("lan", "10.0.0.0/24", "10.0.0.1"), macvlanNetwork("red", "lan")])
        await kubectl("create -f -", JSON.stringify(object));
      await kube.create(claims, claim("a.red"));
      await reached("a.red", "10.0.0.1/24 True SuccessfulAllocation");
      await kube.create(claims, claim("b.red"));
      await reached("b.red", "False SubnetExhausted");
      await kubectl("delete ipamclaim a.red --wait=false");
      await reached("b.red", "10.0.0.1/24 True SuccessfulAllocation");
      expect([...refused]).toContain(right);
    };
    try {
      await withRefusals(await accessWithout(right, "ipam-claims", cluster()), work, { ipamClaims: true });
    } finally {
      for (const kind of [claims, pools])
        for (const { metadata } of await kube.list(kind))
          await kube.patch(
            kind,
            metadata.name,
            metadata.namespace,
            { metadata: { finalizers: null } },
            { type: "merge" },
          );
      await kubectl("delete ipamclaims,network-attachment-definitions,nodeippools --all --ignore-not-found");
      await kubectl("delete configmaps --all -n nodeippool");
    }
  });
});
