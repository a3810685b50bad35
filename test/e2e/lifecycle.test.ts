import { join } from "node:path";
import { describe, expect, onTestFinished, type TestContext, test } from "vitest";
import { parse, stringify } from "yaml";
import { Project } from "../support/cli/project.ts";
import { root } from "../support/console.ts";
import { handle, nodeNetworkStates } from "../support/real/e2e-handler.ts";
import { addresses, createLab, type LabNode, ping, runIn } from "../support/real/lab.ts";
import { BUILD_TIMEOUT, orSkip } from "../support/tools/tools.ts";

// Addresses that are given, taken back and given again, on real kernels. Every step is a command of the CLI, or what
// the handlers of a cluster do with the policies it rendered. Nodes get IPv4 by their label, IPv6 all of them.

const pools = `
apiVersion: nmstate.io/v1
kind: NodeIPPool
metadata: {name: four}
spec:
  range: {cidr: 10.10.10.0/24, start: 10.10.10.1, end: 10.10.10.9}
  gateway: 10.10.10.254
---
apiVersion: nmstate.io/v1
kind: NodeIPPool
metadata: {name: six}
spec:
  range: {cidr: "2001:db8::/64", start: "2001:db8::1"}
`;
const four = (name: string) => `
apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata: {name: ${name}}
spec:
  nodeSelector: {storage: "yes"}
  capture: {a: ippool.four.allocate}
  desiredState:
    interfaces:
    - name: eth1
      type: ethernet
      state: up
      ipv4:
        enabled: true
        dhcp: false
        address: [{ip: "{{ capture.a.ip }}", prefix-length: "{{ capture.a.prefix-length }}"}]
    routes:
      config: [{destination: 10.99.0.0/16, next-hop-address: "{{ capture.a.gateway }}", next-hop-interface: eth1}]
`;
const six = `
apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata: {name: six}
spec:
  capture: {a: ippool.six.allocate}
  desiredState:
    interfaces:
    - name: eth1
      type: ethernet
      state: up
      ipv6:
        enabled: true
        dhcp: false
        autoconf: false
        address: [{ip: "{{ capture.a.ip }}", prefix-length: "{{ capture.a.prefix-length }}"}]
`;

/** The list of nodes, with their label `storage`. */
function nodesList(storage: readonly ("yes" | "no")[]): string {
  return storage.map((value, i) => `node0${i + 1} kubernetes.io/hostname=node0${i + 1},storage=${value}\n`).join("");
}

/** Five nodes, of which the first three are in the cluster and have their addresses. */
async function start(context: TestContext) {
  const lab = await orSkip(context, createLab(["node01", "node02", "node03", "node04", "node05"], ["eth1"]));
  onTestFinished(() => lab.close());
  const project = new Project();
  onTestFinished(() => project.remove());
  project.write("manifests/pools.yaml", pools);
  project.write("manifests/four.yaml", four("four"));
  project.write("manifests/six.yaml", six);
  project.write("nodes.txt", nodesList(["yes", "yes", "yes"]));
  const nodes = lab.nodes as [LabNode, LabNode, LabNode, LabNode, LabNode];
  project.allocate();
  await handle(nodes, project.render());
  expect(await Promise.all(nodes.map((node) => addresses(node, "eth1")))).toEqual([
    ["10.10.10.1/24", "2001:db8::1/64"],
    ["10.10.10.2/24", "2001:db8::2/64"],
    ["10.10.10.3/24", "2001:db8::3/64"],
    [],
    [],
  ]);
  return { project, nodes };
}

/** `nodeippool release --evidence`, with what the nodes show. */
async function release(project: Project, nodes: readonly LabNode[]): Promise<string> {
  project.write("nns.json", await nodeNetworkStates(nodes));
  return project.run("release", "--evidence", "nns.json");
}

const routes = (node: LabNode) => runIn(node, "ip", ["route"]);
const link = (node: LabNode) => runIn(node, "ip", ["-brief", "link", "show", "eth1"]);
const names = (policies: readonly { metadata: { name: string } }[]) => policies.map(({ metadata }) => metadata.name);

