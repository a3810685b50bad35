import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import {
  installIpamClaims,
  installKubevirt,
  installNmstate,
  installNmstateAdmission,
  installNodeIPPool,
} from "../support/cluster/kinds.ts";
import { clusterOfFile } from "../support/cluster/of-file.ts";
import { root } from "../support/console.ts";
import { foreignDocuments } from "../support/objects/foreign-documents.ts";
import { policyExamples } from "../support/objects/policy-examples.ts";

const cluster = clusterOfFile(async (started) => {
  await installNodeIPPool(started);
  await installNmstate(started);
  await installNmstateAdmission(started);
  await installIpamClaims(started);
  await installKubevirt(started);
});
const kubectl = (args: string[], input?: string) => cluster().kubectl(args, input);

let count = 0;
const pool = (spec: string, name = `p${++count}`) =>
  `{apiVersion: nmstate.io/v1, kind: NodeIPPool, metadata: {name: ${name}}, spec: {${spec}}}`;
const create = (spec: string) => kubectl(["create", "-f", "-"], pool(spec));
/** What an update of one spec to another says. */
async function update(before: string, after: string): Promise<string> {
  await create(before);
  return kubectl(["replace", "-f", "-"], pool(after, `p${count}`));
}

const refusals: [spec: string, message: string, field?: string][] = [
  ["range: {cidr: 10.0.0.0}", "cidr must be an address, a slash and a prefix length", "spec.range.cidr"],
  ["range: {cidr: 10.0.0.0/33}", "cidr must be an address, a slash and a prefix length"],
  ["range: {cidr: 010.0.0.0/24}", "cidr must be an address, a slash and a prefix length"],
  ["range: {cidr: '::ffff:10.0.0.0/120'}", "cidr must be an address, a slash and a prefix length"],
  ["range: {cidr: 10.0.0.0/24, start: x}", "start must be an IP address", "spec.range.start"],
  ["range: {cidr: 10.0.0.0/24, start: 10.0.0.01}", "start must be an IP address"],
  ["range: {cidr: 10.0.0.0/24, start: '::ffff:10.0.0.1'}", "start must be an IP address"],
  ["range: {cidr: 'fd00::/64', start: 'fd00::1%eth0'}", "start must be an IP address"],
  ["range: {cidr: 10.0.0.0/24, end: 10.0.0.256}", "end must be an IP address", "spec.range.end"],
  ["range: {cidr: 10.0.0.0/24, exclude: [x]}", "exclude takes addresses and prefixes", "spec.range.exclude[0]"],
  ["range: {cidr: 10.0.0.0/24, start: 10.0.1.1}", "start must lie in cidr", "spec.range.start"],
  ["range: {cidr: 10.0.0.0/24, start: 'fd00::1'}", "start must lie in cidr"],
  ["range: {cidr: 10.0.0.0/24, end: 10.0.1.1}", "end must lie in cidr", "spec.range.end"],
  ["range: {cidr: 'fd00::/64', end: 'fd00:0:0:1::1'}", "end must lie in cidr"],
  ["range: {cidr: 10.0.0.0/24, exclude: [10.0.1.1]}", "every exclude must lie in cidr", "spec.range.exclude"],
  ["range: {cidr: 10.0.0.0/24, exclude: [10.0.0.1, 10.0.0.0/23]}", "every exclude must lie in cidr"],
  [
    "range: {cidr: 10.0.0.0/24}, blockLength: 23",
    "blockLength must be from the prefix length of cidr to 32 (IPv6 128)",
    "spec.blockLength",
  ],
  [
    "range: {cidr: 10.0.0.0/24}, blockLength: 33",
    "blockLength must be from the prefix length of cidr to 32 (IPv6 128)",
  ],
  [
    "range: {cidr: 10.0.0.0/24}, authority: Cluster, clusterRange: {start: 10.0.0.1, end: 10.0.0.2}",
    "clusterRange divides a pool of authority Plan",
    "spec",
  ],
];

