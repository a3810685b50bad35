import { join } from "node:path";
import { beforeAll, describe, expect, onTestFinished, type TestContext, test } from "vitest";
import { parse, stringify } from "yaml";
import { type Planned, Project } from "../support/cli/project.ts";
import { root } from "../support/console.ts";
import { policyExamples } from "../support/objects/policy-examples.ts";
import { handle, type Nncp, nodeNetworkStates, policiesOf } from "../support/real/e2e-handler.ts";
import { addresses, applyState, createLab, type Lab, type LabNode, ping, runIn } from "../support/real/lab.ts";
import { gc, runPolicy } from "../support/real/nmstatectl.ts";
import { BUILD_TIMEOUT, orSkip, tool } from "../support/tools/tools.ts";

describe.for(policyExamples())("example %s", (name) => {
  let project: Project;
  let policies: Nncp[];
  let planned: Planned[];
  let nics: string[];

  beforeAll(() => {
    project = new Project(join(root, "examples", name));
    if (project.has("nns.yaml")) project.run("import", "nns.yaml", "manifests", "--nodes", project.nodesFile());
    if (project.has("manifests")) project.allocate();
    policies = project.has("manifests") ? project.render() : project.policies();
    planned = project.planned();
    nics = [...new Set(policies.flatMap(({ spec }) => spec.desiredState.interfaces.map((nic) => nic.name)))];
    return () => project.remove();
  });

  async function labOf(context: TestContext, ...more: string[]): Promise<Lab> {
    const lab = await orSkip(context, createLab([...project.hosts(), ...more], ["eth0", ...nics]));
    onTestFinished(() => lab.close());
    return lab;
  }

  test("stock nmstatectl takes every policy as it stands", { timeout: BUILD_TIMEOUT }, async (context) => {
    await orSkip(context, tool("nmstatectl"));
    expect(policies.length).toBeGreaterThan(0);
    const current = { interfaces: ["eth0", ...nics].map((nic) => ({ name: nic })) };
    for (const { metadata, spec } of policies)
      expect(await runPolicy(spec.capture ?? {}, spec.desiredState, current), metadata.name).toEqual(spec.desiredState);

    for (const host of project.hosts()) {
      const states = policiesOf(host, policies).map(({ spec }) => gc(spec.desiredState));
      const profiles = Object.assign({}, ...(await Promise.all(states)));
      for (const nic of nics) {
        const profile: string = profiles[`${nic}.nmconnection`] ?? "";
        const made = [...profile.matchAll(/^address\d+=(.*)$/gm)].map(([, address]) => address);
        expect(made, `${nic} of ${host}`).toEqual(on(planned, host, nic));
      }
    }
  });

  test("on real NICs every node has its addresses and no other, and they reach each other", async (context) => {
    const { nodes } = await labOf(context);
    if (project.has("nns.yaml")) await numberByHand(nodes, project.read("nns.yaml"));
    await handle(nodes, policies);

    for (const node of nodes)
      for (const nic of new Set([...nics, ...planned.map((one) => one.nic)]))
        expect(await addresses(node, nic), `${nic} of ${node.name}`).toEqual(on(planned, node.name, nic));
    for (const nic of nics) {
      await useOnly(nic, nodes, planned);
      const there = planned.filter((one) => one.nic === nic);
      for (const from of nodes.filter((node) => there.some(({ host }) => host === node.name)))
        for (const { host, ip } of there)
          if (host !== from.name) expect(await ping(from, ip), `${from.name} to ${ip} over ${nic}`).toBe(true);
    }
  });

  if (name === "import")
    test("what the nodes themselves report is imported as the shortened nns.yaml is", async (context) => {
      const { nodes } = await labOf(context);
      await numberByHand(nodes, project.read("nns.yaml"));
      const again = new Project(join(root, "examples", name));
      onTestFinished(() => again.remove());
      again.write("nns.yaml", await nodeNetworkStates(nodes));
      again.run("import", "nns.yaml", "manifests", "--nodes", again.nodesFile());
      again.allocate();
      expect(again.read("nodeippool.lock")).toBe(project.read("nodeippool.lock"));
    });

  if (name === "two-families")
    test("its routes lead over the gateways", async (context) => {
      const { nodes } = await labOf(context, "router");
      const router = nodes.at(-1) as LabNode;
      const far = { "192.168.0.0/17": "192.168.99.1", "2001:db8::/32": "2001:db8:99::1" };
      for (const ip of ["192.168.40.1/24", "2001:db8:40::1/64"])
        await runIn(router, "ip", ["address", "add", ip, "dev", "eth1"]);
      for (const ip of Object.values(far)) await runIn(router, "ip", ["address", "add", ip, "dev", "lo"]);
      await handle(nodes, policies);

      const routed = nodes.filter((node) => policiesOf(node.name, policies).length > 0);
      expect(routed.map((node) => node.name)).toEqual(["worker-1", "worker-2"]);
      for (const { spec } of policies)
        expect(spec.desiredState.routes?.config.flatMap(wantedBy)).toEqual(Object.keys(far));
      for (const node of routed)
        for (const ip of Object.values(far)) expect(await ping(node, ip), `${node.name} to ${ip}`).toBe(true);
    });
});

/** The destination of a route, unless it is to be removed. */
function wantedBy({ destination, state }: { readonly destination: string; readonly state?: string }): string[] {
  return state === "absent" ? [] : [destination];
}

/** What the lock gives to a NIC. */
function on(planned: readonly Planned[], host: string, nic: string): string[] {
  return planned.filter((one) => one.host === host && one.nic === nic).map(({ address }) => address);
}

/** Gives nodes what NodeNetworkStates say that they have. */
async function numberByHand(nodes: readonly LabNode[], states: string): Promise<void> {
  for (const { metadata, status } of parse(states).items)
    for (const node of nodes) if (node.name === metadata.name) await applyState(node, stringify(status.currentState));
}

/** Takes the nodes' other NICs down: two may be in one subnet, or have one address in two networks. */
async function useOnly(nic: string, nodes: readonly LabNode[], planned: readonly Planned[]): Promise<void> {
  for (const node of nodes)
    for (const one of new Set(planned.filter(({ host }) => host === node.name).map((line) => line.nic)))
      await runIn(node, "ip", ["link", "set", one, one === nic ? "up" : "down"]);
}