describe("on real kernels", { timeout: BUILD_TIMEOUT }, () => {
  test("a node leaves a policy: its address is taken off, and then goes to another node", async (context) => {
    const { project, nodes } = await start(context);
    const [node01, , node03, node04, node05] = nodes;
    expect(await ping(node01, "10.10.10.3")).toBe(true);
    expect(await routes(node03)).toContain("10.99.0.0/16 via 10.10.10.254 dev eth1");

    // It leaves. Its address is nobody's, and still on its NIC; a fourth node gets another one.
    project.write("nodes.txt", nodesList(["yes", "yes", "no"]));
    expect(project.allocate()).toContain("- 10.10.10.3  node03  four/a  releasing");
    project.write("nodes.txt", nodesList(["yes", "yes", "no", "yes"]));
    expect(project.allocate()).toContain("+ 10.10.10.4  node04  four/a");
    const policies = project.render();
    expect(names(policies)).toContain("four--node03");
    await handle([node04], policies);
    expect(await addresses(node03, "eth1")).toEqual(["10.10.10.3/24", "2001:db8::3/64"]);
    expect(await release(project, nodes)).toMatch(/= 10\.10\.10\.3 .*still on Node\/node03 eth1\nFreed 0 addresses/);

    // Its clean-up takes IPv4 off, with the route; the link and IPv6 stay.
    await handle([node03], policies);
    expect(await addresses(node03, "eth1")).toEqual(["2001:db8::3/64"]);
    expect(await routes(node03)).toBe("");
    expect(await link(node03)).toMatch(/ UP /);
    expect(await ping(node01, "10.10.10.3")).toBe(false);
    expect(await ping(node01, "2001:db8::3")).toBe(true);

    // Only what node03 shows itself proves that it is off, and only then a fifth node gets that very address.
    expect(await release(project, [node01, node04])).toContain("Freed 0 addresses");
    expect(await release(project, nodes)).toMatch(/- 10\.10\.10\.3 .*\nFreed 1 address/);
    project.write("nodes.txt", nodesList(["yes", "yes", "no", "yes", "yes"]));
    expect(project.allocate()).toContain("+ 10.10.10.3  node05  four/a");
    expect(names(project.render())).not.toContain("four--node03");
    await handle(nodes, project.render());
    expect(await addresses(node05, "eth1")).toEqual(["10.10.10.3/24", "2001:db8::5/64"]);
    // Its question tells neighbours who has the address now, as NetworkManager's announcement would.
    for (const ip of ["10.10.10.1", "10.10.10.4"]) expect(await ping(node05, ip)).toBe(true);
    for (const node of [node01, node04]) expect(await ping(node, "10.10.10.3")).toBe(true);
  });

  test("a policy is deleted: its clean-ups are rendered all the same", async (context) => {
    const { project, nodes } = await start(context);
    const three = nodes.slice(0, 3);
    project.write("manifests/four.yaml", "");
    expect(project.allocate()).toContain("3 to release");
    const policies = project.render();
    expect(project.read("rendered/nodeippool-releasing.yaml").match(/name: four--node0\d/g)).toHaveLength(3);
    expect(await release(project, three)).toContain("Freed 0 addresses");

    await handle(three, policies);
    for (const node of three) {
      expect(await addresses(node, "eth1")).toEqual([`2001:db8::${node.number}/64`]);
      expect(await routes(node)).toBe("");
      expect(await link(node)).toMatch(/ UP /);
    }
    expect(await release(project, three)).toContain("Freed 3 addresses");
    project.render();
    expect(project.has("rendered/nodeippool-releasing.yaml")).toBe(false);
  });

  test("a policy is renamed: other policies, the same addresses", async (context) => {
    const { project, nodes } = await start(context);
    const before = await Promise.all(nodes.map((node) => addresses(node, "eth1")));
    project.write("manifests/four.yaml", four("storage"));
    expect(() => project.allocate()).toThrow("exit status 3");
    expect(project.run("mv", "four", "storage")).toContain("Renamed 3 claims");
    expect(project.allocate()).toContain("Nothing to record.");
    const policies = project.render();
    expect(names(policies).filter((name) => !name.startsWith("six"))).toEqual([
      "storage--node01",
      "storage--node02",
      "storage--node03",
    ]);
    await handle(nodes, policies);
    expect(await Promise.all(nodes.map((node) => addresses(node, "eth1")))).toEqual(before);
  });

  test("both families: a NIC, then a node leaves the policy of example two-families", async (context) => {
    const project = new Project(join(root, "examples/two-families"));
    onTestFinished(() => project.remove());
    const lab = await orSkip(context, createLab(["worker-1", "worker-2"], ["eth0", "eth1", "eth2"]));
    onTestFinished(() => lab.close());
    const [worker1, worker2] = lab.nodes as [LabNode, LabNode];
    const update = async (...options: string[]) => {
      project.allocate(...options);
      await handle(lab.nodes, project.render());
    };
    const both = (node: LabNode) => Promise.all(["eth1", "eth2"].map((nic) => addresses(node, nic)));
    const over = (node: LabNode) => runIn(node, "ip", ["-6", "route", "show", "proto", "static"]);
    await update();
    expect(await both(worker2)).toEqual([["192.168.40.21/24", "2001:db8:40::21/64"], ["192.168.50.2/24"]]);

    // The policy does without eth2: each node's own policy takes its address off there.
    const policy = parse(project.read("manifests/storage.yaml"));
    delete policy.spec.capture.backup;
    policy.spec.desiredState.interfaces.pop();
    project.write("manifests/storage.yaml", stringify(policy));
    await update("--confirm");
    expect(await both(worker1)).toEqual([["192.168.40.20/24", "2001:db8:40::20/64"], []]);
    expect(await both(worker2)).toEqual([["192.168.40.21/24", "2001:db8:40::21/64"], []]);

    // worker-2 is no worker any more: eth1 loses both families and their routes; the link stays up.
    const [first, second] = project.read("nodes.yaml").split("- name: worker-2");
    project.write("nodes.yaml", `${first}- name: worker-2${second?.replace("role.kubernetes.io/worker", "role/none")}`);
    await update();
    expect(await both(worker2)).toEqual([[], []]);
    expect([await routes(worker2), await over(worker2)]).toEqual(["", ""]);
    expect(await link(worker2)).toMatch(/ UP /);
    expect(await both(worker1)).toEqual([["192.168.40.20/24", "2001:db8:40::20/64"], []]);
    expect(await over(worker1)).toContain("2001:db8::/32 via 2001:db8:40::1 dev eth1");
  });
});
