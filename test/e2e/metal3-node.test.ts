import { beforeEach, describe, expect, it } from "vitest";
import type { Unit } from "../../integrations/metal3/infra.ts";
import { mappingScript } from "../../integrations/metal3/mac-mapping.ts";
import { osNetConfig } from "../../integrations/metal3/os-net-config.ts";
import { yamlOf } from "../../schema/yaml-text.ts";
import { addressesOf, exampleText, infraOf } from "../support/cli/metal3-infra.ts";
import { onMachine, osNetConfigCommand } from "../support/real/metal3-node.ts";
import { cloudInitFolder, pythonFolder } from "../support/tools/python-tools.ts";
import { BUILD_TIMEOUT, orSkip } from "../support/tools/tools.ts";

// What runs on a host: the script that finds out which one it is, and os-net-config with what it wrote.

beforeEach(async (context) => {
  await orSkip(context, Promise.all([pythonFolder(), cloudInitFolder()]));
}, BUILD_TIMEOUT);

const rack = infraOf(exampleText("rack.yaml"));
const compute = rack.units.find(({ name }) => name === "compute") as Unit;
/** The NICs of compute-07, in capitals. */
const macs = { eno1: "52:54:00:02:07:00", ens1f0: "52:54:00:02:07:01", ens1f1: "52:54:00:02:07:02" };
const files = { "/etc/map": mappingScript(compute) };
const show = "sh /etc/map; echo $?; cat /etc/os-net-config/mapping.yaml";

describe("the mapping script (R31, R32, I6, I10)", () => {
  it("finds its host among twelve, by any NIC, whatever they are called and however their addresses are written", async () => {
    const nics = { a: macs.eno1.toUpperCase(), b: macs.ens1f0, c: macs.ens1f1 };
    const { stdout, stderr } = await onMachine({ nics, files }, show);
    const mapping = Object.entries(macs).map(([nic, mac]) => `  "${nic}": "${mac}"\n`);
    expect(stdout).toBe(`0\ninterface_mapping:\n${mapping.join("")}`);
    expect(stderr).toBe("");
  });

  it("maps no NIC that is called so already", async () => {
    expect((await onMachine({ nics: macs, files }, show)).stdout).toBe("0\ninterface_mapping: {}\n");
    const nics = { eno1: macs.eno1, b: macs.ens1f0, ens1f1: macs.ens1f1 };
    const { stdout } = await onMachine({ nics, files }, show);
    expect(stdout).toBe(`0\ninterface_mapping:\n  "ens1f0": "${macs.ens1f0}"\n`);
  });

  it("R33: PyYAML reads a MAC address of digits, and a NIC called on, as they are", async () => {
    const nics = { on: "10:11:22:33:44:55" };
    const script = mappingScript({ name: "u", hosts: [{ name: "n", macs: new Map(Object.entries(nics)) }] });
    const load = (text: string) =>
      `python3 -c 'import json, sys, yaml; print(json.dumps(yaml.safe_load(sys.stdin)))' ${text}`;
    const commands = [
      "sh /etc/map",
      load("< /etc/os-net-config/mapping.yaml"),
      `echo '{on: 10:11:22:33:44:55}' | ${load("")}`,
    ];
    const { stdout } = await onMachine({ nics: { a: nics.on }, files: { "/etc/map": script } }, commands.join("\n"));
    const [ours, plain] = stdout.trim().split("\n");
    expect(JSON.parse(ours ?? "")).toEqual({ interface_mapping: nics });
    expect(JSON.parse(plain ?? "")).toEqual({ true: 7923433495 });
  });

  it.each([
    ["none of them", { a: "52:54:00:99:00:00" }, "this machine has none of the MAC addresses of these hosts; it has"],
    [
      "two of them",
      { ...macs, x: "52:54:00:02:08:00" },
      "this machine has MAC addresses of compute-07, compute-08; it has",
    ],
    ["one that lacks a NIC", { eno1: macs.eno1, ens1f0: macs.ens1f0 }, "compute-07 lacks ens1f1 52:54:00:02:07:02"],
  ])("says so, and exits with 1, where the machine is %s", async (_, nics, said) => {
    const { stdout, stderr } = await onMachine({ nics, files }, "sh /etc/map; echo $?; ls /etc/os-net-config");
    expect(stdout).toBe("1\n");
    expect(stderr).toContain(said);
  });
});

describe("os-net-config with it", () => {
  const run = (unit: Unit, host: string, infra: typeof rack, nics: Record<string, string>) =>
    onMachine(
      {
        nics,
        files: {
          "/etc/map": mappingScript(unit),
          "/etc/config.yaml": yamlOf(osNetConfig(infra, unit, addressesOf(infra, unit, host))),
        },
      },
      `sh /etc/map && ${osNetConfigCommand("--noop", "-p", "ifcfg", "-c", "/etc/config.yaml", "-m", "/etc/os-net-config/mapping.yaml", "--detailed-exit-codes")}; echo $?`,
    );

  it("plans the addresses of the study for node-0, on the NICs that its aliases stand for", async () => {
    const seed = infraOf(exampleText("seed.yaml"));
    const nics = { x0: "00:c8:7c:e6:f0:2e", x1: "00:c8:7c:e6:f0:2f", x2: "00:c8:7c:e6:f0:30" };
    const { stdout } = await run(seed.units[0] as Unit, "node-0", seed, nics);
    expect(stdout).toContain("DEVICE=br-ctlplane");
    expect(fileOf(stdout, "ifcfg-br-ctlplane")).toMatch(
      /IPADDR=192\.168\.0\.10\nNETMASK=255\.255\.255\.0[\s\S]*DNS1=8\.8\.8\.8\nDNS2=8\.8\.4\.4/,
    );
    expect(fileOf(stdout, "route-br-ctlplane")).toContain("default via 192.168.0.1 dev br-ctlplane");
    expect(fileOf(stdout, "ifcfg-x0")).toContain("IPADDR=192.168.1.10\nNETMASK=255.255.255.0");
    expect(fileOf(stdout, "ifcfg-bond1")).toContain('BOND_IFACES="x1 x2"');
  });

  it("plans bond, VLAN and both families for a host of the rack, whose NICs are called as in the configuration", async () => {
    const { stdout } = await run(compute, "compute-07", rack, macs);
    const bond = fileOf(stdout, "ifcfg-bond0");
    const held = addressesOf(rack, compute, "compute-07");
    expect([...held.keys()].sort()).toEqual(["cluster", "cluster6", "management", "storage"]);
    const text = JSON.stringify(osNetConfig(rack, compute, held));
    const [, v4] = /"(10\.20\.[^/"]+)\/23"/.exec(text) ?? [];
    const [, v6] = /"(2001:[^/"]+\/64)"/.exec(text) ?? [];
    expect(bond).toContain(`IPADDR=${v4}\nNETMASK=255.255.254.0`);
    expect(bond).toContain(`IPV6ADDR=${v6}`);
    expect(bond).toContain('BONDING_OPTS="mode=802.3ad miimon=100 xmit_hash_policy=layer3+4"');
    expect(fileOf(stdout, "ifcfg-vlan220")).toMatch(/PHYSDEV=bond0[\s\S]*IPADDR=10\.22\.0\./);
    expect(fileOf(stdout, "ifcfg-ens1f0")).toContain("MASTER=bond0");
  });
});

/** One of the files that os-net-config says it would write. */
function fileOf(stdout: string, name: string): string {
  return stdout.split("----\n").find((part) => part.includes(`/${name}\n`)) ?? "";
}
