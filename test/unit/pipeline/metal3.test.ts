import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { formatAddress, IpamError } from "../../../core/index.ts";
import { readDesired } from "../../../pipeline/desired.ts";
import { readFolder, renderFolder } from "../../../pipeline/folder.ts";
import { integrations } from "../../../pipeline/integrations.ts";
import { runOnce } from "../../../pipeline/run-once.ts";
import { memory } from "../../../state/index.ts";
import { root } from "../../support/console.ts";

const seed = readFileSync(join(root, "examples/metal3/seed.yaml"), "utf8");

/** Allocates what a configuration asks for, and renders it. */
async function allocate(text: string, state = memory()) {
  const files = [{ path: "infra.yaml", text }];
  const manifests = readFolder(files);
  const read = () => readDesired({ ...manifests }, integrations);
  const { rendered } = await runOnce(read, state, { set: "default", confirmRelease: true });
  const { allocations, releasing } = await state.read();
  const lines = allocations.map(({ address, claim }) => `${formatAddress(address)} ${claim}`);
  return {
    state,
    lines,
    releasing,
    left: rendered().left,
    text: renderFolder(files, manifests, rendered())[0]?.text ?? "",
  };
}

describe("a configuration of bare-metal hosts, as the proposal writes it (I2, I3, I5)", () => {
  const seedLines = [
    "192.168.0.10 Host/controllers.node-0/net0",
    "192.168.0.11 Host/nodepool1.node-0/net0",
    "192.168.1.10 Host/controllers.node-0/net1",
    "192.168.1.11 Host/nodepool1.node-0/net1",
  ];

  it("gives each host an address in each network that its unit uses, and renders its network data", async () => {
    const { lines, text } = await allocate(seed);
    expect(lines).toEqual(seedLines);
    expect(text.match(/^kind: .*$/gm)).toEqual([
      "kind: Secret",
      "kind: BareMetalHost",
      "kind: Secret",
      "kind: BareMetalHost",
    ]);
    for (const line of lines) expect(text).toContain(`ip_address: ${line.split(" ")[0]}\n`);
  });

  it("moves nobody when a unit joins before them, and gives the addresses of one that leaves to nobody (R15, R21)", async () => {
    const { state } = await allocate(seed);
    const [head, unit] = seed.split("nodepools:\n") as [string, string];
    const earlier = unit
      .replace("nodepool1:", "another:")
      .replaceAll("nodepool1", "another")
      .replaceAll("00:c8", "00:c9");
    const { lines } = await allocate(`${head}nodepools:\n${earlier.trimEnd()}\n${unit}`, state);
    expect(lines).toEqual(expect.arrayContaining(seedLines));
    expect(lines).toHaveLength(6);
    const without = await allocate(`${head}nodepools:\n${earlier}`, state);
    expect(without.releasing.map(({ claim }) => claim)).toEqual([
      "Host/nodepool1.node-0/net0",
      "Host/nodepool1.node-0/net1",
    ]);
    expect(without.left.map(({ line }) => line.claim)).toEqual(without.releasing.map(({ claim }) => claim));
    expect(without.lines).not.toContain(seedLines[1]);
  });

  it("says everything that is wrong, each with its place", async () => {
    const wrong = seed.replace("netmask: 24", "netmask: 240").replace("ip['net1']", "ip['net7']");
    const error = await allocate(wrong).catch((one) => one);
    expect(error).toBeInstanceOf(IpamError);
    const places = (error as IpamError).issues.map(({ at }) => `${at?.file}:${at?.line}`);
    const lineOf = (part: string) => `infra.yaml:${wrong.split("\n").findIndex((line) => line.includes(part)) + 1}`;
    expect(places).toEqual(expect.arrayContaining([lineOf("netmask: 240"), lineOf("net7")]));
  });
});
