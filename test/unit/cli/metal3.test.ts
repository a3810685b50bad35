import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { quoteInfra } from "../../../integrations/metal3/quote-infra.ts";
import { exampleText } from "../../support/cli/metal3-infra.ts";
import { cli, filesOf, folderOf, lockText } from "../../support/schema/cli.ts";
import { poolText } from "../../support/schema/text.ts";

const seed = quoteInfra(exampleText("seed.yaml"));
const rack = exampleText("rack.yaml");
const image = "{url: http://image, checksum: http://image.sha256}";

interface Labelled {
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
  readonly spec: { readonly hostSelector: { readonly matchLabels: Readonly<Record<string, string>> } };
}

/** A folder with this configuration, and a lock with what it asks for. */
async function allocated(text: string): Promise<string> {
  const folder = folderOf({ "infra.yaml": text });
  expect(await cli(["allocate", "infra.yaml"], folder)).toMatchObject({ status: 0 });
  return folder;
}

async function render(folder: string): Promise<{ kind: string; metadata: { name: string }; spec: never }[]> {
  const { stdout, status } = await cli(["render", "infra.yaml"], folder);
  expect(status).toBe(0);
  return parseAllDocuments(stdout).map((document) => document.toJS());
}

/** How many objects there are of each kind. */
function kindsOf(objects: readonly { kind: string }[]): Record<string, number> {
  return Object.fromEntries([...Map.groupBy(objects, ({ kind }) => kind)].map(([kind, { length }]) => [kind, length]));
}

