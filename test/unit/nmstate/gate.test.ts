import { expect, it } from "vitest";
import { managedBy, marked } from "../../../integrations/contract/managed-by.ts";
import { keyOf } from "../../../integrations/contract/object-metadata.ts";
import { cleanupEnactment, sharedCleanup } from "../../../integrations/nmstate/cleanup-form.ts";
import { gates } from "../../../integrations/nmstate/gate.ts";
import { asBag, type Bag } from "../../../schema/objects.ts";

const gate = "gate.nodeippool.nmstate.io/a";
const retry = "nodeippool.nmstate.io/retry";
const node = (labels: Bag) => ({ apiVersion: "v1", kind: "Node", metadata: { name: "n1", labels } });
const policy = {
  apiVersion: "nmstate.io/v1",
  kind: "NodeNetworkConfigurationPolicy",
  metadata: { name: "a---fleet", labels: { ...managedBy, "nodeippool.nmstate.io/policy": "a" } },
  spec: { nodeSelector: { role: "worker", [gate]: "open" }, capture: { x: "never", y: "never" } },
};
const state = (ip: string) => ({ state: { interfaces: [{ name: "eth1", ipv4: { address: [{ ip }] } }] } });
const both = { x: state("10.0.0.1"), y: state("10.0.1.1") };
const enactment = (capturedStates: Bag, status: Bag = {}, uid = "e1") => ({
  apiVersion: "nmstate.io/v1beta1",
  kind: "NodeNetworkConfigurationEnactment",
  metadata: {
    name: "n1.a---fleet",
    uid,
    labels: { ...managedBy, "nmstate.io/node": "n1", "nmstate.io/policy": "a---fleet" },
  },
  status: { capturedStates, ...status },
});
const is = (type: string, since = "1") => ({ conditions: [{ type, status: "True", lastTransitionTime: since }] });

/** The labels that a node gets. */
function labelsFor(labels: Bag, made: Bag | undefined, policies: readonly Bag[] = [policy]): Bag | undefined {
  const [there, find] = [
    node({ role: "worker", ...labels }),
    (key: string) => policies.find((one) => keyOf(one) === key),
  ];
  const [step] = gates(true).steps("n1", made === undefined ? [there] : [there, made], find);
  return step === undefined ? undefined : asBag(asBag((step as { fields: Bag }).fields.metadata)?.labels);
}

const text = expect.stringMatching(/^[0-9a-f]{12}$/);
it.each<[string, Bag, Bag | undefined, Bag | undefined]>([
  ["no enactment", {}, undefined, undefined],
  ["no enactment, and the gate is open", { [gate]: "open" }, undefined, { [gate]: null }],
  ["an address is missing", {}, enactment({ x: both.x }), undefined],
  ["an address is missing, and the gate is open", { [gate]: "open" }, enactment({ x: both.x }), { [gate]: null }],
  ["all addresses are there", {}, enactment(both), { [gate]: "open", [retry]: text }],
  ["the handler is at work", { [gate]: "open" }, enactment(both, is("Progressing")), undefined],
  ["the handler waits for its turn", { [gate]: "open" }, enactment(both, is("Pending")), undefined],
  ["its desired state has them", { [gate]: "open" }, enactment(both, { isDesired: true, ...is("Failing") }), undefined],
  ["the handler looked before", { [gate]: "open" }, enactment(both, is("Failing")), { [retry]: text }],
  ["the handler wrote over one", { [gate]: "open" }, enactment(both, is("Available")), { [retry]: text }],
  [
    "not selected",
    { role: "x", [gate]: "open" },
    enactment(both, { isDesired: true }),
    { [gate]: null, [retry]: text },
  ],
])("%s", (_, labels, made, expected) => expect(labelsFor(labels, made)).toEqual(expected));

it("the gates of a policy that is gone, or is going, are closed", () => {
  const going = { ...policy, metadata: { ...policy.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } };
  for (const policies of [[], [going]])
    expect(labelsFor({ [gate]: "open" }, enactment(both), policies)).toEqual({ [gate]: null });
});

