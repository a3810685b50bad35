import { expect, it } from "vitest";
import { type Allocation, type Pool, parseBlock, unwrap } from "../../../core/index.ts";
import { managedBy } from "../../../integrations/contract/managed-by.ts";
import { goneFromSlices } from "../../../integrations/whereabouts/gone.ts";
import { asBag, type Bag } from "../../../schema/objects.ts";
import { ipPoolOf } from "../../support/objects/slice-list.ts";
import { attachment, slicePool } from "../../support/objects/whereabouts-objects.ts";

const slice = "10.5.0.0/24";
const line: Allocation = { ...unwrap(parseBlock(slice)), claim: "Node/n1/net", pool: "net", set: "cluster" };
const list = slicePool("net", "10.5.0.0/22", "/24", { n1: slice });
const lists: Readonly<Record<string, readonly Bag[]>> = {
  nobody: [slicePool("net", "10.5.0.0/22", "/24", { n2: slice, n1: "10.5.1.0/24" }, [slice])],
  ours: [{ ...list, metadata: { ...asBag(list.metadata), labels: managedBy } }],
  others: [list],
};

const definition = (name: string, size = "/24") =>
  attachment("a", { range: "10.5.0.0/22", node_slice_size: size }, "default", { name });
/** The definitions that cannot be served, by what is said of the network. */
const definitions = {
  defined: [],
  "not defined": [definition("red")],
  "of another range than the record": [definition("net")],
  contradictory: [definition("net"), definition("net", "/25")],
  unreadable: [{ ...definition("net"), spec: { config: '{ "node_slice_size": ' } }],
} satisfies Readonly<Record<string, readonly Bag[]>>;

it.each<[node: "there" | "gone", network: keyof typeof definitions, listedBy: string, inUse: boolean, isFree: boolean]>(
  [
    ["there", "defined", "ours", false, false],
    ["there", "defined", "others", false, false],
    ["there", "defined", "nobody", false, true],
    ["there", "defined", "nobody", true, false],
    ["there", "not defined", "ours", false, true],
    ["there", "not defined", "ours", true, false],
    ["there", "not defined", "others", false, false],
    ["gone", "defined", "ours", false, true],
    ["gone", "defined", "ours", true, false],
    ["gone", "defined", "others", false, false],
    ["gone", "not defined", "nobody", false, true],
    ["gone", "not defined", "nobody", true, false],
    ["gone", "not defined", "ours", false, true],
    ["gone", "of another range than the record", "ours", false, true],
    ["there", "contradictory", "ours", false, false],
    ["gone", "contradictory", "ours", false, false],
    ["gone", "contradictory", "nobody", false, true],
    ["there", "unreadable", "ours", false, false],
    ["gone", "unreadable", "ours", false, false],
  ],
)("its node is %s, its network %s; it is listed by %s, and in use: %s", (node, network, listedBy, inUse, isFree) => {
  const nodes = node === "there" ? [{ name: "n1", labels: new Map(), bare: false }] : [];
  const pools = new Map(network === "defined" ? [["net", {} as Pool]] : []);
  const used = [ipPoolOf(undefined, "n1", slice, inUse ? [3] : []), ipPoolOf("net", "n2", slice, [3])];
  const objects = [...(lists[listedBy] ?? []), ...used.map((one): Bag => ({ ...one }))];
  const unserved = new Map(definitions[network].map((one) => [one as Bag, "it cannot be served"]));
  expect(goneFromSlices(objects, { nodes, pools, unserved }, [line])).toEqual(isFree ? [line] : []);
});
