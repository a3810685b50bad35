import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Ajv } from "ajv";
import { beforeEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { formatAddress, unwrap } from "../../core/index.ts";
import type { Infra, Unit } from "../../integrations/metal3/infra.ts";
import { type NetworkData, networkData } from "../../integrations/metal3/network-data.ts";
import { osNetConfig } from "../../integrations/metal3/os-net-config.ts";
import { yamlOf } from "../../schema/yaml-text.ts";
import { addressesOf, allocated, exampleText, infraOf } from "../support/cli/metal3-infra.ts";
import { cloudInitFolder, pythonFolder, runPython } from "../support/tools/python-tools.ts";
import { BUILD_TIMEOUT, orSkip } from "../support/tools/tools.ts";

// What hosts are given, held against what reads it: os-net-config's own validator, Ironic's schema, cloud-init, PyYAML.

beforeEach(async (context) => {
  await orSkip(context, Promise.all([pythonFolder(), cloudInitFolder()]));
}, BUILD_TIMEOUT);

const infras = ["seed.yaml", "rack.yaml"].map((name): [string, Infra] => [name, infraOf(exampleText(name))]);

/** Every host, with its addresses. */
function hostsOf(infra: Infra) {
  const all = allocated(infra);
  return infra.units.flatMap((unit: Unit) =>
    unit.hosts.map((host) => ({ unit, host, addresses: addressesOf(infra, unit, host.name, all) })),
  );
}

describe.each(infras)("%s", (_, infra) => {
  const hosts = hostsOf(infra);
  const dataOf = ({ unit, host, addresses }: (typeof hosts)[number]): NetworkData =>
    unwrap(networkData(infra, unit, host, addresses));

  it("R28: os-net-config's validator takes every host's file", async () => {
    const files = hosts.map(({ unit, addresses }) => yamlOf(osNetConfig(infra, unit, addresses)));
    const program = `
import json, sys, yaml
from os_net_config import validator
print(json.dumps([validator.validate_config(yaml.safe_load(text)["network_config"]) for text in json.loads(sys.argv[1])]))`;
    const check = async (texts: readonly string[]) =>
      JSON.parse(await runPython(["-c", program, JSON.stringify(texts)])) as string[][];
    expect((await check(files)).flat()).toEqual([]);
    const broken = files.slice(0, 1).map((text) => text.replace(/ip_netmask: .*/, "ip_netmask: 10.0.0.1"));
    expect((await check(broken)).every((errors) => errors.length > 0)).toBe(true);
  });

  it("Ironic's schema takes every host's network data, with network_id", async () => {
    const path = "ironic/api/controllers/v1/network-data-schema.json";
    // JavaScript has no (?i).
    const text = readFileSync(join(await pythonFolder(), path), "utf8").replace("(?i)^([0-9A-F]", "^([0-9A-Fa-f]");
    const { id: _, ...schema } = JSON.parse(
      text.replace("([0-9A-F]{2})$", "([0-9A-Fa-f]{2})$").replaceAll(/"\$id": "[^"]*",?/g, ""),
    );
    const takes = new Ajv({ strict: false, allErrors: true }).compile(schema);
    for (const one of hosts) expect(takes(dataOf(one)) || takes.errors).toBe(true);
    const { networks, ...rest } = dataOf(hosts[0] as never);
    expect(takes({ ...rest, networks: networks.map(({ network_id: _, ...network }) => network) })).toBe(false);
  });

  it("cloud-init makes a netplan of it with every address, route and DNS server", async () => {
    for (const unit of infra.units) {
      const one = hosts.find((host) => host.unit === unit) as (typeof hosts)[number];
      const data = dataOf(one);
      const { ethernets = {}, bonds = {}, vlans = {} } = (await netplanOf(data)).network;
      const links = Object.values({ ...ethernets, ...bonds, ...vlans });
      const planned = links.flatMap(({ addresses = [] }) => addresses).sort();
      const ours = [...one.addresses].map(([network, address]) => {
        const { pool } = infra.networks.get(network) as never as { pool: { prefix: { length: number } } };
        return `${formatAddress(address)}/${pool.prefix.length}`;
      });
      expect(planned).toEqual(ours.sort());
      const routes = data.networks.flatMap((network) => network.routes.map(({ gateway }) => gateway)).sort();
      expect(links.flatMap((link) => (link.routes ?? []).map(({ via }) => via)).sort()).toEqual(routes);
      const servers = new Set(links.flatMap(({ nameservers }) => nameservers?.addresses ?? []));
      expect(servers).toEqual(new Set(data.services.map(({ address }) => address)));
      expect(Object.values(bonds).map(({ interfaces = [] }) => interfaces.length)).toEqual([2]);
    }
  });

  it("cloud-init refuses the network data of another host: so a machine with it selects the very host", async () => {
    const [one, other] = [hosts[0], hosts.at(-1)].map((host) => dataOf(host as never)) as [NetworkData, NetworkData];
    const nics = other.links.filter(({ type }) => type === "phy");
    await expect(netplanOf(one, nics)).rejects.toThrow("Unable to find a system nic");
  });
});

interface PlannedLink {
  readonly addresses?: string[];
  readonly interfaces?: string[];
  readonly routes?: { to: string; via: string }[];
  readonly nameservers?: { addresses: string[] };
}

/** What cloud-init makes of network data on a machine with these NICs; by default those in the data. */
async function netplanOf(data: NetworkData, nics = data.links.filter(({ type }) => type === "phy")) {
  const folder = mkdtempSync(join(tmpdir(), "netplan-"));
  writeFileSync(join(folder, "network_data.json"), JSON.stringify(data));
  const macs = nics.flatMap(({ ethernet_mac_address: mac }, i) => ["-m", `eth${i},${mac}`]);
  const convert = ["-m", "cloudinit.cmd.main", "devel", "net-convert", "--network-data", "network_data.json"];
  const kinds = ["--kind", "network_data.json", "--output-kind", "netplan", "-D", "debian", "-d", "out"];
  await runPython([...convert, ...kinds, ...macs], { cwd: folder });
  const out = join(folder, "out/etc/netplan");
  const [name = ""] = readdirSync(out);
  return parse(readFileSync(join(out, name), "utf8")) as {
    network: { [kind in "ethernets" | "bonds" | "vlans"]?: Record<string, PlannedLink> };
  };
}