it("an aborted one is tried again once its policy says so", () => {
  const aborted = enactment(both, { isDesired: true, ...is("Aborted") });
  expect(labelsFor({ [gate]: "open" }, aborted)).toBeUndefined();
  const annotations = { "nodeippool.nmstate.io/retry": "1" };
  const again = { ...policy, metadata: { ...policy.metadata, annotations } };
  expect(labelsFor({ [gate]: "open" }, aborted, [again])).toEqual({ [retry]: text });
});

it("a policy of somebody else with such a name opens no gate", () => {
  const theirs = { ...policy, metadata: { name: "a---fleet" } };
  expect(labelsFor({}, enactment(both), [theirs])).toBeUndefined();
});

it("a clean-up policy of the node closes the gate if it is about the same NIC", () => {
  const own = (name: string) => ({
    ...{ apiVersion: policy.apiVersion, kind: policy.kind, metadata: { name: "a--n1" } },
    spec: { desiredState: { interfaces: [{ name, ipv4: { enabled: false } }] } },
  });
  const open = { [gate]: "open", [retry]: "1" };
  const served = enactment(both, { isDesired: true, ...is("Available") });
  expect(labelsFor(open, served, [policy, own("eth1")])).toEqual({ [gate]: null });
  // One that fails on a NIC that is not there holds up no other.
  expect(labelsFor(open, served, [policy, own("eth9")])).toBeUndefined();
});

const cleanup: Bag = { ...marked(sharedCleanup("b")) };
const cleanupGate = "cleanup.nodeippool.nmstate.io/b";
const off = (nic: string, status: Bag = {}, isManaged = true): Bag => {
  const desiredState = { interfaces: [{ name: nic, ipv4: { enabled: false } }] };
  const made = cleanupEnactment("b", { name: "n1", labels: new Map(), bare: false }, desiredState);
  return { ...(isManaged ? marked(made) : made), status: { ...asBag(made.status), ...status } };
};

it.each<[string, Bag, Bag, Bag | undefined]>([
  ["what is to be taken off is there", {}, off("eth9"), { [cleanupGate]: "open", [retry]: text }],
  ["it is taken off", { [cleanupGate]: "open" }, off("eth9", { isDesired: true, ...is("Available") }), undefined],
  ["the handler wrote over it", { [cleanupGate]: "open" }, off("eth9", is("Available")), { [retry]: text }],
  ["a handler made it anew", { [cleanupGate]: "open" }, off("eth9", {}, false), { [cleanupGate]: null }],
])("a clean-up of many nodes: %s", (_, labels, made, expected) => {
  expect(labelsFor(labels, made, [cleanup])).toEqual(expected);
});

it("where a clean-up takes addresses off a NIC, no other policy gives it one meanwhile", () => {
  const there = node({ role: "worker" });
  const find = (key: string) => [policy, cleanup].find((one) => keyOf(one) === key);
  const gatesBeside = (nic: string) => {
    const [step] = gates(true).steps("n1", [there, enactment(both), off(nic)], find);
    return Object.keys(asBag(asBag((step as { fields: Bag }).fields.metadata)?.labels) ?? {});
  };
  expect([gatesBeside("eth1"), gatesBeside("eth9")]).toEqual([
    [cleanupGate, retry],
    [gate, cleanupGate, retry],
  ]);
});

it("a handler is to look once for each thing that happened, and not again", () => {
  const seen = new Set<unknown>();
  for (const made of [
    enactment(both),
    enactment(both, is("Failing", "1")),
    enactment({ ...both, y: state("10.0.1.2") }, is("Failing", "1")),
    enactment({ ...both, y: state("10.0.1.2") }, is("Available", "2")),
    enactment({ ...both, y: state("10.0.1.2") }, is("Available", "3")),
    enactment(both, {}, "e2"),
  ]) {
    const value = labelsFor({ [gate]: "open" }, made)?.[retry];
    expect([value, seen.has(value)]).toEqual([text, false]);
    expect(labelsFor({ [gate]: "open", [retry]: value }, made)).toBeUndefined();
    seen.add(value);
  }
});
