import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import type { Bag } from "../../../schema/objects.ts";
import { done, refused } from "../../support/cli/outcome.ts";
import { macvlanNetwork, ovnNetwork, vm } from "../../support/objects/vm-objects.ts";
import { cli, folderOf } from "../../support/schema/cli.ts";

const blue = ovnNetwork("blue", { subnets: "192.168.10.0/24", excludeSubnets: "192.168.10.1/32" });
const red = macvlanNetwork("red", "vlan-20, vlan-20-v6");
const pool = (name: string, cidr: string) => ({
  apiVersion: "nmstate.io/v1",
  kind: "NodeIPPool",
  metadata: { name },
  spec: { range: { cidr } },
});
const textOf = (objects: readonly Bag[]) => objects.map((one) => JSON.stringify(one)).join("\n---\n");
const pools = textOf([pool("vlan-20", "10.20.0.0/24"), pool("vlan-20-v6", "fd20::/64")]);
const both = { blue: "blue-netconfig", red: "default/red" };

function projectOf(vms: readonly Bag[], networks: readonly Bag[] = [blue, red]): string {
  return folderOf({ "m/networks.yaml": textOf(networks), "m/pools.yaml": pools, "m/vms.yaml": textOf(vms) });
}

/** `default/vm-a.blue blue pod16477688c0e 192.168.10.2/24` of each IPAMClaim that is rendered. */
async function rendered(folder: string): Promise<string[]> {
  const objects = parseAllDocuments(await done(folder, "render", "m")).map((document) => document.toJS());
  return objects
    .filter(({ kind }) => kind === "IPAMClaim")
    .map(({ metadata, spec, status }) => {
      expect(metadata.annotations["nodeippool.nmstate.io/addresses"]).toBe(status.ips.join(","));
      return `${metadata.namespace}/${metadata.name} ${spec.network} ${spec.interface} ${status.ips.join(" ")}`;
    });
}

