import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Bag } from "../../../schema/objects.ts";
import { done, refused } from "../../support/cli/outcome.ts";
import { definition, macvlanNetwork } from "../../support/objects/vm-objects.ts";
import { networksKey, workload } from "../../support/objects/workload-objects.ts";
import { folderOf } from "../../support/schema/cli.ts";
import { poolText } from "../../support/schema/text.ts";

const plugin = { type: "macvlan", master: "eth1" };
const networks = [
  macvlanNetwork("red", "p, q"),
  definition("open", "default", {
    name: "open",
    plugins: [{ ...plugin, capabilities: { ips: true }, ipam: { type: "static" } }],
  }),
  definition("dhcp", "default", { name: "dhcp", ...plugin, capabilities: { ips: true }, ipam: { type: "dhcp" } }),
];
const set = (names: string, replicas = 1) => workload("StatefulSet", "db", { replicas }, names);

function folderWith(pool: string, ...objects: Bag[]): string {
  const pools = [poolText(`  range: {cidr: 10.0.0.0/30}${pool}`), poolText(`  range: {cidr: 10.1.0.0/24}${pool}`, "q")];
  return folderOf({
    "m/a.yaml": [...pools, ...networks.map((one) => JSON.stringify(one))].join("\n---\n"),
    "m/web.yaml": objects.map((one) => JSON.stringify(one)).join("\n---\n"),
  });
}
const explain = (folder: string, ...words: string[]) =>
  done(folder, "explain", "--workload", "m/web.yaml", "--pools", "m", ...words);

describe("explain --workload says why pods get no address on a network:", () => {
  it.each([
    ["open", "no pools are named for it: by the template, its namespace or the network, nor has one default: true"],
    [
      "rde",
      "no NetworkAttachmentDefinition default/rde that takes addresses is among the manifests; did you mean default/red?",
    ],
    [
      "shop/red",
      "no NetworkAttachmentDefinition shop/red that takes addresses is among the manifests; did you mean default/red?",
    ],
    [
      "dhcp",
      'NetworkAttachmentDefinition default/dhcp takes no addresses. Give its plugin "capabilities": {"ips": true} and "ipam": {"type": "static"}.',
    ],
  ])("%s", async (network, why) => {
    const folder = folderWith("", set(network));
    const title = `StatefulSet/default:db  net1 (${network.includes("/") ? network : `default/${network}`})`;
    expect(await explain(folder)).toBe(`${title}\n  no address: ${why}\n`);
    expect(JSON.parse(await explain(folder, "--json"))).toEqual([{ title, pools: [], why }]);
  });
});

it("explain --workload is of pools of the controller, too, and says so", async () => {
  const folder = folderWith("\n  authority: Cluster", set("red"));
  expect(await explain(folder)).toMatch(
    /^StatefulSet\/default:db {2}net1 \(default\/red\) {2}IPv4 {2}by the controller\n/,
  );
  expect(await refused(folder, "plan", "m")).toContain("pool p has authority Cluster");
});

it("explain --workload says what pods keep of a pool that is used up", async () => {
  const folder = folderWith("", set("red, red@eth5", 2));
  await done(folder, "allocate", "m");
  expect(await explain(folder)).toBe(`\
StatefulSet/default:db  net1 (default/red)  IPv4
  #  POOL  NAMED BY  WHY
  1  q     network   keeps the 1 that it has
  -  p     network   dropped: exhausted (0 of 2 free), keeps the 1 that it has
StatefulSet/default:db  eth5 (default/red)  IPv4
  #  POOL  NAMED BY  WHY
  1  q     network   keeps the 1 that it has
  -  p     network   dropped: exhausted (0 of 2 free), keeps the 1 that it has
`);
  const other = set("red");
  const template = { metadata: { annotations: { [networksKey]: "red", "nodeippool.nmstate.io/pool": "q" } } };
  writeFileSync(join(folder, "m/web.yaml"), JSON.stringify({ ...other, spec: { ...other.spec, template } }));
  expect(await explain(folder)).toContain(`
  1  q     workload  keeps the 1 that it has
  -  p     network   not asked: pools of the pod come first
`);
});
