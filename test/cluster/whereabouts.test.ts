import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import type { Bag } from "../../schema/objects.ts";
import { installWhereabouts } from "../support/cluster/kinds.ts";
import { clusterOfFile } from "../support/cluster/of-file.ts";
import { attachment, listAttachment, slicePool } from "../support/objects/whereabouts-objects.ts";
import { type Attached, WhereaboutsCni } from "../support/real/whereabouts-cni.ts";
import { cli, folderOf } from "../support/schema/cli.ts";

const cluster = clusterOfFile(installWhereabouts);

/** A folder of networks, of which the server has what is rendered. */
class Site {
  private readonly folder: string;

  constructor(networks: readonly Bag[]) {
    this.folder = folderOf({ "m/networks.yaml": networks.map((one) => JSON.stringify(one)).join("\n---\n") });
  }

  async run(...words: string[]): Promise<string> {
    const { status, stdout, stderr } = await cli(words, this.folder);
    expect({ status, stderr }).toEqual({ status: 0, stderr: expect.any(String) });
    return stdout;
  }

  /** Plans for these nodes, and applies what is rendered. */
  async roll(...nodes: string[]): Promise<void> {
    writeFileSync(join(this.folder, "nodes.txt"), `${nodes.join("\n")}\n`);
    await this.run("allocate", "m", "--nodes", "nodes.txt");
    const rendered = await this.run("render", "m", "--nodes", "nodes.txt");
    await cluster().kubectl(["apply", "--server-side", "-f", "-"], rendered);
  }

  /** The same, after an import of what the cluster has. */
  async take(found: Bag, ...nodes: string[]): Promise<void> {
    writeFileSync(join(this.folder, "nodes.txt"), `${nodes.join("\n")}\n`);
    writeFileSync(join(this.folder, "found.json"), JSON.stringify(found));
    await this.run("import", "found.json", "m", "--nodes", "nodes.txt");
    await this.roll(...nodes);
  }

  /** The slice of each node, as it is rendered. */
  async slices(network: string): Promise<Record<string, string>> {
    const rendered = await this.run("render", "m", "--nodes", "nodes.txt");
    const objects = parseAllDocuments(rendered).map((document) => document.toJS());
    const pool = objects.find(({ kind, metadata }) => kind === "NodeSlicePool" && metadata.name === network);
    return Object.fromEntries(pool.status.allocations.map((one: Bag) => [one.nodeName, one.sliceRange]));
  }
}

