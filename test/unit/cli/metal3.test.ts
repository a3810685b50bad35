import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { exampleText } from "../../support/metal3-infra.ts";
import { cli, folderOf } from "../../support/schema-cli.ts";

const seed = exampleText("seed.yaml");
const rack = exampleText("rack.yaml");
const image = "{url: http://image, checksum: http://image.sha256}";

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
      { Secret: 20, KubeadmConfig: 20, Metal3Machine: 20, Machine: 20 },
    ],
    [
      `{mode: machines, name: blue, network: os-net-config, image: ${image}}`,
      { Secret: 3, KubeadmConfig: 20, Metal3Machine: 20, Machine: 20 },
    ],
    ["{mode: pools, name: blue}", { IPPool: 4, Metal3DataTemplate: 3, BareMetalHost: 20 }],
  ])("%s", async (section, expected) => {
    const folder = await allocated(section === "" ? rack : `cluster: ${section}\n${rack}`);
    expect(kindsOf(await render(folder))).toEqual(expected);
  });

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

  it("what network data cannot say is said once, with what can", async () => {
    const text = rack.replaceAll("type: linux_bond", "type: team");
    const folder = folderOf({ "infra.yaml": text });
    const { stderr, status } = await cli(["allocate", "infra.yaml"], folder);
    expect(status).toBe(2);
    expect(stderr.match(/network data has no team/g)).toHaveLength(3);
    expect(stderr).toContain("cluster has mode: machines and network: os-net-config for that");
    const section = `cluster: {mode: machines, name: blue, network: os-net-config, image: ${image}}\n`;
    writeFileSync(join(folder, "infra.yaml"), section + text);
    expect(await cli(["allocate", "infra.yaml"], folder)).toMatchObject({ status: 0 });
  });
});
