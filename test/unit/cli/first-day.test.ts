import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../../support/console.ts";
import { cli, filesOf, folderOf, writeFiles } from "../../support/schema/cli.ts";

/* What goes wrong in a repository that began as examples/first-day. */

const network = "manifests/network.yaml";
const worker = 'node-role.kubernetes.io/worker: ""';
const labelled = (name: string) => `${name} kubernetes.io/hostname=${name},node-role.kubernetes.io/worker=\n`;
const unlabelled = (name: string) => `${name} kubernetes.io/hostname=${name}\n`;
const workers = ["node01", "node02", "node03", "node04"];

/** A copy of the example, with these files in place of its own, and all of it recorded. */
async function firstDay(files: Readonly<Record<string, string>> = {}): Promise<string> {
  const folder = folderOf({ ...filesOf(join(root, "examples/first-day")), ...files });
  expect(await cli(["allocate"], folder)).toMatchObject({ status: 0, stderr: "" });
  return folder;
}

const networkWith = (from: string, to: string) =>
  (filesOf(join(root, "examples/first-day"))[network] ?? "").replace(from, to);

describe("a plan that takes addresses of live nodes in a small cluster", () => {
  it.each<[does: string, nodes: readonly string[], changes: Readonly<Record<string, string>>, released: RegExp]>([
    [
      "whose selector was narrowed to one of three nodes",
      workers.slice(0, 3),
      { [network]: networkWith(worker, "kubernetes.io/hostname: node01") },
      /releases 2 of 3 addresses of policy storage-nic \(172\.20\.0\.22 of node03, 172\.20\.0\.40 of node02\)/,
    ],
    [
      "because three of four nodes lost their label",
      workers,
      { "nodes.txt": [labelled("node01"), ...workers.slice(1).map(unlabelled)].join("") },
      /releases 3 of 4 addresses of policy storage-nic/,
    ],
    [
      "because two of four nodes lost their label",
      workers,
      { "nodes.txt": [...workers.slice(0, 2).map(labelled), ...workers.slice(2).map(unlabelled)].join("") },
      /releases 2 of 4 addresses of policy storage-nic/,
    ],
  ])("%s: stops until it is confirmed", async (_, nodes, changes, released) => {
    const folder = await firstDay({ "nodes.txt": nodes.map(labelled).join("") });
    writeFiles(folder, changes);
    for (const verb of ["plan", "allocate"]) {
      const { status, stderr } = await cli([verb], folder);
      expect({ status, stderr }).toEqual({ status: 3, stderr: expect.stringMatching(released) });
    }
    expect(await cli(["allocate", "--confirm"], folder)).toMatchObject({ status: 0, stderr: "" });
  });

  it.each<[does: string, nodes: readonly string[], left: string]>([
    [
      "because one of three nodes lost its label",
      workers.slice(0, 3),
      labelled("node01") + labelled("node02") + unlabelled("node03"),
    ],
    ["because two of four nodes left", workers, labelled("node01") + labelled("node02")],
  ])("%s: goes on", async (_, nodes, left) => {
    const folder = await firstDay({ "nodes.txt": nodes.map(labelled).join("") });
    writeFiles(folder, { "nodes.txt": left });
    expect(await cli(["allocate"], folder)).toMatchObject({ status: 0, stderr: "" });
  });
});

describe("a node with a reservation that is renamed", () => {
  const full = "node02.example.org";
  const renamed = {
    "nodes.txt": labelled("node01") + labelled("node02").replace(/^node02 /, `${full} `),
  };
  const declare = `nodeippool mv Node/node02 Node/${full}`;
  const reservedFor = (owner: string) => ({ [network]: networkWith("owner: Node/node02", `owner: Node/${owner}`) });

  it("is told of mv first, and keeps its address", async () => {
    const folder = await firstDay();
    writeFiles(folder, renamed);
    for (const verb of ["plan", "allocate"]) {
      const { status, stderr } = await cli([verb], folder);
      expect({ status, stderr }).toEqual({ status: 3, stderr: expect.stringContaining(declare) });
    }
    expect(await cli(["mv", "Node/node02", `Node/${full}`], folder)).toMatchObject({ status: 0 });
    writeFiles(folder, reservedFor(full));
    expect((await cli(["plan"], folder)).stdout).toContain("Plan: 0 to allocate, 2 kept, 0 to release.");
  });

  it("is told of mv also where the reservation has its new name already", async () => {
    const folder = await firstDay();
    writeFiles(folder, { ...renamed, ...reservedFor(full) });
    const { status, stderr } = await cli(["plan"], folder);
    expect({ status, stderr }).toEqual({ status: 3, stderr: expect.stringContaining(declare) });
  });
});

describe("a pod that has an address of the pool", () => {
  const pod = `apiVersion: v1
kind: Pod
metadata:
  name: db
  annotations: {k8s.v1.cni.cncf.io/networks: '[{"name":"storage","ips":["172.20.0.22/24"]}]'}
`;
  const unread = `# of kubevirt.io
apiVersion: nmstate.io/v1beta1
kind: NodeNetworkState
metadata: {name: node09}
status:
  currentState:
    interfaces: [{name: eth1, ipv4: {enabled: true, address: [{ip: 172.20.0.300, prefix-length: 24}]}}]
`;
  const joined = ["node01", "node02", "node03"].map(labelled).join("");

  it("keeps it, also beside a document that cannot be read", async () => {
    const folder = await firstDay({ "manifests/pod.yaml": pod, "manifests/state.yaml": unread });
    writeFiles(folder, { "nodes.txt": joined });
    const { status, stdout, stderr } = await cli(["plan"], folder);
    expect({ status, stderr }).toEqual({
      status: 3,
      stderr: expect.stringContaining("172.20.0.22 would go to node03, and this names it for pods or VMs"),
    });
    expect(stdout).toMatch(/Note: manifests\/state\.yaml:7:\d+: .*172\.20\.0\.300.*\. A plan does not see/);
  });
});

describe("a policy", () => {
  const other = (text: string) => networkWith("    routes:\n", `${text}    routes:\n`);

  it("with an empty dns-resolver has no note about DNS servers", async () => {
    const folder = await firstDay();
    writeFiles(folder, {
      [network]: other("    dns-resolver:\n").replace("dhcp: false", "dhcp: true\n          auto-dns: true"),
    });
    expect((await cli(["plan"], folder)).stdout).not.toContain("dns-resolver");
  });

  it("that drops a route has a note with the whole removal", async () => {
    const table = "          next-hop-interface: eth1\n          table-id: 100\n";
    const folder = await firstDay({ [network]: networkWith("          next-hop-interface: eth1\n", table) });
    expect(await cli(["render", "--out", "rendered"], folder)).toMatchObject({ status: 0 });
    const [without = ""] = networkWith("", "").split("    routes:\n");
    writeFiles(folder, { [network]: without });
    const { stderr } = await cli(["render", "--out", "rendered"], folder);
    expect(stderr).toContain('{destination: "172.21.0.0/16", next-hop-interface: eth1, table-id: 100, state: absent}');
  });
});