describe("the cluster section says which objects are rendered", () => {
  it.each([
    ["", { Secret: 20, BareMetalHost: 20 }],
    ["{name: blue}", { Metal3DataTemplate: 3, Secret: 20, BareMetalHost: 20 }],
    [
      `{mode: machines, name: blue, image: ${image}}`,
      { Secret: 20, KubeadmConfig: 20, Metal3Machine: 20, Machine: 20, BareMetalHost: 20 },
    ],
    [
      `{mode: machines, name: blue, network: os-net-config, image: ${image}}`,
      { Secret: 3, KubeadmConfig: 20, Metal3Machine: 20, Machine: 20, BareMetalHost: 20 },
    ],
    ["{mode: pools, name: blue}", { IPPool: 4, Metal3DataTemplate: 3, BareMetalHost: 20 }],
  ])("%s", async (section, expected) => {
    const folder = await allocated(section === "" ? rack : `cluster: ${section}\n${rack}`);
    expect(kindsOf(await render(folder))).toEqual(expected);
  });

  it.each([["network-data"], ["os-net-config"]])(
    "a machine is on the host that its addresses are for: %s",
    async (network) => {
      const section = `cluster: {mode: machines, name: blue, network: ${network}, image: ${image}}\n`;
      const objects = await render(await allocated(section + rack));
      const of = (kind: string) => objects.filter((one) => one.kind === kind) as unknown as Labelled[];
      const [machines, hosts] = [of("Metal3Machine"), of("BareMetalHost")];
      const selects = ({ spec }: Labelled, { metadata }: Labelled) =>
        Object.entries(spec.hostSelector.matchLabels).every(([key, value]) => metadata.labels[key] === value);
      expect(
        machines.map((machine) => hosts.filter((host) => selects(machine, host)).map(({ metadata }) => metadata.name)),
      ).toEqual(machines.map(({ metadata }) => [metadata.name]));
    },
  );

  it("the addresses of a host that is releasing stay its own in an IPPool, and a network without hosts has none", async () => {
    const text = `cluster: {mode: pools, name: blue}\n${seed}`;
    const folder = await allocated(text);
    const given = async () =>
      (await render(folder)).flatMap(({ kind, metadata, spec }) =>
        kind === "IPPool" ? [[metadata.name, (spec as { preAllocations: object }).preAllocations]] : [],
      );
    const before = await given();
    expect(before).toEqual([
      ["net0", { "controllers-node-0-net0": "192.168.0.10", "nodepool1-node-0-net0": "192.168.0.11" }],
      ["net1", { "controllers-node-0-net1": "192.168.1.10", "nodepool1-node-0-net1": "192.168.1.11" }],
    ]);
    const unused = "    net9: {netmask: 24, addresses: [192.168.9.9]}\n";
    const fewer = text.slice(0, text.indexOf("nodepools:")).replace("    net1:\n", `${unused}    net1:\n`);
    writeFileSync(join(folder, "infra.yaml"), fewer);
    expect(await cli(["allocate", "infra.yaml"], folder)).toMatchObject({ status: 0 });
    expect(readFileSync(join(folder, "nodeippool.lock"), "utf8")).toMatch(/^releasing:\n- .*nodepool1/m);
    expect(await given()).toEqual(before);
  });

  it("a host must not come under the name of one that still has addresses; one that is renamed keeps them", async () => {
    const folder = await allocated(seed);
    const [controllers = "", pools = ""] = seed.split("nodepools:");
    const regrouped = pools.replace("nodepool1:", "nodepool1-node:").replace("node-0:", '"0":');
    writeFileSync(join(folder, "infra.yaml"), `${controllers}nodepools:${regrouped}`);
    const { status, stderr } = await cli(["allocate", "infra.yaml"], folder);
    expect(status).toBe(2);
    expect(stderr).toMatch(
      /Host\/nodepool1-node.0 would be called nodepool1-node-0, as those of Host\/nodepool1.node-0, which has 192.168.0.11/,
    );
    await cli(["mv", "Host/nodepool1.node-0", "Host/nodepool1-node.0"], folder);
    expect(await cli(["allocate", "infra.yaml"], folder)).toMatchObject({ status: 0 });
    expect(readFileSync(join(folder, "nodeippool.lock"), "utf8")).toContain(
      '"192.168.0.11","pool":"net0","claim":"Host/nodepool1-node.0/net0"',
    );
  });

  const team = rack.replaceAll("type: linux_bond", "type: team");

  it("what network data cannot say is said once, with what can", async () => {
    const folder = folderOf({ "infra.yaml": `cluster: {mode: hosts}\n${team}` });
    const { stderr, status } = await cli(["allocate", "infra.yaml"], folder);
    expect(status).toBe(2);
    expect(stderr.match(/network data has no team/g)).toHaveLength(3);
    expect(stderr.match(/cluster has mode: machines and network: os-net-config for that/g)).toHaveLength(3);
    const section = `cluster: {mode: machines, name: blue, network: os-net-config, image: ${image}}\n`;
    writeFileSync(join(folder, "infra.yaml"), section + team);
    expect(await cli(["allocate", "infra.yaml"], folder)).toMatchObject({ status: 0 });
  });

  it("a file that asks for no objects may be for os-net-config alone: render refuses manifests, and writes its files", async () => {
    const folder = folderOf({ "infra.yaml": team });
    for (const verb of ["plan", "allocate"]) {
      const { stdout, stderr, status } = await cli([verb, "infra.yaml"], folder);
      expect([stderr, status]).toEqual(["", 0]);
      expect(stdout).toMatch(
        /^Note: infra.yaml:\d+:\d+: network data has no team. As files: nodeippool render --format os-net-config --out FOLDER$/m,
      );
    }
    const manifests = await cli(["render", "infra.yaml"], folder);
    expect([manifests.stdout, manifests.status]).toEqual(["", 2]);
    expect(manifests.stderr).toMatch(/^(invalid: )?infra.yaml:\d+:\d+: network data has no team$/m);
    expect(await cli(["render", "infra.yaml", "--format", "os-net-config", "--out", "files"], folder)).toMatchObject({
      stderr: "",
      status: 0,
    });
    expect(readFileSync(join(folder, "files/compute/compute-00.yaml"), "utf8")).toContain("type: team");
  });

  it.each([
    ["name: bond0", "name: eno1", "eno1 stands here a second time"],
    ["bonding_options: mode=802.3ad", "bonding_options: mode=8023ad", "a bond has no mode 8023ad"],
    ["device: bond0", "device: bond1", "bond1 is no link that vlan220 could be on"],
  ])("a plain mistake is refused, and nothing is said of os-net-config: %s", async (from, to, message) => {
    const folder = folderOf({ "infra.yaml": rack.replaceAll(from, to) });
    const { stderr, status } = await cli(["allocate", "infra.yaml"], folder);
    expect(stderr).toContain(message);
    expect(stderr).not.toContain("os-net-config");
    expect(status).toBe(2);
  });
});

describe("DNS servers", () => {
  const dns = (value: string) =>
    seed
      .replaceAll(/dns_servers: .*/g, `dns_servers: ${value}`)
      .replace(
        "    net1:\n      netmask: 24\n",
        "    net1:\n      netmask: 24\n      dnsServers: [8.8.4.4, 192.168.1.53]\n",
      );
  const [a, b] = ["net0", "net1"].map((network) => `"{{ config['${network}'].dnsServers }}"`);

  it("of two networks are joined, each once, with others that are written out", async () => {
    const folder = await allocated(dns(`[${a}, ${b}, 9.9.9.9, 8.8.8.8]`));
    const secret = (await render(folder)).find(({ kind }) => kind === "Secret") as unknown as {
      stringData: { networkData: string };
    };
    const servers = ["8.8.8.8", "8.8.4.4", "192.168.1.53", "9.9.9.9"];
    expect(parse(secret.stringData.networkData).services).toEqual(servers.map((address) => ({ type: "dns", address })));
    await cli(["render", "infra.yaml", "--format", "os-net-config", "--out", "files"], folder);
    const { network_config } = parse(readFileSync(join(folder, "files/nodepool1/node-0.yaml"), "utf8"));
    expect(network_config[0].dns_servers).toEqual(servers);
  });

  it.each([
    [`"{{ config['net0'].dnsServers }}, {{ config['net1'].dnsServers }}"`, "lists are joined as items of one list: ["],
    [`"{{ config['net0'].dnsServers + config['net1'].dnsServers }}"`, "lists are joined as items of one list: ["],
    [`[${a}, "{{ config['net2'].dnsServers }}"]`, "network net2 is not defined"],
    [`[${a}, 8.8.8]`, '"8.8.8" has 3 octets'],
  ])("%s: refused, with its line", async (value, message) => {
    const folder = folderOf({ "infra.yaml": dns(value) });
    const { stderr, status } = await cli(["plan", "infra.yaml"], folder);
    expect(stderr).toMatch(/infra.yaml:3[2-5]:\d+: /);
    expect(stderr).toContain(message);
    expect(status).toBe(2);
  });
});

