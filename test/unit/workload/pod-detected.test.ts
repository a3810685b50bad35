import { describe, expect, it } from "vitest";
import { parsePool, unwrap } from "../../../core/index.ts";
import type { Facts } from "../../../integrations/contract/facts.ts";
import { podAddresses } from "../../../integrations/workload/pod-addresses.ts";
import { annotationsForDetect, checksOfPools, parseChecks } from "../../../integrations/workload/pod-detect.ts";
import { detectedIn, isLeftOut, mayLeaveOut, withIndexesInstead } from "../../../integrations/workload/pod-detected.ts";
import { parseWorkload } from "../../../integrations/workload/workload-object.ts";
import { detected } from "../../support/objects/pod-detects.ts";
import { networksKey, workload } from "../../support/objects/workload-objects.ts";

const web = (...claims: readonly string[]) => claims.map((claim) => `Deployment/default:web/${claim}`);

it.each<[boolean, string, string, readonly string[]]>([
  [true, "the third index", "2/net1", web("0/net1", "1/net1")],
  [false, "a fourth index", "3/net1", web("0/net1", "1/net1", "2/net1")],
  [true, "another address of the third index", "2/net2", web("0/net1", "0/net2", "1/net1", "2/net1")],
  [true, "the first one, beside others", "0/net1", [1, 2, 3].map((i) => `Deployment/default:app/${i}/net1`)],
])("may an address of a Deployment be left out? %s: %s", (may, _, claim, conflicting) => {
  expect(mayLeaveOut(web(claim)[0] as string, new Set(conflicting))).toBe(may);
});

describe("the indexes of a workload where other hosts answer", () => {
  it.each<[string, string, readonly string[], readonly number[], readonly number[]]>([
    ["for none", "Deployment", [], [0, 1], []],
    ["for one", "Deployment", ["0/net1"], [0, 1, 2], [0]],
    ["for one on its second network", "Deployment", ["1/net2"], [0, 1, 2], [1]],
    ["for one that is there instead", "Deployment", ["0/net1", "2/net1"], [0, 1, 2, 3], [0, 2]],
    ["for too many", "Deployment", ["0/net1", "1/net1", "2/net1", "3/net1"], [0, 1, 2, 3, 4], [0, 1, 2, 3]],
    ["for one of a StatefulSet", "StatefulSet", ["0/net1"], [0, 1], []],
  ])("%s", (_, kind, claims, indexes, leftOut) => {
    const strategy = { rollingUpdate: { maxSurge: 0 } };
    const one = unwrap(parseWorkload(workload(kind, "web", { replicas: 2, strategy }, "red, blue")));
    const facts = { conflicting: new Set(claims.map((claim) => `${kind}/default:web/${claim}`)) } as unknown as Facts;
    const all = withIndexesInstead(one, facts);
    expect(all.indexes).toEqual(indexes);
    expect(all.indexes.filter((index) => isLeftOut(all, index, facts))).toEqual(leftOut);
  });
});

const pod = (annotations: object, status = {}) => {
  const labels = { "nodeippool.nmstate.io/addresses": "gated" };
  return { kind: "Pod", metadata: { name: "one", namespace: "default", labels, annotations }, spec: {}, status };
};
const ips = (...all: readonly string[]) => JSON.stringify([{ name: "red", interface: "net1", ips: all }]);

it.each([
  ["None", undefined],
  ["conflict, Gateway", undefined],
  ["", undefined],
  ["conflikt", "takes conflict, gateway or none, not conflikt"],
  ["none, conflict", "takes conflict, gateway or none, not none, conflict"],
])("what a template says is to be looked for, %j: %s", (text, wrong) => {
  const object = workload("Deployment", "web", {});
  Object.assign(object.spec.template.metadata.annotations, { "nodeippool.nmstate.io/detect": text });
  const [issue] = parseWorkload(object).issues ?? [];
  const path = ["spec", "template", "metadata", "annotations", "nodeippool.nmstate.io/detect"];
  const message = `annotation nodeippool.nmstate.io/detect ${wrong}`;
  expect(issue).toEqual(wrong === undefined ? undefined : { message, path });
});

it("nobody knows the MAC address of a host that a pod does not say", () => {
  const said = { [networksKey]: ips("10.0.0.1/24"), "nodeippool.nmstate.io/pod-index": "Pod/one/0" };
  expect(detectedIn(pod(said, detected(4, "conflict 10.0.0.1 net1")))).toMatchObject([
    { kind: "conflict", mac: "unknown" },
  ]);
});

describe("a pod is told what to look for by the pools of its addresses", () => {
  const lan = { range: { cidr: "10.0.0.0/24" }, gateway: "10.0.0.254" };
  const more = { range: { cidr: "10.1.0.0/24" }, gateway: "10.1.0.254" };
  const key = (name: string) => `nodeippool.nmstate.io/${name}`;
  it.each<[string, string | undefined, readonly ("Conflict" | "Gateway")[], readonly string[], object]>([
    ["but not those of eth0", undefined, ["Gateway"], ["10.0.0.1/24", "eth0 10.1.0.1/24"], {}],
    ["and nothing on eth0 alone", "conflict", ["Gateway"], ["eth0 10.1.0.1/24"], { detect: "" }],
    ["and its own words that nobody knows are left out", "conflikt", [], ["10.0.0.1/24"], { detect: "" }],
    ["and none in other letters is none", " None ", ["Gateway"], ["10.1.0.1/24"], {}],
    ["and of no other one", undefined, ["Gateway"], ["10.0.0.1/24"], {}],
    ["where one of them asks", undefined, ["Conflict"], ["10.1.0.1/24"], { detect: "conflict" }],
    [
      "and their gateways",
      undefined,
      ["Gateway"],
      ["10.0.0.1/24", "10.1.0.1/24"],
      { detect: "gateway", gateways: "10.0.0.254, 10.1.0.254" },
    ],
    [
      "and its own words",
      " Gateway, conflict,",
      [],
      ["10.0.0.1/24"],
      { detect: "gateway, conflict", gateways: "10.0.0.254" },
    ],
  ])("%s", (_, asked, detect, addresses, told) => {
    const annotations = asked === undefined ? {} : { [key("detect")]: asked };
    const pools = [unwrap(parsePool("lan", lan)), unwrap(parsePool("more", { ...more, detect }))];
    const checks = parseChecks(JSON.stringify(checksOfPools(pools, annotations)));
    const networks = addresses.map((text) => {
      const [ip, nic = "net1"] = text.split(" ").reverse();
      return { definition: "default/red", nic, element: { ips: [ip] }, annotation: networksKey };
    });
    const want = Object.fromEntries(Object.entries(told).map(([name, text]) => [key(name), text]));
    expect(annotationsForDetect(pod(annotations), networks, checks)).toEqual(want);
  });

  it.each([
    ["red", undefined, true],
    ["", "eth", false],
  ])("and the ConfigMap says it, but not for eth0: networks %j, eth0 %s: %s", (networks, eth0, isSaid) => {
    const one = unwrap(parseWorkload(workload("StatefulSet", "db", {}, networks, {}, eth0)));
    const pools = [unwrap(parsePool("lan", { ...lan, detect: ["Gateway"] }))];
    const { data } = podAddresses(one, () => ({ ips: ["10.0.0.1/24"], nodes: [], pools })) as { data?: object };
    expect(Object.keys(data ?? {}).includes("detect")).toBe(isSaid);
  });

  it("and nothing where its ConfigMap says that in no words that can be read", () => {
    expect([parseChecks("{"), parseChecks(undefined)]).toEqual([[], []]);
  });
});