describe("VMs of a folder, on networks that keep addresses", () => {
  it("C1, C2, C3, C12: each has a claim with its addresses; the VM and the network stay as they are", async () => {
    const folder = projectOf([vm("vm-a", both), vm("vm-b", { blue: "blue-netconfig" })]);
    await done(folder, "allocate", "m");
    expect(await rendered(folder)).toEqual([
      "default/vm-a.blue blue pod16477688c0e 192.168.10.2/24",
      "default/vm-a.red red podb1f51a511f1 10.20.0.1/24 fd20::1/64",
      "default/vm-b.blue blue pod16477688c0e 192.168.10.3/24",
    ]);
    await done(folder, "render", "m", "--out", "r");
    expect(readFileSync(join(folder, "r/networks.yaml"), "utf8")).toContain(JSON.stringify(blue));
    expect(readFileSync(join(folder, "r/vms.yaml"), "utf8")).toContain(JSON.stringify(vm("vm-a", both)));
    expect(await done(folder, "audit", "r", "m")).toContain("4 addresses checked, 0 findings");
  });

  it("C8: who comes and goes moves nobody; who left keeps its address until somebody frees it", async () => {
    const folder = projectOf([vm("vm-b", { blue: "blue-netconfig" })]);
    const write = (...names: string[]) =>
      writeFileSync(join(folder, "m/vms.yaml"), textOf(names.map((name) => vm(name, { blue: "blue-netconfig" }))));
    await done(folder, "allocate", "m");
    write("vm-a", "vm-b", "vm-c");
    await done(folder, "allocate", "m");
    const all = ["vm-a.blue blue pod16477688c0e 192.168.10.3/24", "vm-b.blue blue pod16477688c0e 192.168.10.2/24"];
    expect((await rendered(folder)).slice(0, 2)).toEqual(all.map((text) => `default/${text}`));
    write("vm-a", "vm-c");
    await done(folder, "allocate", "m");
    expect((await cli(["render", "m"], folder)).stderr).toContain(
      "is releasing: its VM may still have it. Once its IPAMClaim is gone (kubectl get ipamclaims -A): nodeippool release",
    );
    write("vm-a", "vm-c", "vm-d");
    await done(folder, "allocate", "m");
    expect((await rendered(folder)).at(-1)).toContain("192.168.10.5/24");
    await done(folder, "release", "vm-b.blue", "--confirm");
    write("vm-a", "vm-c", "vm-d", "vm-e");
    await done(folder, "allocate", "m");
    expect((await rendered(folder)).at(-1)).toContain("192.168.10.2/24");
  });

  it("C12, B3: what a VM wants it gets, or nothing: neither what is excluded, nor a second address of a family", async () => {
    const wanting = (address: string) => projectOf([vm("vm-a", both, { wanted: { blue: [address] } })]);
    const folder = wanting("192.168.10.77");
    await done(folder, "allocate", "m");
    expect((await rendered(folder))[0]).toContain("192.168.10.77/24");
    expect(await refused(wanting("192.168.10.1"), "plan", "m")).toContain("192.168.10.1");
    expect(await refused(wanting("fd10::1"), "plan", "m")).toContain(
      "fd10::1 cannot be allocated: network blue has IPv4 addresses only",
    );
    const two = projectOf([vm("vm-a", both, { wanted: { blue: ["192.168.10.7", "192.168.10.8"] } })]);
    expect(await refused(two, "plan", "m")).toContain("192.168.10.8 is one too many");
  });

  it("a wanted address may have the prefix length of its subnet, as Forklift writes it, and no other", async () => {
    const folder = projectOf([vm("vm-a", both, { wanted: { blue: ["192.168.10.77/24"] } })]);
    await done(folder, "allocate", "m");
    expect((await rendered(folder))[0]).toContain("192.168.10.77/24");
    const other = projectOf([vm("vm-a", both, { wanted: { blue: ["192.168.10.77/16"] } })]);
    expect(await refused(other, "plan", "m")).toContain(
      "192.168.10.77/16 cannot be allocated: the prefix length of network blue is 24",
    );
  });

  it("C1, C10, C14: a VM on no such network, on one that takes the place of the pod's, or that is unplugged asks for nothing", async () => {
    const unplugged = JSON.parse(JSON.stringify(vm("vm-c", { blue: "blue-netconfig" })));
    unplugged.spec.template.spec.domain.devices.interfaces[0].state = "absent";
    const whole = JSON.parse(JSON.stringify(vm("vm-d", { blue: "blue-netconfig" })));
    whole.spec.template.spec.networks[1].multus.default = true;
    const folder = projectOf([vm("vm-a", { green: "green" }), vm("vm-b", {}), unplugged, whole]);
    expect(await done(folder, "plan", "m")).toContain("Plan: 0 to allocate");
  });

  it("C3, C16: a claim that somebody wrote is filled in; on another network than its VM's, it is an error", async () => {
    const claim = (name: string, network: string): Bag => ({
      apiVersion: "k8s.cni.cncf.io/v1alpha1",
      kind: "IPAMClaim",
      metadata: { name, namespace: "default", labels: { team: "a" } },
      spec: { network, interface: "net1" },
    });
    const folder = projectOf([
      vm("vm-a", { blue: "blue-netconfig" }),
      claim("vm-a.blue", "blue"),
      claim("db-0", "red"),
    ]);
    await done(folder, "allocate", "m");
    expect(await rendered(folder)).toEqual([
      "default/vm-a.blue blue net1 192.168.10.2/24",
      "default/db-0 red net1 10.20.0.1/24 fd20::1/64",
    ]);
    const wrong = projectOf([vm("vm-a", { blue: "blue-netconfig" }), claim("vm-a.blue", "red")]);
    expect(await refused(wrong, "plan", "m")).toContain("the network of VM vm-a is blue, and its claim names red");
  });

  it("B2: the name of a VM is in no label, whose value may not be as long", async () => {
    const folder = projectOf([vm("v".repeat(200), { blue: "blue-netconfig" })]);
    await done(folder, "allocate", "m");
    const objects = parseAllDocuments(await done(folder, "render", "m")).map((document) => document.toJS());
    const labels = objects.flatMap(({ metadata }) => Object.values<string>(metadata.labels ?? {}));
    expect(labels).toEqual(["true"]);
  });

  it("B3: on a network of OVN-Kubernetes in another namespace, its claim would not be found", async () => {
    const folder = projectOf([vm("vm-a", { blue: "default/blue-netconfig" }, { namespace: "apps" })]);
    expect(await refused(folder, "plan", "m")).toContain(
      "OVN-Kubernetes looks for the claim of VM vm-a in namespace default",
    );
    const bound = projectOf([vm("vm-a", { red: "default/red" }, { namespace: "apps" })]);
    await done(bound, "allocate", "m");
    expect(await rendered(bound)).toEqual(["apps/vm-a.red red podb1f51a511f1 10.20.0.1/24 fd20::1/64"]);
  });

  it("two networks of tenants may have one subnet", async () => {
    const green = ovnNetwork("green", { subnets: "192.168.10.0/24" });
    const folder = projectOf([vm("vm-a", { blue: "blue-netconfig", green: "green-netconfig" })], [blue, green]);
    await done(folder, "allocate", "m");
    const all = await rendered(folder);
    expect(all.map((text) => text.split(" ").at(-1))).toEqual(["192.168.10.2/24", "192.168.10.1/24"]);
    expect(await done(folder, "render", "m", "--out", "r")).toContain("Rendered");
    expect(await done(folder, "audit", "r", "m")).toContain("2 addresses checked, 0 findings");
  });

  it.each([
    [[blue, ovnNetwork("blue", { subnets: "192.168.11.0/24" }, "apps")], "share network blue, and differ"],
    [[blue, macvlanNetwork("red", "vlan-2")], "there is no NodeIPPool vlan-2 to take addresses from; did you mean"],
    [[blue, macvlanNetwork("red", "vlan-*")], "a VM has addresses of pools that are named in full, not of vlan-*"],
  ])("networks that cannot be: %#", async (networks, message) => {
    expect(await refused(projectOf([vm("vm-a", both)], networks), "plan", "m")).toContain(message);
  });

  it("import: claims that are there keep their addresses, and so do VMs of a list from elsewhere", async () => {
    const planned = projectOf([vm("vm-a", both, { wanted: { blue: ["192.168.10.50"] } })]);
    await done(planned, "allocate", "m");
    await done(planned, "render", "m", "--out", "r");
    const folder = folderOf({
      "m/networks.yaml": textOf([blue, red]),
      "m/pools.yaml": pools,
      "m/vms.yaml": textOf([vm("vm-a", both), vm("vm-b", both)]),
      "found.yaml": readFileSync(join(planned, "r/vms.yaml"), "utf8"),
      "list.csv": "vm,network,address\nvm-b,blue,192.168.10.60\nVirtualMachine/default:vm-b,red,10.20.0.60\n",
    });
    expect(await done(folder, "import", "found.yaml", "m")).toContain("3 to allocate");
    await done(folder, "import", "list.csv", "m");
    await done(folder, "allocate", "m");
    expect((await rendered(folder)).map((text) => text.replace(/ \S+ pod\S+/, ""))).toEqual([
      "default/vm-a.blue 192.168.10.50/24",
      "default/vm-a.red 10.20.0.1/24 fd20::1/64",
      "default/vm-b.blue 192.168.10.60/24",
      "default/vm-b.red 10.20.0.60/24 fd20::2/64",
    ]);
  });

  it("import: claims of VMs that are not in the folder yet are kept for them", async () => {
    const planned = projectOf([vm("vm-a", both, { wanted: { blue: ["192.168.10.50"] } })]);
    await done(planned, "allocate", "m");
    await done(planned, "render", "m", "--out", "r");
    const folder = projectOf([]);
    writeFileSync(join(folder, "found.yaml"), readFileSync(join(planned, "r/vms.yaml"), "utf8"));
    await done(folder, "import", "found.yaml", "m");
    writeFileSync(join(folder, "m/vms.yaml"), textOf([vm("vm-0", both), vm("vm-a", both)]));
    await done(folder, "allocate", "m");
    const all = await rendered(folder);
    expect(all[0]).toContain("192.168.10.2/24");
    expect(all[2]).toContain("192.168.10.50/24");
    expect(all[3]).toContain("10.20.0.1/24 fd20::1/64");
  });

  describe("import of a list: the network of a line counts", () => {
    const header = "vm,network,address\n";
    function listed(lines: string, networks: Readonly<Record<string, string>> = { eth0: "lan", eth1: "stor" }): string {
      const definitions = [macvlanNetwork("lan", "lan"), macvlanNetwork("stor", "stor")];
      const two = (name: string, namespace: string) =>
        vm(name, { eth0: `default/${networks.eth0}`, eth1: `default/${networks.eth1}` }, { namespace });
      return folderOf({
        "m/networks.yaml": textOf([...definitions, pool("lan", "10.0.0.0/24"), pool("stor", "10.1.0.0/24")]),
        "m/vms.yaml": textOf([two("m", "default"), two("a", "prod"), two("a", "dev")]),
        "list.csv": lines,
      });
    }
    async function recorded(folder: string): Promise<string> {
      const said = await done(folder, "import", "list.csv", "m");
      return [...said.matchAll(/\+ (\S+) +IPAMClaim\/(\S+)/g)].map(([, ...words]) => words.join(" ")).join(", ");
    }
    const swapped = "m,eth1,10.0.0.5\nm,eth0,10.1.0.5\n";

    it.each([
      [swapped, "m,eth0,10.1.0.5"],
      [header + swapped, "m,eth0,10.1.0.5"],
    ])("not by which pool has the address: %j", async (lines) => {
      const said = await refused(listed(lines), "import", "list.csv", "m");
      expect(said).toContain(
        "10.0.0.5 is no address for network eth1 of m, which asks for one of pool stor (10.1.0.0/24)",
      );
      expect(said).toContain(
        "10.1.0.5 is no address for network eth0 of m, which asks for one of pool lan (10.0.0.0/24)",
      );
    });

    it.each(["", header])("an unknown one is an error that names those of the VM: %j", async (first) => {
      expect(await refused(listed(`${first}m,nosuch,10.0.0.5\n`), "import", "list.csv", "m")).toContain(
        "m has no network nosuch with addresses of its own, but IPAMClaim/default:m.eth0 and IPAMClaim/default:m.eth1",
      );
    });

    it("two on one pool are told apart", async () => {
      const folder = listed("m,eth0,10.0.0.5\nm,eth1,10.0.0.6\n", { eth0: "lan", eth1: "lan" });
      expect(await recorded(folder)).toBe("10.0.0.5 default:m.eth0, 10.0.0.6 default:m.eth1");
    });

    it("a VM of a namespace is called namespace/name; without it, two of one name are refused", async () => {
      expect(await recorded(listed("prod/a,eth0,10.0.0.5\ndev/a,eth0,10.0.0.6\n"))).toBe(
        "10.0.0.5 prod:a.eth0, 10.0.0.6 dev:a.eth0",
      );
      expect(await refused(listed("a,eth0,10.0.0.5\n"), "import", "list.csv", "m")).toMatch(
        /a may be IPAMClaim\/(dev|prod):a.eth0 or .*\n +Write which one it is: (prod|dev)\/a, say/,
      );
    });

    it.each(["", header])("who is not there is no node: %j", async (first) => {
      const said = await refused(listed(`${first}web-1,eth0,10.0.0.5\n`), "import", "list.csv", "m");
      expect(said).toContain("web-1 is not among the VMs that ask for addresses");
      expect(said).not.toContain("node,");
    });
  });

  it("a VM whose name the API server is to make is an error, unless its networks keep no addresses", async () => {
    const { metadata: _, ...rest } = vm("vm-a", { blue: "blue-netconfig" });
    const nameless = { ...rest, metadata: { generateName: "vm-", namespace: "default" } };
    const said = await refused(projectOf([vm("vm-b", both), nameless]), "plan", "m");
    expect(said).toMatch(/m\/vms.yaml:3:\d+: a VM that has addresses of its own needs a name/);
    const { metadata: __, ...other } = vm("vm-a", { green: "green" });
    const free = { ...other, metadata: { generateName: "vm-", namespace: "default" } };
    expect(await done(projectOf([free]), "plan", "m")).toContain("Plan: 0 to allocate");
  });

  it("a folder of networks alone needs no nodes", async () => {
    expect(await done(projectOf([]), "plan", "m")).toContain("Plan: 0 to allocate");
  });
});

