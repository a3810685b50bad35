import type { ApiObjectProps } from "cdk8s";
import { describe, expect, it } from "vitest";
import { Manifests, NodeIPPool } from "../../../constructs/index.ts";
import { asBag, type Bag } from "../../../schema/objects.ts";
import {
  appOf,
  type Build,
  drift,
  linesOf,
  nothing,
  objectsByName,
  objectsOf,
  recordAfter,
  refusal,
} from "../../support/cli/constructs-app.ts";
import { macvlanNetwork, ovnNetwork, vm } from "../../support/objects/vm-objects.ts";

const given = (...objects: readonly Bag[]) => objects as unknown as ApiObjectProps[];
const machine = vm("vm-a", { blue: "blue-netconfig", red: "red" });
const networks = [ovnNetwork("blue", { subnets: "192.168.10.0/24" }), macvlanNetwork("red", "lan")];
const app: Build = (chart) => {
  new NodeIPPool(chart, "lan", { range: { cidr: "10.0.0.0/24" } });
  new Manifests(chart, "vms", { objects: given(...networks, machine) });
};

describe("Manifests", () => {
  it("has VMs and networks as they are, and the IPAMClaims of the VMs beside them", async () => {
    expect(linesOf(await recordAfter(app))).toEqual([
      "10.0.0.1 IPAMClaim/default:vm-a.red/lan",
      "192.168.10.1 IPAMClaim/default:vm-a.blue/blue",
    ]);
    const objects = await objectsByName(app);
    expect(objects["VirtualMachine/vm-a"]).toEqual(JSON.parse(JSON.stringify(machine)));
    expect(objects["NetworkAttachmentDefinition/red"]).toEqual(JSON.parse(JSON.stringify(networks[1])));
    const ips = (name: string) => asBag(asBag(objects[name])?.status)?.ips;
    expect([ips("IPAMClaim/vm-a.blue"), ips("IPAMClaim/vm-a.red")]).toEqual([["192.168.10.1/24"], ["10.0.0.1/24"]]);
  });

  it("fails the synthesis where the record lacks an address", () => {
    expect(drift(appOf(app, { record: nothing }))).toContain("the app is not recorded");
  });

  it("leaves objects as they are that take no addresses", async () => {
    const plain = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { b: "c" } };
    const made = await objectsOf((chart) => void new Manifests(chart, "all", { objects: given(plain) }));
    expect(made).toEqual([plain]);
  });

  it.each([
    ["an object without a name", given({ apiVersion: "v1", kind: "ConfigMap" }), "objects[0] has no metadata.name"],
    ["one twice", given(machine, machine), "objects has VirtualMachine vm-a twice"],
  ])("refuses %s", (_, objects, message) => {
    const build: Build = (chart) => void new Manifests(chart, "vms", { objects });
    expect(refusal(() => appOf(build))).toContain(message);
  });

  it("fails the synthesis for a network whose pool is not in the app", () => {
    const objects = given(macvlanNetwork("red", "lan"), vm("a", { red: "red" }));
    const alone: Build = (chart) => void new Manifests(chart, "vms", { objects });
    expect(drift(appOf(alone, { record: nothing }))).toContain("there is no NodeIPPool lan");
  });
});
