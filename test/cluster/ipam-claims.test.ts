import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import type { LogEvent } from "../../controller/ground.ts";
import { type Access, findAccess, type KubeObject, type Objects, objectsOf, type Resource } from "../../kube/index.ts";
import { asBag, asList, type Bag, conditionOf } from "../../schema/objects.ts";
import { installIpamClaims, installKubevirt, installNodeIPPool } from "../support/cluster-kinds.ts";
import { clusterOfFile } from "../support/cluster-of-file.ts";
import { nodeippool, root } from "../support/console.ts";
import { withController } from "../support/controller-run.ts";
import { hurried } from "../support/controller-timing.ts";
import { macvlanNetwork, ovnNetwork, vm } from "../support/vm-objects.ts";

const ipam = "k8s.cni.cncf.io/v1alpha1";
const claims: Resource = { apiVersion: ipam, plural: "ipamclaims" };
const stake = "nmstate.io/release-addresses";

type Any = KubeObject & Bag;

describe("IPAMClaims, on a real API server with the kinds as they are shipped", () => {
  const cluster = clusterOfFile(async (started) => {
    await installNodeIPPool(started);
    await installIpamClaims(started);
    await installKubevirt(started);
    await started.kubectl(["create", "namespace", "nodeippool"]);
    for (const path of ["rbac.yaml", "ipam-claims/rbac.yaml"])
      await started.kubectl(["apply", "-f", join(root, "deploy", path)]);
  });
  let kube: Objects;
  let user: Access;
  beforeAll(async () => {
    const admin = findAccess({ kubeconfig: cluster().kubeconfig });
    kube = objectsOf(admin);
    const token = await cluster().kubectl(["create", "token", "nodeippool-controller", "-n", "nodeippool"]);
    user = { ...admin, user: { token: token.trim() } };
    return () => kube.close();
  });
  afterEach(async () => {
    await cluster().kubectl(["delete", "configmaps", "--all", "-n", "nodeippool"]);
  });

  /** With the rights that deploy/ gives, and no others. */
  async function served(work: () => Promise<void>): Promise<void> {
    const refused: string[] = [];
    const log = ({ error }: LogEvent) => {
      if (/cannot \w+ resource/.test(`${error}`)) refused.push(`${error}`);
    };
    await withController(user, work, { log, timing: hurried, ipamClaims: true });
    expect(refused).toEqual([]);
  }

  const create = (object: Bag) => cluster().kubectl(["create", "-f", "-"], JSON.stringify(object));
  const claim = (name: string, metadata: Bag = {}) =>
    kube.create(claims, {
      apiVersion: ipam,
      kind: "IPAMClaim",
      metadata: { name, namespace: "default", ...metadata },
      spec: { network: "red", interface: "net1" },
    } as KubeObject);
  const get = (name: string) => kube.get<Any>(claims, name, "default");
  /** `10.0.0.1/24 True SuccessfulAllocation` */
  const told = async (name: string) => {
    const status = asBag((await get(name))?.status);
    const { status: isAllocated, reason } = conditionOf(status?.conditions, "IPsAllocated") ?? {};
    return [...asList(status?.ips), isAllocated, reason].join(" ");
  };
  const until = (what: () => Promise<unknown>, expected: unknown) =>
    expect.poll(what, { timeout: 30_000, interval: 100 }).toEqual(expected);

  it("get addresses, are told when there are none, and give them back", async () => {
    await create({
      apiVersion: "nmstate.io/v1",
      kind: "NodeIPPool",
      metadata: { name: "lan" },
      spec: { range: { cidr: "10.0.0.0/24", end: "10.0.0.2" } },
    });
    await create(macvlanNetwork("red", "lan"));
    await claim("a.red", { finalizers: ["kubevirt.io/persistent-ipam"] });
    await served(async () => {
      await until(() => told("a.red"), "10.0.0.1/24 True SuccessfulAllocation");
      expect(asBag((await get("a.red"))?.metadata)?.finalizers).toEqual(["kubevirt.io/persistent-ipam", stake]);
      await claim("b.red");
      await until(() => told("b.red"), "10.0.0.2/24 True SuccessfulAllocation");
      await claim("c.red");
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
      await kube.patch(claims, "a.red", "default", { metadata: { finalizers: [stake] } }, { type: "merge" });
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

  it("that are planned: the commands of the page, and a controller that writes what was planned", async () => {
    const folder = mkdtempSync(join(tmpdir(), "vms-"));
    mkdirSync(join(folder, "m"));
    const pool = {
      apiVersion: "nmstate.io/v1",
      kind: "NodeIPPool",
      metadata: { name: "vlan" },
      spec: { range: { cidr: "10.20.0.0/24" } },
    };
    const networks = [
      ovnNetwork("blue", { subnets: "192.168.10.0/24,fd10::/64" }),
      macvlanNetwork("red", "vlan"),
      pool,
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
    expect(await told("vm-a.blue")).toBe(" ");
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
