import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { KubeObject } from "../../kube/index.ts";
import { asBag, type Bag } from "../../schema/objects.ts";
import { installWhereabouts } from "../support/cluster/kinds.ts";
import { clusterOfFile } from "../support/cluster/of-file.ts";
import { root } from "../support/console.ts";
import { prepareController } from "../support/controller/rights.ts";
import { SlicesStage, until } from "../support/controller/slices-stage.ts";
import { attachment, selecting } from "../support/objects/whereabouts-objects.ts";
import { WhereaboutsCni } from "../support/real/whereabouts-cni.ts";
import { WhereaboutsDaemon } from "../support/real/whereabouts-daemons.ts";

/** The rows of the page's table, of three cells each. */
const rows = readFileSync(join(root, "docs/node-slices-compared.md"), "utf8")
  .split("\n")
  .filter((line) => line.startsWith("| "))
  .slice(2)
  .map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );

/** What a network of this name and these keys says. */
const network = (name: string, ipam: Bag, called = name): Bag =>
  attachment(called, { network_name: name, enable_overlapping_ranges: false, ...ipam });

/**
 * Both controllers at once on the same nodes and definitions; whereabouts' one has its objects in a namespace of its own. A test
 * ends with the row of the page that it has seen.
 */
describe("whereabouts' controller and this one, on the same input", () => {
  const cluster = clusterOfFile(async (started) => {
    await prepareController(started, [installWhereabouts], "node-slices");
    await started.kubectl(["create", "namespace", "stock"]);
  });
  let stage: SlicesStage;
  let stock: WhereaboutsDaemon;
  let [stockCni, ownCni]: WhereaboutsCni[] = [];
  beforeAll(async () => {
    stage = await SlicesStage.on(cluster());
    stock = await WhereaboutsDaemon.sliceController(cluster(), "stock");
    stockCni = await WhereaboutsCni.on(cluster(), "stock");
    ownCni = await WhereaboutsCni.on(cluster());
    const { promise, resolve } = Promise.withResolvers<void>();
    const served = stage.served(() => promise);
    return async () => {
      resolve();
      await served;
      await stock.stop();
      stage.kube.close();
    };
  });
  const seen: string[][] = [];
  const row = (...cells: [input: string, stock: string, own: string]) => {
    seen.push(cells);
    expect(rows).toContainEqual(cells);
  };
  afterAll(() => expect(seen).toEqual(rows));

  const nodesOf = async (name: string, namespace?: string) =>
    Object.keys(await stage.slices(name, namespace)).join(" ");
  const both = async (name: string, nodes: string) => {
    await until(() => nodesOf(name, "stock"), nodes);
    await until(() => nodesOf(name), nodes);
  };
  const stockSlice = async (name: string, node: string) => `${(await stage.slices(name, "stock"))[node]}`;
  const plus = (address = "", more: number) => address.replace(/\d+$/, (last) => `${Number(last) + more}`);
  const length = async (name: string, namespace?: string) => (await stage.listed(name, namespace))?.length;
  const errorsOf = (name: string) =>
    stock
      .said()
      .split("\n")
      .filter((line) => line.includes(`error syncing 'default/${name}'`));
  const events = async (...abouts: readonly [name: string, reason: string][]) => {
    for (const [name, reason] of abouts) await until(async () => (await stage.said(name, reason)).length > 0, true);
  };

  it("gives slices of IPv4", async () => {
    await stage.joins("n1", "n2");
    await stage.define(network("four", { range: "10.1.0.0/16", node_slice_size: "/24" }));
    await both("four", "n1 n2");
    expect([await length("four", "stock"), await length("four")]).toEqual([256, 2]);
    row(
      "a `/16` in slices of `/24`",
      "each node has one; all 256 are listed",
      "each node has one; no others are listed",
    );
  });

  it("gives slices of a /8", async () => {
    await stage.define(network("eight", { range: "11.0.0.0/8", node_slice_size: "/22" }));
    await both("eight", "n1 n2");
    expect([await length("eight", "stock"), await length("eight")]).toEqual([16384, 2]);
    const megabytes = JSON.stringify(await stage.pool("eight", "stock")).length / 1e6;
    expect(Math.round(megabytes * 10) / 10).toBe(0.8);
    await stage.undefine("eight");
    row("a `/8` in slices of `/22`", "the same: 16,384 in 0.8 MB, which each pod reads", "the same");
  });

  it("A2.12: reads what is not for pods", async () => {
    const kept = { range_start: "10.2.0.8", range_end: "10.2.0.31", exclude: ["10.2.0.16/32"], gateway: "10.2.0.1" };
    const narrow = network("narrow", { range: "10.2.0.0/24", node_slice_size: "/29", ...kept });
    await stage.define(narrow);
    await both("narrow", "n1 n2");
    expect(Object.values(await stage.slices("narrow", "stock")).sort()).toEqual(["10.2.0.0/29", "10.2.0.8/29"]);
    expect(await stage.slices("narrow")).toEqual({ n1: "10.2.0.8/29", n2: "10.2.0.24/29" });
    const [node = ""] =
      Object.entries(await stage.slices("narrow", "stock")).find(([, one]) => one === "10.2.0.0/29") ?? [];
    expect(await stockCni?.add(narrow, { node, pod: "a" })).toMatchObject({
      address: "10.2.0.1/24",
      gateway: "10.2.0.1",
    });
    row(
      "`exclude`, `range_start`, `range_end`, `gateway`",
      "not read: a pod gets the address of the gateway",
      "no slice has such an address in it",
    );
  });

  it("gives slices to nodes of the control plane", async () => {
    await stage.label("n2", { "node-role.kubernetes.io/control-plane": "" });
    const some = network("some", { range: "10.14.0.0/24", node_slice_size: "/26" });
    await stage.define(some);
    await both("some", "n1 n2");
    await stage.change("some", selecting("!node-role.kubernetes.io/control-plane", some));
    await until(() => nodesOf("some"), "n1");
    expect(await nodesOf("some", "stock")).toBe("n1 n2");
    await stage.undefine("some");
    await stage.label("n2", { "node-role.kubernetes.io/control-plane": null });
    row("a node of the control plane", "it has a slice of each network", "so it has, unless a selector leaves it out");
  });

  it("A2.7: serves networks without network_name", async () => {
    const [one, other] = ["10.4.0.0/24", "10.5.0.0/24"].map((range) => ({ range, node_slice_size: "/26" }));
    await stage.define(attachment("blue", one ?? {}), attachment("green", other ?? {}));
    for (const name of ["blue", "green"]) await until(() => nodesOf(name), "n1 n2");
    await until(async () => errorsOf("green").length > 0, true);
    expect(await stage.pool("green", "stock")).toBeUndefined();
    for (const name of ["blue", "green"]) await stage.undefine(name);
    row(
      "two networks without `network_name`",
      "the second one gets no slices, as if both were one that disagrees",
      "each node has one of both",
    );
  });

  it("A2.11: gives another range", async () => {
    await stage.define(network("moved", { range: "10.6.0.0/24", node_slice_size: "/26" }));
    await both("moved", "n1 n2");
    const before = await stage.slices("moved");
    await stage.change("moved", network("moved", { range: "10.7.0.0/24", node_slice_size: "/26" }));
    const isNew = async () =>
      Object.values(await stage.slices("moved", "stock")).every((one) => one.startsWith("10.7."));
    await until(isNew, true);
    await events(["moved", "Invalid"]);
    expect(await stage.slices("moved")).toEqual(before);
    await stage.undefine("moved");
    row("another `range`", "every node gets another slice, under its pods", "nobody moves; an Event");
  });

  it("A2.3, A2.4, A2.5: serves more nodes than there are slices, and a node that leaves", async () => {
    const busy = network("busy", { range: "10.8.0.0/25", node_slice_size: "/26" });
    await stage.define(network("full", { range: "10.9.0.0/25", node_slice_size: "/26" }), busy);
    const [one, other] = ["/26", "/27"].map((node_slice_size) => ({ range: "10.3.0.0/24", node_slice_size }));
    await stage.define(network("pair", one ?? {}));
    const checked = network("checked", {
      range: "10.13.0.0/25",
      node_slice_size: "/26",
      enable_overlapping_ranges: true,
    });
    await stage.define(checked);
    for (const name of ["full", "busy", "pair", "checked"]) await both(name, "n1 n2");
    await stage.define(network("pair", other ?? {}, "pair-too"));
    await events(["pair", "Invalid"], ["pair-too", "Invalid"]);
    const old = { node: "n1", pod: "old" };
    const given = await stockCni?.add(busy, old);
    expect((await ownCni?.add(busy, old))?.error).toBeUndefined();
    const [first] = (await stockSlice("checked", "n1")).split("/");
    expect(await stockCni?.add(checked, old)).toEqual({ address: `${plus(first, 1)}/25` });
    await stage.joins("n3");
    await events(["full", "ExhaustedIPPool"], ["busy", "ExhaustedIPPool"]);
    await until(() => nodesOf("four", "stock"), "n1 n2 n3");
    expect([await nodesOf("full", "stock"), await nodesOf("full")]).toEqual(["n1 n2", "n1 n2"]);
    const all = await stage.kube.list<KubeObject & Bag>({ apiVersion: "v1", plural: "events" });
    expect(all.filter(({ source }) => asBag(source)?.component === "node-controller")).toEqual([]);
    for (const name of ["pair", "pair-too"]) await until(async () => errorsOf(name).length > 0, true);
    expect([await nodesOf("pair", "stock"), await nodesOf("pair")]).toEqual(["n1 n2", "n1 n2"]);
    for (const name of ["pair", "pair-too"]) await stage.undefine(name);
    row(
      "two definitions of one name that disagree, and a node joins",
      "it gets no slice; an error in the log",
      "it gets no slice; an Event on both says what differs",
    );
    row("more nodes than slices", "nothing says so", "an Event says how many slices are needed");

    await stage.leaves("n1");
    await until(() => nodesOf("full"), "n2 n3");
    // It has long seen that n1 is gone.
    await until(() => nodesOf("four", "stock"), "n2 n3");
    expect(await nodesOf("full", "stock")).toBe("n2");
    row("then a node leaves", "who waits gets nothing until another node joins or leaves", "who waits gets its slice");

    await stage.joins("n4");
    await until(() => nodesOf("four", "stock"), "n2 n3 n4");
    await until(async () => Object.keys(await stage.slices("busy", "stock")).length, 2);
    const [next = ""] = Object.keys(await stage.slices("busy", "stock")).filter((name) => name !== "n2");
    expect(await stockCni?.add(busy, { node: next, pod: "new" })).toEqual(given);
    // Where addresses are checked for the whole cluster, it is the one after.
    await until(async () => Object.keys(await stage.slices("checked", "stock")).length, 2);
    const [node = ""] = Object.keys(await stage.slices("checked", "stock")).filter((name) => name !== "n2");
    expect(await stockCni?.add(checked, { node, pod: "new" })).toEqual({ address: `${plus(first, 2)}/25` });
    expect(await nodesOf("busy")).toBe("n1 n2");
    row(
      "a node leaves, and its IPPool has an address",
      "the next node gets the slice, and its pod that address",
      "nobody gets the slice",
    );
    expect(await ownCni?.del(busy, old)).toBe("");
    await until(async () => (await stage.listed("busy"))?.some((text) => text.startsWith("n1")), false);
  });

  it("A2.8, A2.15: hears that definitions go", async () => {
    const ipam = { range: "10.10.0.0/24", node_slice_size: "/26" };
    const last = network("last", ipam);
    await stage.define(last, network("other", { ...ipam, range: "10.11.0.0/24" }, "called"));
    for (const name of ["last", "other"]) await both(name, "n2 n3 n4");
    const pod = { node: "n2", pod: "of-last" };
    for (const cni of [stockCni, ownCni]) expect((await cni?.add(last, pod))?.error).toBeUndefined();
    for (const name of ["last", "called"]) await stage.undefine(name);
    await until(() => stage.pool("last", "stock"), undefined);
    expect(await stockCni?.del(last, pod)).toContain("panic");
    await until(() => stage.pool("other"), undefined);
    expect(await nodesOf("other", "stock")).toBe("n2 n3 n4");
    expect(await nodesOf("last")).toContain("n2");
    expect(await ownCni?.del(last, pod)).toBe("");
    await until(() => stage.pool("last"), undefined);
    row(
      "the last definition goes",
      "the NodeSlicePool goes at once, and pods cannot end; one that is not called as the definition stays for ever",
      "the NodeSlicePool goes once no pod has an address of it",
    );
  });

  it("hears that one of two definitions goes", async () => {
    const ipam = { range: "10.12.0.0/24", node_slice_size: "/26" };
    await stage.define(network("shared", ipam));
    await both("shared", "n2 n3 n4");
    await stage.define(network("shared", ipam, "second"));
    const uids = async () => [
      (await stage.pool("shared", "stock"))?.metadata.uid,
      (await stage.pool("shared"))?.metadata.uid,
    ];
    const [stockUid, ownUid] = await uids();
    await until(async () => errorsOf("second").length > 0, true);
    await stage.undefine("shared");
    await until(async () => ![undefined, stockUid].includes((await uids())[0]), true);
    expect((await uids())[1]).toBe(ownUid);
    await stage.undefine("second");
    row(
      "one of two definitions of a name goes",
      "the NodeSlicePool is deleted and made anew, in whatever order",
      "nothing changes",
    );
  });

  it("A2.2: gives slices of IPv6", async () => {
    await stage.define(network("six", { range: "fd00:1::/48", node_slice_size: "/64" }));
    await until(() => nodesOf("six"), "n2 n3 n4");
    await until(async () => stock.isRunning(), false);
    expect(stock.said()).toContain("Observed a panic");
    stock = await WhereaboutsDaemon.sliceController(cluster(), "stock");
    await until(async () => stock.isRunning(), false);
    await stage.undefine("six");
    stock = await WhereaboutsDaemon.sliceController(cluster(), "stock");
    row(
      "IPv6, a `/48` in slices of `/64`",
      "it ends with a panic at each start, and serves no network any more",
      "each node has one",
    );
  });

  it("A2.1: gives more slices than an object holds", async () => {
    await stage.define(network("large", { range: "12.0.0.0/8", node_slice_size: "/24" }));
    await until(() => nodesOf("large"), "n2 n3 n4");
    await until(async () => errorsOf("large").length > 0, true);
    expect(errorsOf("large")[0]).toContain("larger than max");
    expect(await stage.pool("large", "stock")).toBeUndefined();
    await stage.undefine("large");
    row(
      "a `/8` in slices of `/24`",
      "none: 65,536 are too large for etcd; it tries again for ever",
      "each node has one",
    );
  });
});