const changes: [before: string, after: string, message: string][] = [
  ["range: {cidr: 10.0.0.0/24}", "range: {cidr: 10.0.0.0/23}", "cidr cannot change; make a new pool"],
  [
    "range: {cidr: 10.0.0.0/24, start: 10.0.0.1}",
    "range: {cidr: 10.0.0.0/24, start: 10.0.0.2}",
    "start is offset 0 and cannot change",
  ],
  [
    "range: {cidr: 10.0.0.0/24, start: 10.0.0.1}",
    "range: {cidr: 10.0.0.0/24}",
    "start is offset 0 and cannot be added or removed",
  ],
  [
    "range: {cidr: 10.0.0.0/24}",
    "range: {cidr: 10.0.0.0/24, start: 10.0.0.1}",
    "start is offset 0 and cannot be added or removed",
  ],
  ["range: {cidr: 10.0.0.0/16, end: 10.0.2.0}", "range: {cidr: 10.0.0.0/16, end: 10.0.1.255}", "end may only grow"],
  ["range: {cidr: 10.0.0.0/16, end: 10.0.0.10}", "range: {cidr: 10.0.0.0/16, end: 10.0.0.9}", "end may only grow"],
  [
    "range: {cidr: 'fd00::/48', end: 'fd00::1:0'}",
    "range: {cidr: 'fd00::/48', end: 'fd00::ffff'}",
    "end may only grow",
  ],
  ["range: {cidr: 'fd00::/48', end: 'fd00::10'}", "range: {cidr: 'fd00::/48', end: 'fd00::F'}", "end may only grow"],
  [
    "range: {cidr: 10.0.0.0/24}",
    "range: {cidr: 10.0.0.0/24, end: 10.0.0.9}",
    "end cannot be added; without it the pool ends where cidr does",
  ],
  ["range: {cidr: 10.0.0.0/24, end: 10.0.0.9}", "range: {cidr: 10.0.0.0/24, end: 'fd00::1'}", "end must lie in cidr"],
  [
    "range: {cidr: 10.0.0.0/24}, network: a",
    "range: {cidr: 10.0.0.0/24}, network: b",
    "network cannot change; make a new pool",
  ],
  [
    "range: {cidr: 10.0.0.0/24}",
    "range: {cidr: 10.0.0.0/24}, network: b",
    "network cannot be added or removed; make a new pool",
  ],
];

describe("the API server refuses", () => {
  it.each(refusals)("%s: %s", async (spec, message, field = "") => {
    await expect(create(spec)).rejects.toThrow(`${field}: Invalid value`);
    await expect(create(spec)).rejects.toThrow(message);
  });

  it.each(changes)("%s -> %s: %s", async (before, after, message) => {
    await expect(update(before, after)).rejects.toThrow(message);
  });

  it.each([
    ["range: {}", "spec.range.cidr: Required value"],
    ["range: {cidr: 10.0.0.0/24}, authority: plan", 'supported values: "Plan", "Cluster"'],
    ["range: {cidr: 10.0.0.0/24}, allocationOrder: hashed", 'supported values: "Lowest", "Hashed", "Next"'],
    ["range: {cidr: 10.0.0.0/24, strat: 10.0.0.1}", 'unknown field "spec.range.strat"'],
  ])("%s: %s", async (spec, message) => {
    await expect(create(spec)).rejects.toThrow(message);
  });
});

describe("the API server accepts", () => {
  it.each([
    ["range: {cidr: 10.0.0.5/24, exclude: [10.0.0.1, 10.0.0.8/29]}"],
    ["range: {cidr: 'fd00::/64', start: 'FD00::1', end: 'fd00:0:0:0:0::ff', exclude: ['fd00::8/126']}"],
    ["range: {cidr: 10.0.0.0/16}, blockLength: 24"],
    ["range: {cidr: 'fd00::/48'}, blockLength: 64"],
    ["range: {cidr: 'fd00::/48'}, blockLength: 64, allocationOrder: Hashed"],
    ["range: {cidr: 10.0.0.0/24}, allocationOrder: Next"],
    ["range: {cidr: 10.0.0.0/24}, authority: Plan, clusterRange: {start: 10.0.0.1, end: 10.0.0.2}"],
  ])("%s", async (spec) => {
    expect(await create(spec)).toContain("created");
  });

  it.each([
    ["range: {cidr: 10.0.0.0/24, end: 10.0.0.9}", "range: {cidr: 10.0.0.0/24, end: 10.0.0.99}"],
    ["range: {cidr: 10.0.0.0/16, end: 10.0.9.255}", "range: {cidr: 10.0.0.0/16, end: 10.0.10.0}"],
    ["range: {cidr: 10.0.0.0/24, end: 10.0.0.9}", "range: {cidr: 10.0.0.0/24}"],
    ["range: {cidr: 'fd00::/48', end: 'fd00::ffff'}", "range: {cidr: 'fd00::/48', end: 'fd00:0:0:1::'}"],
    ["range: {cidr: 'fd00::/48', end: 'fd00::a'}", "range: {cidr: 'fd00::/48', end: 'FD00:0::A'}"],
    [
      "range: {cidr: 10.0.0.0/24, end: 10.0.0.9}",
      "range: {cidr: 10.0.0.0/24, end: 10.0.0.9, exclude: [10.0.0.3]}, authority: Plan",
    ],
  ])("%s -> %s", async (before, after) => {
    expect(await update(before, after)).toContain("replaced");
  });
});