describe("--format os-net-config", () => {
  const files = ["infra.yaml", "--format", "os-net-config", "--out", "files"];
  const written = (folder: string) => Object.keys(filesOf(join(folder, "files")));

  it("a file for each host, and the MAC mapping of each unit; nothing is written twice", async () => {
    const folder = await allocated(seed);
    const { stdout } = await cli(["render", ...files], folder);
    expect(stdout).toBe("Rendered 4 files to files: 4 written, 0 unchanged, 0 removed.\n");
    expect(written(folder)).toEqual([
      ".nodeippool-rendered",
      "controllers/mac-mapping.sh",
      "controllers/node-0.yaml",
      "nodepool1/mac-mapping.sh",
      "nodepool1/node-0.yaml",
    ]);
    const text = readFileSync(join(folder, "files/nodepool1/node-0.yaml"), "utf8");
    expect(parse(text)).toMatchObject({
      network_config: [
        { addresses: [{ ip_netmask: "192.168.0.11/24" }], dns_servers: ["8.8.8.8", "8.8.4.4"] },
        { name: "em0", addresses: [{ ip_netmask: "192.168.1.11/24" }] },
      ],
    });
    const script = readFileSync(join(folder, "files/nodepool1/mac-mapping.sh"), "utf8");
    expect(script).toContain("00:c8:7c:e6:f0:3e");
    expect(script).not.toContain("00:c8:7c:e6:f0:2e");
    const times = () => written(folder).map((name) => statSync(join(folder, "files", name), { bigint: true }).mtimeNs);
    const before = times();
    expect((await cli(["render", ...files], folder)).stdout).toContain("0 written, 4 unchanged, 0 removed");
    expect(times()).toEqual(before);
  });

  it("the files of a unit that left go, and no others", async () => {
    const folder = await allocated(seed);
    await cli(["render", ...files], folder);
    writeFileSync(join(folder, "files/notes.txt"), "mine");
    writeFileSync(join(folder, "infra.yaml"), seed.slice(0, seed.indexOf("nodepools:")));
    await cli(["allocate", "infra.yaml"], folder);
    expect((await cli(["render", ...files], folder)).stdout).toContain("0 written, 2 unchanged, 2 removed");
    expect(written(folder)).toEqual([
      ".nodeippool-rendered",
      "controllers/mac-mapping.sh",
      "controllers/node-0.yaml",
      "notes.txt",
    ]);
  });

  it.each([
    [["--format", "netplan", "--out", "x"], "there is no format netplan; formats are manifests, os-net-config"],
    [["--format", "os-net-config"], "os-net-config is rendered as files, and no folder is named for them"],
  ])("%j: is refused", async (options, message) => {
    const folder = await allocated(seed);
    const { stderr, status } = await cli(["render", "infra.yaml", ...options], folder);
    expect(stderr).toContain(message);
    expect(status).toBe(2);
  });

  it("is refused in the folder of the manifests, and where there are no hosts", async () => {
    const folder = await allocated(seed);
    await cli(["render", "infra.yaml", "--out", "files"], folder);
    const before = filesOf(folder);
    expect(await cli(["render", ...files], folder)).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("each format, is rendered into a folder of its own"),
    });
    expect(filesOf(folder)).toEqual(before);
    const other = folderOf({ "infra.yaml": poolText("  range: {cidr: 10.0.0.0/29}"), "nodeippool.lock": lockText() });
    expect(await cli(["render", ...files], other)).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("nothing in these manifests is rendered as os-net-config"),
    });
  });

  it("is drift where the lock lacks a host", async () => {
    const folder = folderOf({ "infra.yaml": seed });
    expect(await cli(["render", ...files], folder)).toMatchObject({ status: 5, stdout: "" });
  });
});
