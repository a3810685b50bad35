import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { exampleText } from "../../support/cli/metal3-infra.ts";
import { cli, filesOf, folderOf } from "../../support/schema/cli.ts";

// What the study wants of the record of bare-metal hosts, by the command line.

const seed = exampleText("seed.yaml");
/** The seed's first network with room for its two hosts alone. */
const narrow = seed.replace("192.168.0.250", "192.168.0.11");
const third = `    node-1:
      em0: "00:c8:7c:e6:f0:4e"
      em1: "00:c8:7c:e6:f0:4f"
      em2: "00:c8:7c:e6:f0:50"
`;

/** With one more host in the first unit. */
function grown(text: string): string {
  return text.replace("replicas: 1", "replicas: 2").replace("nodepools:\n", `${third}nodepools:\n`);
}

const lockOf = (folder: string) => readFileSync(join(folder, "nodeippool.lock"), "utf8");

/** The addresses of a host, as `NETWORK ADDRESS`. */
function held(folder: string, host: string): string[] {
  const lines = lockOf(folder).matchAll(/"address":"([\d.]+)","pool":"(\w+)","claim":"Host\/([^/]+)\//g);
  return [...lines].flatMap(([, address, network, of]) => (of === host ? [`${network} ${address}`] : [])).sort();
}

async function allocated(text: string): Promise<string> {
  const folder = folderOf({ "infra.yaml": text });
  expect(await cli(["allocate", "infra.yaml"], folder)).toMatchObject({ status: 0 });
  return folder;
}

it("R13, R17: a full network is an error that names it, and nothing is recorded", async () => {
  expect(narrow).not.toBe(seed);
  const folder = await allocated(narrow);
  const before = lockOf(folder);
  writeFileSync(join(folder, "infra.yaml"), grown(narrow));
  const { status, stderr } = await cli(["allocate", "infra.yaml"], folder);
  expect(stderr).toContain("net0");
  expect(status).toBe(3);
  expect(lockOf(folder)).toBe(before);
});

it("R20, R24: nothing is rendered that is not recorded, and what is lost is rendered again alike", async () => {
  const folder = folderOf({ "infra.yaml": seed });
  const render = () => cli(["render", "infra.yaml", "--out", "out"], folder);
  expect(await render()).toMatchObject({ status: 5 });
  expect(Object.keys(filesOf(folder))).toEqual(["infra.yaml"]);
  await cli(["allocate", "infra.yaml"], folder);
  expect(await render()).toMatchObject({ status: 0 });
  const before = filesOf(folder);
  rmSync(join(folder, "out"), { recursive: true });
  await cli(["allocate", "infra.yaml"], folder);
  expect(await render()).toMatchObject({ status: 0 });
  expect(filesOf(folder)).toEqual(before);
});

it("R39, R40: a host that is replaced under its name keeps its addresses, also in a network that is full", async () => {
  const folder = await allocated(grown(narrow.replace("192.168.0.11", "192.168.0.12")));
  const before = held(folder, "controllers.node-1");
  expect(before).toHaveLength(2);
  writeFileSync(join(folder, "infra.yaml"), narrow.replace("192.168.0.11", "192.168.0.12"));
  await cli(["allocate", "infra.yaml", "--confirm"], folder);
  expect(lockOf(folder)).toMatch(/^releasing:\n- .*controllers\.node-1/m);
  const other = third.replaceAll("00:c8", "06:c8");
  writeFileSync(
    join(folder, "infra.yaml"),
    grown(narrow.replace("192.168.0.11", "192.168.0.12")).replace(third, other),
  );
  expect(await cli(["allocate", "infra.yaml"], folder)).toMatchObject({ status: 0 });
  expect(held(folder, "controllers.node-1")).toEqual(before);
});

it("R38, I9: nothing is left for a node to fill in, and a network without gateway and DNS servers is one", async () => {
  expect(seed.match(/gateway:/g)).toHaveLength(1);
  const folder = await allocated(seed);
  for (const args of [[], ["--format", "os-net-config"]])
    expect(await cli(["render", "infra.yaml", ...args, "--out", `out${args.length}`], folder)).toMatchObject({
      status: 0,
    });
  const rendered = Object.entries(filesOf(folder)).filter(([path]) => path.startsWith("out"));
  expect(rendered.length).toBeGreaterThan(2);
  for (const [path, text] of rendered) expect(text, path).not.toContain("{{");
});

it("no host gets an address that the file names for something else, and audit finds nothing in what is rendered", async () => {
  const rack = exampleText("rack.yaml").replace("start: 10.20.0.10\n", "start: 10.20.0.240\n");
  expect(rack).toContain("next_hop: 10.20.0.254\n");
  const folder = await allocated(rack);
  expect(lockOf(folder)).toContain('"10.20.0.253"');
  expect(lockOf(folder)).not.toContain('"10.20.0.254"');
  await cli(["render", "--out", "rendered"], folder);
  expect(await cli(["audit", "rendered"], folder)).toMatchObject({ status: 0 });
});

it("nor does one get a DNS server of another network", async () => {
  const other = "    net9: {netmask: 24, addresses: [10.9.0.9], dnsServers: [192.168.0.10, 192.168.1.10]}\n";
  const folder = await allocated(seed.replace("    net1:\n", `${other}    net1:\n`));
  expect(held(folder, "controllers.node-0")).toEqual(["net0 192.168.0.11", "net1 192.168.1.11"]);
});
