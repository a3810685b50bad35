import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { parsePodNetworks } from "../../../integrations/workload/pod-networks.ts";
import { asBag, type Bag } from "../../../schema/objects.ts";
import { done, refused } from "../../support/cli-outcome.ts";
import { cli, folderOf } from "../../support/schema-cli.ts";
import { definition, macvlanNetwork } from "../../support/vm-objects.ts";

const pool = (name: string, cidr: string, more: Bag = {}) => ({
  apiVersion: "nmstate.io/v1",
  kind: "NodeIPPool",
  metadata: { name },
  spec: { range: { cidr }, ...more },
});

function statefulSet(networks: string, spec: Bag = {}, name = "web"): Bag {
  const template = { metadata: { annotations: { "k8s.v1.cni.cncf.io/networks": networks } }, spec: {} };
  return { apiVersion: "apps/v1", kind: "StatefulSet", metadata: { name }, spec: { template, ...spec } };
}

const textOf = (objects: readonly Bag[]) => objects.map((one) => JSON.stringify(one)).join("\n---\n");
const base = [pool("lan", "10.0.0.0/24"), pool("six", "fd00::/64"), macvlanNetwork("red", "lan, six")];
const folderWith = (...objects: readonly Bag[]) => folderOf({ "m/all.yaml": textOf([...base, ...objects]) });

/** `web-0 net1 10.0.0.1/24 fd00::1/64` of each pod's network that is told addresses. */
async function told(folder: string): Promise<string[]> {
  const objects = parseAllDocuments(await done(folder, "render", "m")).map((document) => document.toJS());
  return objects
    .filter(({ kind }) => kind === "ConfigMap")
    .flatMap(({ data }) =>
      Object.entries(data).flatMap(([name, text]) =>
        JSON.parse(`${text}`).map((one: Bag) => [name, one.interface, ...((one.ips ?? []) as string[])].join(" ")),
      ),
    );
}