describe("the kind", () => {
  const crd = parse(readFileSync(join(root, "deploy/crd/nodeippools.nmstate.io.yaml"), "utf8"));

  it("has no rule that no refusal here is about", () => {
    const rules = [...JSON.stringify(crd).matchAll(/"rule":"(?:[^"\\]|\\.)*","message":"([^"]*)"/g)];
    const tested = [...refusals, ...changes].flat();
    expect(rules.map(([, message]) => message).filter((message) => !tested.includes(message as string))).toEqual([]);
    expect(rules.length).toBeGreaterThan(10);
  });

  it("is described field by field: kubectl explain", async () => {
    expect(await kubectl(["explain", "nodeippool.spec.range.end"])).toContain("Last address.");
    const all = await kubectl(["explain", "--recursive", "nodeippools.status"]);
    expect(all).toContain("allocated-offsets");
  });

  it("shows subnet, use and condition: kubectl get nip", async () => {
    await kubectl(["create", "-f", "-"], pool("range: {cidr: 10.9.0.0/24}", "shown"));
    const reason = "ExhaustedIPPool";
    const condition = {
      type: "Available",
      status: "False",
      reason,
      message: "-",
      lastTransitionTime: "2026-01-02T03:04:05Z",
    };
    const status = { allocated: 3, releasing: 1, free: "250", "allocated-offsets": [0, 1, 2], conditions: [condition] };
    const patch = JSON.stringify({ status });
    expect(await kubectl(["get", "nip", "shown", "-o", "jsonpath={.status}"])).toBe('{"observedGeneration":-1}');
    await kubectl(["patch", "nip", "shown", "--subresource=status", "--type=merge", "-p", patch]);
    const rows = (await kubectl(["get", "nip", "shown"])).trim().split("\n");
    expect(rows.map((row) => row.split(/\s+/).slice(0, 7))).toEqual([
      ["NAME", "CIDR", "USED", "RELEASING", "FREE", "AVAILABLE", "REASON"],
      ["shown", "10.9.0.0/24", "3", "1", "250", "False", reason],
    ]);
  });
});

describe("kubectl apply --dry-run=server takes", () => {
  // Another one is about a kind of its own.
  const folders = policyExamples()
    .flatMap((name) => ["manifests", "rendered"].map((kind) => join("examples", name, kind)))
    .filter((folder) => existsSync(join(root, folder)));

  it.each(folders)("%s", async (folder) => {
    const paths = readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => /\.ya?ml$/.test(name))
      .map((name) => join(root, folder, name));
    const texts = paths.map((path) => readFileSync(path, "utf8")).join("\n");
    // A dry run makes no namespace for what comes after it.
    for (const [, name] of texts.matchAll(/^ +namespace: (\S+)$/gm))
      await kubectl(["create", "namespace", name as string]).catch(() => {}); // that there is already
    const said = await kubectl(["apply", "--dry-run=server", ...paths.map((path) => `--filename=${path}`)]);
    expect(said.match(/created \(server dry run\)/g)?.length).toBeGreaterThan(0);
  });
});

it("takes the documents of other programs of which our tests say that it does", async () => {
  const folder = join(cluster().folder, "foreign");
  mkdirSync(folder);
  const taken = foreignDocuments.filter(({ isTaken }) => isTaken);
  for (const [i, { what, text }] of taken.entries())
    writeFileSync(join(folder, `${i}-${what.replaceAll(/[^A-Za-z]+/g, "-")}.yaml`.slice(-200)), text);
  const said = await kubectl(["create", "--dry-run=server", "--validate=false", "-f", folder]);
  expect(said.trim().split("\n").length).toBeGreaterThanOrEqual(taken.length);
});
