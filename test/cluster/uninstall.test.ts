import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { findAccess } from "../../kube/index.ts";
import { installNmstate } from "../support/cluster/kinds.ts";
import { addNodes } from "../support/cluster/nodes.ts";
import { clusterOfFile } from "../support/cluster/of-file.ts";
import { root } from "../support/console.ts";
import { eventually, withController } from "../support/controller/run.ts";
import { sectionOf, typeInto } from "../support/controller/uninstall.ts";

const cluster = clusterOfFile(async (started) => {
  await installNmstate(started);
  await started.startControllers("namespace-controller");
});

/** What a reader of the page types, in the project's folder. */
const folder = mkdtempSync(join(tmpdir(), "nodeippool-uninstall-"));
symlinkSync(join(root, "deploy"), join(folder, "deploy"));
afterAll(() => rmSync(folder, { recursive: true }));
const type = (commands: string) => typeInto(cluster(), commands, folder);
const commandsOf = (title: string) => sectionOf("uninstall", title).commands;
const [install, unpark, comeBack] = [
  sectionOf("install", "With Helm").commands,
  commandsOf("Policies that you applied"),
  commandsOf("Install it again"),
];

const kubectl = (args: string, input?: string) => cluster().kubectl(args.split(" "), input);

async function asInstalled(work: () => Promise<void>): Promise<void> {
  const token = (await kubectl("create token nodeippool-controller -n nodeippool")).trim();
  await withController({ ...findAccess({ kubeconfig: cluster().kubeconfig }), user: { token } }, work);
}

const manifest = (name: string) => join(root, `examples/static-ip/manifests/${name}.yaml`);
const ips = "jsonpath={.spec.desiredState.interfaces[*].ipv4.address[0].ip}";
const selector = "get nncp static-ip -o jsonpath={.spec.nodeSelector}";

it("is installed, upgraded and uninstalled by Helm, which leaves the kind and its pools", async () => {
  const about = "-n nodeippool -o jsonpath={.spec.replicas},{..image}";
  await type(install);
  const image = "registry.example.net/nodeippool:0.1.0";
  expect(await kubectl(`get deployment nodeippool-controller ${about}`)).toBe(`1,${image}`);
  await kubectl(`apply -f ${manifest("pools")}`);
  await kubectl("create namespace metal3");
  const more = ["clusterApi", "ipamClaims", "vmClaims", "vmAddresses", "workloadAddresses", "parkAtAdmission"];
  const values = [
    "replicas=2",
    "metal3=metal3",
    "nodeSlices=kube-system",
    "detect=detect:1",
    ...more.map((one) => `${one}=true`),
  ];
  await type(`helm upgrade nodeippool deploy/chart -n nodeippool --reuse-values --set ${values}`);
  expect(await kubectl(`get deployment nodeippool-controller ${about}`)).toBe(`2,${image}`);
  await type("helm uninstall nodeippool -n nodeippool");
  const kinds = "deployment,service,clusterrole,role,validatingadmissionpolicy,mutatingadmissionpolicy";
  expect(await kubectl(`get ${kinds} -A -o name -l app.kubernetes.io/name=nodeippool`)).toBe("");
  expect(await kubectl("get nodeippools -o name")).toBe(
    "nodeippool.nmstate.io/traffic-1\nnodeippool.nmstate.io/traffic-2\n",
  );
});

it("leaves the policies of nodes as they are, and comes back with the same addresses", async () => {
  await type("kubectl apply -k deploy/");
  await asInstalled(async () => {
    await addNodes(cluster(), "node02");
    await kubectl(`apply -f ${manifest("pools")} -f ${manifest("static-ip")}`);
    await eventually(cluster(), `get nncp static-ip--node02 -o ${ips}`, "10.10.10.1 10.10.11.1");
    await eventually(cluster(), selector, '{"nmstate.io/ippool-template":"parked"}');
  });
  const before = await kubectl("get nncp -o json");

  const saved = await kubectl(
    "get configmaps -n nodeippool -l nodeippool.nmstate.io/record -o jsonpath={.items[*].data}",
  );
  for (const title of ["First", "The controller"]) await type(commandsOf(title));
  expect(await kubectl("get nncp -o json")).toBe(before);
  const kinds = "namespace,crd,clusterrole,validatingadmissionpolicy";
  expect(await kubectl(`get ${kinds} -o name -l app.kubernetes.io/name=nodeippool`)).toBe("");
  expect(await kubectl("get crd -o name")).not.toContain("nodeippools");

  await type(unpark);
  expect(await kubectl(selector)).toBe("{}");
  // An ordinary policy now: it can be changed.
  await eventually(
    cluster(),
    'patch nncp static-ip--node02 --type=merge -p {"spec":{"maxUnavailable":1}} --dry-run=server -o name',
    "nodenetworkconfigurationpolicy.nmstate.io/static-ip--node02\n",
  );

  await type(comeBack);
  // Without the record it would be the first, and have the address of node02.
  await addNodes(cluster(), "node01");
  await asInstalled(async () => {
    await eventually(cluster(), `get nncp static-ip--node02 -o ${ips}`, "10.10.10.1 10.10.11.1");
    await eventually(cluster(), selector, '{"nmstate.io/ippool-template":"parked"}');
    await eventually(cluster(), "get nodeippool traffic-1 -o jsonpath={.status.allocated-offsets}", "[0,1]");
  });
  const record = "get configmaps -n nodeippool -l nodeippool.nmstate.io/record -o jsonpath={.items[*].data}";
  const later = await kubectl(record);
  await type(sectionOf("recovery", "From a backup of the ConfigMaps").commands);
  expect(await kubectl(record)).toBe(saved);
  expect(later).not.toBe(saved);
});