describe("StatefulSets of a folder", () => {
  it("S3: each pod has an address of each family, by its number", async () => {
    const folder = folderWith(statefulSet("red", { replicas: 2, ordinals: { start: 5 } }));
    await done(folder, "allocate", "m");
    expect(await told(folder)).toEqual(["web-5 net1 10.0.0.1/24 fd00::1/64", "web-6 net1 10.0.0.2/24 fd00::2/64"]);
    await done(folder, "render", "m", "--out", "r");
    expect(await done(folder, "audit", "r", "m")).toContain("4 addresses checked, 0 findings");
  });

  it("S3, S10: keep them when others come and go, and when they are scaled in and out", async () => {
    const folder = folderWith(statefulSet("red", { replicas: 3 }));
    const write = (...sets: Bag[]) => writeFileSync(join(folder, "m/all.yaml"), textOf([...base, ...sets]));
    await done(folder, "allocate", "m");
    write(statefulSet("red", { replicas: 2 }), statefulSet("red", { replicas: 1 }, "app"));
    await done(folder, "allocate", "m");
    const kept = ["web-0 net1 10.0.0.1/24 fd00::1/64", "web-1 net1 10.0.0.2/24 fd00::2/64"];
    expect(await told(folder)).toEqual([...kept, "app-0 net1 10.0.0.4/24 fd00::4/64"]);
    expect((await cli(["render", "m"], folder)).stderr).toContain("Once its pod is gone (kubectl get pods -A)");
    write(statefulSet("red", { replicas: 4 }));
    await done(folder, "allocate", "m");
    expect((await told(folder)).slice(2)).toEqual([
      "web-2 net1 10.0.0.3/24 fd00::3/64",
      "web-3 net1 10.0.0.5/24 fd00::5/64",
    ]);
  });

  it("S4, I15: several NICs have an address each, also of one pool; other networks stay as they are", async () => {
    const other = definition("blue", "default", { name: "blue", type: "macvlan" });
    const networks = JSON.stringify([
      { name: "red" },
      { name: "blue", mac: "02:00:00:00:00:01" },
      { name: "red", interface: "eth9" },
    ]);
    const folder = folderWith(other, statefulSet(networks));
    await done(folder, "allocate", "m");
    expect(await told(folder)).toEqual([
      "web-0 net1 10.0.0.2/24 fd00::2/64",
      "web-0 ",
      "web-0 eth9 10.0.0.1/24 fd00::1/64",
    ]);
  });

  it("an address that is reserved for a pod is the pod's", async () => {
    const reservations = [{ address: "10.0.0.9", owner: "StatefulSet/default:web", claim: "1/net1" }];
    const objects = [
      pool("lan", "10.0.0.0/24", { reservations }),
      macvlanNetwork("red", "lan"),
      statefulSet("red", { replicas: 2 }),
    ];
    const folder = folderOf({ "m/all.yaml": textOf(objects) });
    await done(folder, "allocate", "m");
    expect(await told(folder)).toEqual(["web-0 net1 10.0.0.1/24", "web-1 net1 10.0.0.9/24"]);
  });

  it("S5: each pod that a Deployment may have at once has an address; the controller tells them apart", async () => {
    const deployment = (spec: Bag, name = "web") => ({ ...statefulSet("red", spec, name), kind: "Deployment" });
    const rollingUpdate = { maxSurge: 2 };
    const folder = folderWith(
      deployment({ replicas: 2 }),
      deployment({ replicas: 1, strategy: { type: "Recreate" } }, "one"),
      deployment({ strategy: { rollingUpdate } }, "two"),
    );
    await done(folder, "allocate", "m");
    const lines = await told(folder);
    expect(lines.map((line) => line.split(" ")[0])).toEqual(["0", "1", "2", "0", "0", "1", "2"]);
    expect(new Set(lines.map((line) => line.split(" ")[2])).size).toBe(7);
    const text = await done(folder, "render", "m");
    for (const words of ["name: nodeippool-deployment.web", "nodeippool.nmstate.io/addresses: gated"])
      expect(text).toContain(words);
    await done(folder, "render", "m", "--out", "r");
    expect(await done(folder, "audit", "r", "m")).toContain("14 addresses checked, 0 findings");
  });

  it("one without such networks passes as it is", async () => {
    const plain = [
      statefulSet("other"),
      { apiVersion: "apps/v1", kind: "StatefulSet", metadata: { name: "x" }, spec: {} },
    ];
    const folder = folderWith(...plain);
    await done(folder, "render", "m", "--out", "r");
    expect(await done(folder, "render", "m")).toContain(plain.map((one) => JSON.stringify(one)).join("\n---\n"));
  });

  it.each<[string, Bag[], string]>([
    [
      "ips in the template",
      [statefulSet('[{"name": "red", "ips": ["10.0.0.7/24"]}]')],
      "which all pods of the set would have",
    ],
    ["text that is no JSON", [statefulSet("[{")], "the networks of a pod are no JSON"],
    ["a network without a name", [statefulSet("[{}]")], "a network of a pod needs a name"],
    ["a number of pods that is none", [statefulSet("red", { replicas: -1 })], "replicas must be a number"],
    [
      "a surge that is none",
      [{ ...statefulSet("red", { strategy: { rollingUpdate: { maxSurge: "x" } } }), kind: "Deployment" }],
      "maxSurge must be a number or a percentage",
    ],
    [
      "a network that takes no addresses",
      [
        definition("dhcp", "default", { name: "dhcp", type: "macvlan" }, { "nodeippool.nmstate.io/pool": "lan" }),
        statefulSet("dhcp"),
      ],
      "NetworkAttachmentDefinition default/dhcp takes no addresses",
    ],
  ])("%s is an error with its place", async (_, objects, message) => {
    const said = await refused(folderWith(...objects), "plan", "m");
    expect(said).toContain(message);
    expect(said).toMatch(/m\/all\.yaml:\d+/);
  });
});

describe("networks of a pod", () => {
  it.each([
    ["lan", ["shop/lan net1"]],
    ["lan, other/wan@eth5,lan", ["shop/lan net1", "other/wan eth5", "shop/lan net3"]],
    ['[{"name": "lan", "namespace": "x", "interface": "a"}, {"name": "lan"}]', ["x/lan a", "shop/lan net2"]],
    [" [] ", []],
  ])("%s", (text, want) => {
    const { value = [] } = parsePodNetworks(text, "shop");
    expect(value.map(({ definition: of, nic }) => `${of} ${nic}`)).toEqual(want);
    expect(asBag(value[0]?.element)?.name).toBe(want.length === 0 ? undefined : "lan");
  });
});
