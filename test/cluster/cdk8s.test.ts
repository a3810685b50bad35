import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { clusterOfFile } from "../support/cluster/of-file.ts";
import { root, Session } from "../support/console.ts";
import { folderOf } from "../support/schema/cli.ts";

const cluster = clusterOfFile(async ({ kubectl }) => void (await kubectl(["create", "namespace", "network"])));
const settings = (properties: object) =>
  JSON.stringify({
    language: "typescript",
    app: "node main.ts",
    output: "rendered",
    validations: [{ package: "./node_modules/nodeippool", version: "0.1.0", class: "AddressValidation", properties }],
  });

/** An app whose record is where `state` says, for these nodes, and a ConfigMap with an address that somebody wrote. */
const app = (state: string, nodes: string, written = "") => `
import { ApiObject, App, Chart } from "cdk8s";
import { AddressPlan, loadState, NodeIPPool, NodeNetworkPolicy, Nodes } from "nodeippool/constructs";
import { openKubernetes } from "nodeippool/state";

const app = new App();
AddressPlan.configure(app, { ${state} });
const chart = new Chart(app, "network");
const pool = new NodeIPPool(chart, "p", { range: { cidr: "10.0.0.0/29" } });
new NodeNetworkPolicy(chart, "nic", {
  nodes: Nodes.named(${nodes}),
  desiredState: { interfaces: [{ name: "eth1", ipv4: { enabled: true, address: [pool.claim("eth1")] } }] },
});
${written}
void loadState;
void openKubernetes;
app.synth();
`;
const clusterState = `state: await loadState(await openKubernetes({ namespace: "network" }))`;

let folder: string;
let run: (line: string) => string;
const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
beforeEach(() => {
  folder = folderOf({ "package.json": JSON.stringify({ name: "app", private: true, type: "module" }) });
  mkdirSync(join(folder, "node_modules"));
  for (const name of ["cdk8s", "constructs"])
    symlinkSync(join(root, "node_modules", name), join(folder, "node_modules", name));
  symlinkSync(root, join(folder, "node_modules/nodeippool"));
  run = (line) => new Session(folder, { KUBECONFIG: cluster().kubeconfig }).run(line);
});

test("an app moves its record into a cluster, goes on there, and its validation with it", () => {
  write("cdk8s.yaml", settings({}));
  write("main.ts", app("", '"n1"'));
  expect(run("nodeippool allocate -- cdk8s synth")).toContain("1 plan recorded in nodeippool.lock");
  run("nodeippool migrate kubernetes --namespace network");

  write("main.ts", app(clusterState, '"n1"'));
  expect(run("cdk8s synth; echo $?")).toMatch(/has moved to namespace network[\s\S]*\n2\n$/);
  write("main.ts", app("", '"n1"'));
  expect(run("cdk8s synth")).toContain("Use it there: state in AddressPlan.configure");
  write("main.ts", app(clusterState, '"n1"'));
  write("cdk8s.yaml", settings({ backend: "kubernetes", namespace: "network" }));
  expect(run("cdk8s synth; echo $?")).toMatch(/Validations ended succesfully\n0\n$/);

  write("main.ts", app(clusterState, '"n1", "n2"'));
  expect(run("cdk8s synth")).toContain("Run nodeippool allocate -- npx cdk8s synth");

  // What a run is about to record counts; what nobody recorded does not.
  expect(run("nodeippool allocate --backend kubernetes --namespace network -- cdk8s synth")).toMatch(
    /Validations ended succesfully[\s\S]*10\.0\.0\.2 {2}n2[\s\S]*1 plan recorded in namespace network/,
  );
  const policy = (ip: string) => ({
    apiVersion: "nmstate.io/v1",
    kind: "NodeNetworkConfigurationPolicy",
    metadata: { name: "by-hand" },
    spec: {
      nodeSelector: { "kubernetes.io/hostname": "n9" },
      desiredState: { interfaces: [{ name: "eth1", ipv4: { enabled: true, address: [{ ip, "prefix-length": 29 }] } }] },
    },
  });
  write(
    "main.ts",
    app(clusterState, '"n1", "n2"', `new ApiObject(chart, "x", ${JSON.stringify(policy("10.0.0.5"))});`),
  );
  expect(run("cdk8s synth; echo $?")).toMatch(/stranger[\s\S]*10\.0\.0\.5[\s\S]*\n2\n$/);
  expect(readFileSync(join(folder, "rendered/network.k8s.yaml"), "utf8")).toContain("10.0.0.5");
});

test("a cluster that cannot be asked is a failure", () => {
  write("cdk8s.yaml", settings({ backend: "kubernetes", context: "nowhere" }));
  write("main.ts", app("", '"n1"'));
  const printed = run("nodeippool allocate -- cdk8s synth; echo $?");
  expect(printed).toMatch(/no context "nowhere"[\s\S]*nothing that it planned was recorded\.\n2\n$/);
  expect(printed).not.toMatch(/\n {4}at /);
});