/** What rolls out on a cluster with whereabouts, as pods see it. */
describe("the real whereabouts takes addresses out of the slices that are rendered", () => {
  let cni: WhereaboutsCni;
  beforeAll(async () => {
    // Without its tools every test is skipped.
    cni = (await WhereaboutsCni.on(cluster()).catch(() => undefined)) as WhereaboutsCni;
  });
  const on = (node: string, pod: string): Attached => ({ node, pod });
  const addressOf = async (network: Bag, node: string, pod: string) => (await cni.add(network, on(node, pod))).address;

  it("each node's out of its own, from the first address on; what is given back is given again", async () => {
    const net = attachment("four", { range: "10.1.0.0/16", node_slice_size: "/24" });
    await new Site([net]).roll("n1", "n2.example.org");
    expect(await addressOf(net, "n1", "a")).toBe("10.1.0.1/16");
    expect(await addressOf(net, "n1", "b")).toBe("10.1.0.2/16");
    expect(await addressOf(net, "n2.example.org", "c")).toBe("10.1.1.1/16");
    expect(await cni.del(net, on("n1", "a"))).toBe("");
    expect(await addressOf(net, "n1", "d")).toBe("10.1.0.1/16");
    const pools = JSON.parse(await cluster().kubectl(["get", "ippools", "-n", "kube-system", "-o", "json"]));
    expect(pools.items.map(({ spec }: { spec: Bag }) => spec.range)).toEqual(["10.1.0.0/24", "10.1.1.0/24"]);
  });

  it.each([
    ["fd00:1::/48", "64", "fd00:1:0:1::1/48"],
    ["fd00:2::/64", "/120", "fd00:2::101/64"],
  ])("A2.2: IPv6, %s in slices of %s", async (range, node_slice_size, second) => {
    const net = attachment(`six-${node_slice_size.replace("/", "")}`, { range, node_slice_size });
    await new Site([net]).roll("n1", "n2");
    expect(await addressOf(net, "n1", "a")).toBe(range.replace("/", "1/"));
    expect(await addressOf(net, "n2", "b")).toBe(second);
  });

  it("of one slice for all networks of a name, be it a list of plugins; never twice, also where each network is checked alone", async () => {
    const ipam = {
      range: "10.2.0.0/16",
      node_slice_size: "24",
      network_name: "shared",
      enable_overlapping_ranges: false,
    };
    const [one, two] = [attachment("blue", ipam, "apps"), listAttachment("green", ipam, "apps")];
    await cluster().kubectl(["create", "namespace", "apps"]);
    await new Site([one, two]).roll("n1", "n2");
    const given = [await addressOf(one, "n1", "a"), await addressOf(two, "n1", "b"), await addressOf(two, "n2", "c")];
    expect(given).toEqual(["10.2.0.1/16", "10.2.0.2/16", "10.2.1.1/16"]);
  });

  it("A2.6, A2.7: a list without network_name goes by its own name; two networks without one may have other ranges", async () => {
    const list = listAttachment("unnamed", { range: "10.3.0.0/17", node_slice_size: "/24" });
    const other = attachment("unnamed-too", { range: "10.3.128.0/17", node_slice_size: "/24" });
    await new Site([list, other]).roll("n1");
    expect(await addressOf(list, "n1", "a")).toBe("10.3.0.1/17");
    expect(await addressOf(other, "n1", "b")).toBe("10.3.128.1/17");
  });

  it("A2.12: never the gateway, nor what is excluded, nor beyond the start and the end", async () => {
    const net = attachment("narrow", {
      range: "10.4.0.0/24",
      range_start: "10.4.0.4",
      range_end: "10.4.0.60",
      node_slice_size: "/29",
      gateway: "10.4.0.9",
      exclude: ["10.4.0.24/30", "10.4.0.36"],
    });
    const site = new Site([net]);
    await site.roll("n1", "n2", "n3");
    // What is left of .8 to .55 without .8/29 (gateway), .24/29 and .32/29 (excluded).
    const slices = await site.slices("narrow");
    expect(slices).toEqual({ n1: "10.4.0.16/29", n2: "10.4.0.40/29", n3: "10.4.0.48/29" });
    const given = [];
    for (const node of ["n1", "n2", "n3"])
      for (let pod = 0; pod < 7; pod++) given.push(await cni.add(net, on(node, `${node}-${pod}`)));
    // Six of a /29 each: whereabouts gives no first and no last address.
    const last = given.flatMap(({ address }) => (address === undefined ? [] : Number(/\.(\d+)\//.exec(address)?.[1])));
    const six = (first: number) => Array.from({ length: 6 }, (_, i) => first + i);
    expect(last).toEqual([...six(17), ...six(41), ...six(49)]);
    expect(given.filter(({ error }) => error?.includes("Could not allocate IP in range"))).toHaveLength(3);
    expect(given[0]?.gateway).toBe("10.4.0.9");
  });

  it("A2.14: a slice whose first and last address alone are beyond the start and the end: no pod has those", async () => {
    const ipam = { range: "10.8.0.0/24", range_start: "10.8.0.1", range_end: "10.8.0.6", node_slice_size: "/29" };
    const net = attachment("edge", ipam);
    await new Site([net]).roll("n1");
    const given = [];
    for (let pod = 0; pod < 7; pod++) given.push(await addressOf(net, "n1", `edge-${pod}`));
    const hosts = [1, 2, 3, 4, 5, 6].map((last) => `10.8.0.${last}/24`);
    expect(given).toEqual([...hosts, undefined]);
  });

  it("A2.3, A2.15: a node that left keeps its slice while it is releasing: its pods can end, and nobody else has their addresses", async () => {
    const ipam = { range: "10.5.0.0/28", node_slice_size: "/30", enable_overlapping_ranges: false };
    const net = attachment("leaving", ipam);
    const site = new Site([net]);
    await site.roll("n1", "n2", "n3");
    expect(await addressOf(net, "n2", "old")).toBe("10.5.0.5/28");
    await site.roll("n1", "n3", "n4");
    expect(await addressOf(net, "n4", "new")).toBe("10.5.0.13/28");
    expect(await cni.del(net, on("n2", "old"))).toBe("");
    // Without its slice, the plugin could not even do that.
    expect(await cni.del(net, on("n9", "old"))).toContain("panic");
    await site.run("release", "n2", "--confirm");
    await site.roll("n1", "n3", "n4", "n5");
    expect(await addressOf(net, "n5", "next")).toBe("10.5.0.5/28");
  });

  it("slices of several sizes, as an import found them", async () => {
    const net = attachment("uneven", { range: "10.6.0.0/16", node_slice_size: "/24" });
    const found = slicePool("uneven", "10.6.0.0/16", "/24", { n1: "10.6.8.0/22", n2: "10.6.1.16/28" });
    const site = new Site([net]);
    await site.take(found, "n1", "n2", "n3");
    expect(await site.slices("uneven")).toEqual({ n3: "10.6.0.0/24", n2: "10.6.1.16/28", n1: "10.6.8.0/22" });
    expect(await addressOf(net, "n1", "a")).toBe("10.6.8.1/16");
    expect(await addressOf(net, "n2", "b")).toBe("10.6.1.17/16");
    expect(await addressOf(net, "n3", "c")).toBe("10.6.0.1/16");
  });

  it("twenty nodes at once", async () => {
    const net = attachment("many", { range: "10.7.0.0/16", node_slice_size: "/24" });
    const nodes = Array.from({ length: 20 }, (_, i) => `node${i + 10}`);
    await new Site([net]).roll(...nodes);
    const given = await Promise.all(nodes.map((node) => cni.add(net, on(node, `pod-${node}`))));
    expect(given).toEqual(nodes.map((_, i) => ({ address: `10.7.${i}.1/16` })));
  });

  it("A2.1: each of 5,000 nodes finds its own, of 65,536 slices", async () => {
    const net = attachment("fleet", { range: "11.0.0.0/8", node_slice_size: "/24" });
    const nodes = Array.from({ length: 5000 }, (_, i) => `worker-${i}.rack.example.org`);
    const site = new Site([net]);
    await site.roll(...nodes);
    const slices = await site.slices("fleet");
    expect(new Set(Object.values(slices)).size).toBe(5000);
    for (const node of ["worker-0.rack.example.org", "worker-4999.rack.example.org"])
      expect(await addressOf(net, node, "pod")).toBe(slices[node]?.replace("0/24", "1/8"));
  });
});