describe("VMs that ask in two ways", () => {
  const lan = projectWith("vlan-20");
  function projectWith(bound: string) {
    return (...objects: Bag[]) => projectOf(objects, [blue, macvlanNetwork("red", bound)]);
  }
  const wanting = (address: string) => vm("vm-a", { red: "red" }, { wanted: { red: [address] } });
  const instanceOf = (one: Bag): Bag => {
    const { metadata, spec } = one as { metadata: Bag; spec: { template: Bag } };
    const template = spec.template as { metadata: Bag; spec: Bag };
    return {
      apiVersion: "kubevirt.io/v1",
      kind: "VirtualMachineInstance",
      metadata: { ...metadata, ...template.metadata },
      spec: template.spec,
    };
  };
  const claim = (...ips: string[]): Bag => ({
    apiVersion: "k8s.cni.cncf.io/v1alpha1",
    kind: "IPAMClaim",
    metadata: { name: "vm-a.red", namespace: "default" },
    spec: { network: "red", interface: "net1" },
    status: { ips },
  });

  it.each([
    ["first", (a: Bag, b: Bag) => [a, b]],
    ["last", (a: Bag, b: Bag) => [b, a]],
  ])(
    "an instance that asks otherwise than its VM, which comes %s, is an error; one asks for both",
    async (_, order) => {
      const otherwise = lan(...order(wanting("10.20.0.5"), instanceOf(wanting("10.20.0.6"))));
      expect(await refused(otherwise, "plan", "m")).toContain("default/vm-a.red is asked for twice, and otherwise");
      const folder = lan(...order(vm("vm-a", { red: "red" }), instanceOf(wanting("10.20.0.6"))));
      await done(folder, "allocate", "m");
      expect(await rendered(folder)).toEqual([expect.stringContaining("10.20.0.6/24")]);
    },
  );

  it("B3: what a claim shows is not replaced by what its VM wants", async () => {
    const message = "VM vm-a wants 10.20.0.5, and its claim has 10.20.0.9";
    expect(await refused(lan(wanting("10.20.0.5"), claim("10.20.0.9/24")), "plan", "m")).toContain(message);
    const folder = projectWith("vlan-20, vlan-20-v6")(wanting("10.20.0.5"), claim("10.20.0.5/24", "fd20::7/64"));
    await done(folder, "allocate", "m");
    expect(await rendered(folder)).toEqual(["default/vm-a.red red net1 10.20.0.5/24 fd20::7/64"]);
  });

  it("an address for a network that the VM does not have is an error", async () => {
    const folder = lan(vm("vm-a", { red: "red" }, { wanted: { reed: ["10.20.0.5"] } }));
    expect(await refused(folder, "plan", "m")).toContain("the VM has no network reed; did you mean red?");
  });

  it("a network of any name has a pool", async () => {
    const udn = ovnNetwork("blue", { name: "apps_tenant.Blue", subnets: "192.168.10.0/24" });
    const folder = projectOf([vm("vm-a", { blue: "blue-netconfig" })], [udn]);
    expect(await done(folder, "allocate", "m")).toContain("Pool apps-tenant-blue-");
    expect(await rendered(folder)).toEqual([expect.stringContaining("apps_tenant.Blue pod")]);
  });
});
