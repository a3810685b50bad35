import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { type Access, findAccess, type KubeObject, type Objects, objectsOf, type Resource } from "../../kube/index.ts";
import { asBag, type Bag } from "../../schema/objects.ts";
import { installIpamClaims, installKubevirt } from "../support/cluster/kinds.ts";
import { clusterOfFile } from "../support/cluster/of-file.ts";
import { nodeippool } from "../support/console.ts";
import { ownAccess, prepareController, servedAs } from "../support/controller/rights.ts";
import { hurried } from "../support/controller/timing.ts";
import { claim, pool, releaseFinalizer, standing } from "../support/objects/ipam-claims.ts";
import { macvlanNetwork, ovnNetwork, vm } from "../support/objects/vm-objects.ts";

const claims: Resource = { apiVersion: "k8s.cni.cncf.io/v1alpha1", plural: "ipamclaims" };

describe("IPAMClaims, on a real API server with the kinds as they are shipped", () => {
  const cluster = clusterOfFile((started) =>
    prepareController(started, [installIpamClaims, installKubevirt], "ipam-claims"),
  );
  let kube: Objects;
  let user: Access;
  beforeAll(async () => {
    kube = objectsOf(findAccess({ kubeconfig: cluster().kubeconfig }));
    user = await ownAccess(cluster());
    return () => kube.close();
  });
  afterEach(async () => {
    await cluster().kubectl(["delete", "configmaps", "--all", "-n", "nodeippool"]);
  });

  /** With the rights that deploy/ gives, and no others. */
  const served = (work: () => Promise<void>) => servedAs(user, work, { ipamClaims: true });
  const create = (object: Bag) => cluster().kubectl(["create", "-f", "-"], JSON.stringify(object));
  const make = (name: string, metadata: Bag = {}) => kube.create(claims, claim(name, metadata));
  const get = (name: string) => kube.get<KubeObject & Bag>(claims, name, "default");
  const told = async (name: string) => standing(await get(name));
  const until = (what: () => Promise<unknown>, expected: unknown) =>
    expect.poll(what, { timeout: 30_000, interval: 100 }).toEqual(expected);

  it("get addresses, are told when there are none, and give them back", async () => {
    await create(pool("lan", "10.0.0.0/24", "10.0.0.2"));
    await create(macvlanNetwork("red", "lan"));
    await make("a.red", { finalizers: ["kubevirt.io/persistent-ipam"] });
    await served(async () => {
      await until(() => told("a.red"), "10.0.0.1/24 True SuccessfulAllocation");
      const finalizers = async () => asBag((await get("a.red"))?.metadata)?.finalizers;
      await until(finalizers, ["kubevirt.io/persistent-ipam", releaseFinalizer]);
      await make("b.red");
      await until(() => told("b.red"), "10.0.0.2/24 True SuccessfulAllocation");
      await make("c.red");
      await until(() => told("c.red"), "False SubnetExhausted");
      await cluster().kubectl(["delete", "ipamclaim", "a.red", "--wait=false"]);
    });
    // A controller that begins anew, and the one that uses the claim is done.
    await served(async () => {
      await new Promise((resolve) => setTimeout(resolve, 3 * hurried.hold));
      expect([await told("a.red"), await told("c.red")]).toEqual([
        "10.0.0.1/24 True SuccessfulAllocation",
        "False SubnetExhausted",
      ]);
      await kube.patch(claims, "a.red", "default", { metadata: { finalizers: [releaseFinalizer] } }, { type: "merge" });
      await until(() => told("c.red"), "10.0.0.1/24 True SuccessfulAllocation");
      expect(await get("a.red")).toBeUndefined();
    });
    for (const name of ["b.red", "c.red"]) await cluster().kubectl(["delete", "ipamclaim", name, "--wait=false"]);
    await served(async () => {
      await until(async () => (await kube.list(claims, { namespace: "default" })).length, 0);
      // A pool stays for as long as somebody has an address of it.
      await cluster().kubectl(["delete", "network-attachment-definitions,nodeippools", "--all", "--timeout=30s"]);
    });
  });

  it("C17: whoever may write claims alone has addresses of networks that somebody else binds to pools", async () => {
    const user = "--as=vm-user";
    await cluster().kubectl(["create", "role", "claims", "--verb=create,get", "--resource=ipamclaims.k8s.cni.cncf.io"]);
    await cluster().kubectl(["create", "rolebinding", "claims", "--role=claims", "--user=vm-user"]);
    await create(pool("lan", "10.0.0.0/24"));
    await create(macvlanNetwork("red", "lan"));
    await cluster().kubectl(["create", "-f", "-", user], JSON.stringify(claim("a.red")));
    const bound = ["annotate", "network-attachment-definition", "red", "nodeippool.nmstate.io/pool=other"];
    await expect(cluster().kubectl([...bound, "--overwrite", user])).rejects.toThrow(/User "vm-user" cannot/);
    await served(async () => {
      await until(() => told("a.red"), "10.0.0.1/24 True SuccessfulAllocation");
      await cluster().kubectl(["delete", "ipamclaim", "a.red"]);
      await cluster().kubectl(["delete", "network-attachment-definitions,nodeippools", "--all", "--timeout=30s"]);
    });
  });

  it("that are planned: the commands of the page, and a controller that writes what was planned", async () => {
    const folder = mkdtempSync(join(tmpdir(), "vms-"));
    mkdirSync(join(folder, "m"));
    const networks = [
      ovnNetwork("blue", { subnets: "192.168.10.0/24,fd10::/64" }),
      macvlanNetwork("red", "vlan"),
      pool("vlan", "10.20.0.0/24"),
    ];
    const vms = [vm("vm-a", { blue: "blue-netconfig", red: "red" })];
    const write = (name: string, objects: readonly object[]) =>
      writeFileSync(join(folder, "m", name), objects.map((one) => JSON.stringify(one)).join("\n---\n"));
    write("networks.yaml", networks);
    write("vms.yaml", vms);
    expect(nodeippool(["allocate", "m"], folder).status).toBe(0);
    expect(nodeippool(["render", "m", "--out", "rendered"], folder).status).toBe(0);
    const apply = (...words: string[]) => cluster().kubectl(["apply", "--server-side", ...words]);
    await apply("-f", join(folder, "rendered/"));
    expect(await told("vm-a.blue")).toBe("");
    expect(readFileSync(join(folder, "rendered/vms.yaml"), "utf8")).toContain("kind: IPAMClaim");
    const ofClaims = ["vm-a.blue", "vm-a.red"];
    await served(async () => {
      await until(() => told("vm-a.blue"), "192.168.10.1/24 fd10::1/64 True SuccessfulAllocation");
      await until(() => told("vm-a.red"), "10.20.0.1/24 True SuccessfulAllocation");
    });
    for (const name of ofClaims) await cluster().kubectl(["delete", "ipamclaim", name]);
    await apply("-f", join(folder, "rendered/"));
    await apply("--subresource=status", "-l", "nodeippool.nmstate.io/planned", "-f", join(folder, "rendered/"));
    expect(await Promise.all(ofClaims.map(async (name) => asBag((await get(name))?.status)?.ips))).toEqual([
      ["192.168.10.1/24", "fd10::1/64"],
      ["10.20.0.1/24"],
    ]);
  });
});
