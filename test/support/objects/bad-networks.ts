import { resources } from "../sim/every-system.ts";
import { type BadObject, definitionKind, key, type Made } from "./bad-object.ts";
import { attachment } from "./whereabouts-objects.ts";

/** Networks with slices. */
export const badNetworks: readonly BadObject[] = [
  {
    what: "a network with slices whose configuration is no JSON",
    flags: ["nodeSlices"],
    objects: [
      {
        ...attachment("slices-no-json", {}),
        spec: { config: '{"ipam": {"type": "whereabouts", "node_slice_size": "/26", ' },
      } as unknown as Made,
    ],
    about: key(definitionKind, "slices-no-json", "default"),
    word: /config is no JSON/s,
  },
  {
    what: "a network with slices of a range that overlaps",
    flags: ["nodeSlices"],
    objects: [attachment("overlapping", { range: "10.0.0.0/20", node_slice_size: "/26" }) as Made],
    about: key(definitionKind, "overlapping", "default"),
    word: /overlapping/s,
  },
  {
    what: "two networks with slices of one name that differ",
    flags: ["nodeSlices"],
    objects: ["left", "right"].map(
      (name, i) =>
        attachment(name, { range: `10.80.${4 * i}.0/22`, node_slice_size: "/26", network_name: "both" }) as Made,
    ),
    about: key(definitionKind, "right", "default"),
    word: /default\/left.*both/s,
  },
  {
    what: "a network whose slices are larger than it",
    flags: ["nodeSlices"],
    objects: [attachment("large", { range: "10.81.0.0/26", node_slice_size: "/22" }) as Made],
    about: key(definitionKind, "large", "default"),
    word: /node_slice_size/s,
  },
  {
    what: "a network with fewer slices than nodes",
    flags: ["nodeSlices"],
    objects: [attachment("few", { range: "10.82.0.0/26", node_slice_size: "/26" }) as Made],
    about: key(definitionKind, "few", "default"),
    word: /Exhausted/s,
  },
  {
    what: "a NodeSlicePool of somebody else with other slices",
    flags: ["nodeSlices"],
    objects: [
      attachment("theirs", { range: "10.83.0.0/24", node_slice_size: "/26" }) as Made,
      {
        apiVersion: resources.NodeSlicePool.apiVersion,
        kind: "NodeSlicePool",
        metadata: { name: "theirs", namespace: "kube-system" },
        spec: { range: "10.83.0.0/24", sliceSize: "/28" },
        status: { allocations: [{ nodeName: "n1", sliceRange: "10.83.0.16/28" }] },
      },
    ],
    about: key("NodeSlicePool", "theirs", "kube-system"),
    word: /gives n1 10\.83\.0\.16\/28.*Let node_slice_size/s,
  },
  {
    what: "a NodeSlicePool of another shape",
    flags: ["nodeSlices"],
    isOnlySimulated: true,
    objects: [
      {
        apiVersion: resources.NodeSlicePool.apiVersion,
        kind: "NodeSlicePool",
        metadata: { name: "odd-slices", namespace: "kube-system" },
        spec: null,
        status: { allocations: [null, 7, { nodeName: {}, sliceRange: 5 }] },
      } as unknown as Made,
    ],
  },
];
