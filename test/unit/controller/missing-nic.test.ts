import { describe, expect, it } from "vitest";
import { resetAnnotation } from "../../../schema/node-ip-pool.ts";
import { asBag, asList, type Bag, conditionOf } from "../../../schema/objects.ts";
import { policy } from "../../support/objects/controller-objects.ts";
import { SimController } from "../../support/sim/controller.ts";

const kind = "NodeNetworkConfigurationPolicy";
const policies = "nodenetworkconfigurationpolicies";
const enactments = { apiVersion: "nmstate.io/v1beta1", plural: "nodenetworkconfigurationenactments" };

/** A node that reports these NICs, without addresses. */
function reports(sim: SimController, name: string, ...nics: string[]): void {
  const ipv4 = { enabled: true, dhcp: false, address: [] };
  const interfaces = nics.map((nic) => ({ name: nic, type: "ethernet", state: "up", ipv4 }));
  sim.create({
    apiVersion: "nmstate.io/v1beta1",
    kind: "NodeNetworkState",
    metadata: { name },
    status: { currentState: { interfaces }, lastSuccessfulUpdateTime: "2026-01-01T00:00:00Z" },
  });
}

/** The handler of a node fails for good, and says why. */
function fails(sim: SimController, name: string, node: string, message: string): void {
  const { generation } = asBag(sim.object(kind, name)?.metadata) ?? {};
  const there = sim.object("NodeNetworkConfigurationEnactment", `${node}.${name}`);
  if (there !== undefined) sim.server.remove(enactments, { ...there, metadata: { name: `${node}.${name}` } } as never);
  sim.create({
    apiVersion: "nmstate.io/v1beta1",
    kind: "NodeNetworkConfigurationEnactment",
    metadata: { name: `${node}.${name}`, labels: { "nmstate.io/node": node, "nmstate.io/policy": name } },
    status: { policyGeneration: generation, conditions: [{ type: "Failing", status: "True", message }] },
  });
}

const unknown =
  'error reconciling NodeNetworkConfigurationPolicy on node n1 at desired state apply: "",\n NmstateError: InvalidArgument: Failed to find unknown type interface eth9 in current state';
const children = (sim: SimController) =>
  sim
    .all(kind)
    .map(({ metadata }) => metadata.name)
    .filter((name) => name.includes("--"))
    .sort();

function reset(sim: SimController): void {
  sim.change("NodeIPPool", "p", (one) => ({
    ...one,
    metadata: { ...asBag(one.metadata), annotations: { [resetAnnotation]: "" } } as Bag,
  }));
}

function begin(nic: string, ...nodes: string[]): SimController {
  const sim = new SimController();
  sim.pool("p", "10.0.0.0/24", "10.0.0.9");
  for (const node of nodes) {
    sim.node(node);
    reports(sim, node, "eth1");
  }
  sim.create(policy("a", "p", nic, { maxUnavailable: 1 }) as never);
  return sim;
}

/** The NIC that a policy gave its address is missing, and the policy is deleted; the clean-up failed. */
async function kept(): Promise<SimController> {
  const sim = begin("eth9", "n1");
  await sim.pass(5000);
  fails(sim, "a--n1", "n1", unknown);
  await sim.pass(5000);
  sim.remove(kind, "a");
  await sim.pass(5000);
  fails(sim, "a--n1", "n1", unknown);
  return sim;
}

describe("a policy for a NIC that its node does not have, and that is deleted", () => {
  it("keeps its address, because the NIC may come back with it, until a reset; then no clean-up is left behind", async () => {
    const sim = await kept();
    await sim.pass(120_000);
    expect(sim.lines()).toEqual(["10.0.0.1 Node/n1/a/address releasing"]);
    reset(sim);
    await sim.pass(60_000);
    expect([sim.lines(), children(sim)]).toEqual([[], []]);
  });

  it("keeps it in a reset, and says so, while the policy is on its way; afterwards it is freed", async () => {
    const sim = begin("eth9", "n1");
    await sim.pass(5000);
    sim.remove(kind, "a");
    await sim.pass(5000);
    reset(sim);
    await sim.pass(60_000);
    expect(sim.lines()).toEqual(["10.0.0.1 Node/n1/a/address releasing"]);
    expect(sim.said.filter((one) => one.includes("ResetKept"))).toEqual([
      expect.stringMatching(
        /^NodeIPPool\.nmstate\.io\/p ResetKept: .* kept 10\.0\.0\.1 of n1 of pool p: .*kubectl get nnce/,
      ),
    ]);
    fails(sim, "a--n1", "n1", "rolling back: no ping to the gateway");
    await sim.pass(5000);
    reset(sim);
    await sim.pass(60_000);
    expect(sim.lines()).toEqual([]);
  });
});

it("where a policy never came to a node, nothing is made to take its address off, and the address is free", async () => {
  const sim = begin("eth1", "n1", "n2");
  await sim.pass(5000);
  fails(sim, "a--n1", "n1", "no ping to the gateway");
  await sim.pass(5000);
  expect([children(sim), sim.lines().length]).toEqual([["a--n1"], 2]);
  sim.requests.length = 0;
  sim.remove(kind, "a");
  await sim.pass(120_000);
  expect(sim.requests.filter((one) => one === `create ${policies}`)).toEqual([]);
  expect(sim.lines()).toEqual(["10.0.0.1 Node/n1/a/address releasing"]);
});

it("where nothing can be taken off one node, the clean-up of another one that somebody deletes is made again", async () => {
  const sim = begin("eth1", "n1");
  sim.node("n2");
  sim.shows("n2", "10.0.0.2");
  await sim.pass(5000);
  sim.enact("a--n1", "n1", "Available");
  await sim.pass(5000);
  sim.remove(kind, "a");
  await sim.pass(5000);
  fails(sim, "a--n1", "n1", unknown);
  await sim.pass(5000);
  sim.remove(kind, "a--n2");
  await sim.pass(5000);
  expect(children(sim)).toEqual(["a--n1", "a--n2"]);
});

describe("an address that is releasing for more than a minute", () => {
  const told = (sim: SimController) => [...new Set(sim.said.filter((one) => one.includes(" StillReleasing: ")))].sort();

  const missing =
    "Still releasing after a minute: 10.0.0.1 of n1, NIC eth9: the report of node n1 (kubectl get nns n1) has no NIC eth9, which may come back with the address.";
  const byName = `${missing} If you know that it is off: nodeippool release 10.0.0.1 --confirm --backend kubernetes`;

  it("because its NIC is missing: the pool and the clean-up policy say so, and how to reset the pool", async () => {
    const sim = await kept();
    await sim.pass(50_000);
    expect(told(sim)).toEqual([]);
    await sim.pass(20_000);
    const next = "If you know that it is off, reset the pool: kubectl annotate nodeippool p nmstate.io/reset-ippool=";
    expect(told(sim)).toEqual([
      `NodeIPPool.nmstate.io/p StillReleasing: ${missing} ${next}`,
      `NodeNetworkConfigurationPolicy.nmstate.io/a--n1 StillReleasing: ${missing} ${next}`,
    ]);
    reset(sim);
    await sim.pass(60_000);
    sim.said.length = 0;
    await sim.pass(120_000);
    expect([sim.lines(), told(sim)]).toEqual([[], []]);
  });

  it("of a pool that is being deleted: they say how to release it by its name", async () => {
    const sim = await kept();
    sim.remove("NodeIPPool", "p");
    await sim.pass(120_000);
    expect(told(sim)).toEqual([
      `NodeIPPool.nmstate.io/p StillReleasing: ${byName}`,
      `NodeNetworkConfigurationPolicy.nmstate.io/a--n1 StillReleasing: ${byName}`,
    ]);
  });

  it("of a pool that is gone: the clean-up policy says so", async () => {
    const sim = await kept();
    sim.remove("NodeIPPool", "p");
    await sim.pass(1000);
    sim.change("NodeIPPool", "p", (one) => ({ ...one, metadata: { ...asBag(one.metadata), finalizers: [] } }));
    sim.server.collect();
    await sim.pass(120_000);
    expect([sim.object("NodeIPPool", "p"), told(sim)]).toEqual([
      undefined,
      [`NodeNetworkConfigurationPolicy.nmstate.io/a--n1 StillReleasing: ${byName}`],
    ]);
  });

  it.each([
    [
      "beside one that is missing",
      unknown,
      "Failed to find unknown type interface eth9 in current state). Correct what its enactment says (kubectl get nnce n2.a--n2 -o yaml), and",
    ],
    [
      "whose profile has DNS servers",
      "NmstateError: InvalidArgument: Connection(InvalidProperty):ipv4.dns: this property is not allowed for 'method=disabled'",
      `Connection(InvalidProperty):ipv4.dns: this property is not allowed for 'method=disabled'). Take the DNS servers out of the NIC's profile on node n2 (nmcli connection modify eth1 ipv4.dns "" ipv6.dns ""), and`,
    ],
  ])("on a NIC that is there, %s: they say that the policy failed, and why", async (_, cause, next) => {
    const sim = begin("eth1", "n1");
    sim.shows("n2", "10.0.0.2");
    sim.node("n2");
    await sim.pass(5000);
    sim.remove(kind, "a");
    await sim.pass(5000);
    fails(sim, "a--n2", "n2", cause);
    await sim.pass(90_000);
    expect(told(sim).at(-1)).toBe(
      `NodeNetworkConfigurationPolicy.nmstate.io/a--n2 StillReleasing: Still releasing after a minute: 10.0.0.2 of n2, NIC eth1: policy a--n2, which takes it off, failed (InvalidArgument: ${next} delete policy a--n2: the controller makes it again`,
    );
  });

  it("while the clean-up is on its way: they say whose handler has not finished", async () => {
    const sim = begin("eth1", "n1");
    sim.shows("n2", "10.0.0.2");
    sim.node("n2");
    await sim.pass(5000);
    sim.remove(kind, "a");
    await sim.pass(180_000);
    expect(children(sim)).toContain("a--n2");
    expect(told(sim).at(-1)).toBe(
      "NodeNetworkConfigurationPolicy.nmstate.io/a--n2 StillReleasing: Still releasing after a minute: 10.0.0.2 of n2, NIC eth1: the handler of node n2 has not finished policy a--n2, which takes it off (kubectl get nnce n2.a--n2 -o yaml). See whether it runs on node n2: kubectl get pods -A -l component=kubernetes-nmstate-handler -o wide",
    );
  });
});

describe("a clean-up that fails for good on a node that the policy no longer selects", () => {
  const degraded = (sim: SimController) =>
    conditionOf(asBag(sim.object(kind, "a")?.status)?.conditions, "Degraded")?.status;
  const message = (sim: SimController, type: string) =>
    conditionOf(asBag(sim.object(kind, "a")?.status)?.conditions, type)?.message;

  /** Node n1 is selected no more; these have their addresses. */
  async function deselected(...enacted: readonly string[]): Promise<SimController> {
    const sim = begin("eth1", "n1", "n2");
    for (const node of enacted) {
      await sim.pass(5000);
      sim.enact(`a--${node}`, node, "Available");
    }
    await sim.pass(5000);
    sim.change("Node", "n1", (one) => ({
      ...one,
      metadata: { ...asBag(one.metadata), labels: { "kubernetes.io/hostname": "n1" } },
    }));
    await sim.pass(5000);
    return sim;
  }

  it("stops no other node of the policy, which says how those fare that it selects", async () => {
    const sim = await deselected("n1", "n2");
    fails(sim, "a--n1", "n1", unknown);
    await sim.pass(5000);
    expect([degraded(sim), message(sim, "Available")]).toEqual(["False", "1/1 nodes successfully configured"]);
    sim.node("n3");
    await sim.pass(5000);
    expect(children(sim)).toEqual(["a--n1", "a--n2", "a--n3"]);
  });

  it("does not count where it succeeds: the policy waits for the nodes that it selects", async () => {
    const sim = await deselected("n1");
    expect(children(sim)).toEqual(["a--n1", "a--n2"]);
    expect(message(sim, "Progressing")).toBe(
      "Policy is progressing 0/1 nodes finished, waiting for n2 (kubectl get nnce -l nmstate.io/node=n2)",
    );
  });
});

describe("a clean-up of several NICs of which one is missing", () => {
  const nicsOf = (sim: SimController) =>
    asList(asBag(asBag(sim.object(kind, "a--n1")?.spec)?.desiredState)?.interfaces).map((nic) => asBag(nic)?.name);
  const shows = (sim: SimController, addresses: Readonly<Record<string, string>>) => {
    const interfaces = Object.entries(addresses).map(([name, ip]) => {
      const address = ip === "" ? [] : [{ ip, "prefix-length": 24 }];
      return { name, type: "ethernet", state: "up", ipv4: { enabled: true, dhcp: false, address } };
    });
    sim.change("NodeNetworkState", "n1", (one) => ({
      ...one,
      status: { currentState: { interfaces }, lastSuccessfulUpdateTime: "2026-01-01T00:00:00Z" },
    }));
  };

  /** Policy `a` gave n1 an address on eth1 and eth2, eth2 is pulled, and the policy is deleted. */
  async function pulled(): Promise<SimController> {
    const sim = begin("eth1", "n1");
    const spec = asBag(sim.object(kind, "a")?.spec);
    const [nic] = asList(asBag(spec?.desiredState)?.interfaces);
    const ip = [{ ip: "{{ capture.other.ip }}", "prefix-length": "{{ capture.other.prefix-length }}" }];
    const second = { ...asBag(nic), name: "eth2", ipv4: { enabled: true, dhcp: false, address: ip } };
    sim.change(kind, "a", (one) => ({
      ...one,
      spec: {
        ...spec,
        capture: { ...asBag(spec?.capture), other: "ippool.p.allocate" },
        desiredState: { interfaces: [nic, second] },
      },
    }));
    await sim.pass(5000);
    sim.enact("a--n1", "n1", "Available");
    shows(sim, { eth1: "10.0.0.1" });
    await sim.pass(5000);
    sim.remove(kind, "a");
    await sim.pass(5000);
    expect(nicsOf(sim)).toEqual(["eth1", "eth2"]);
    return sim;
  }

  it("takes the addresses of the others off, once nmstate says that it is missing", async () => {
    const sim = await pulled();
    fails(sim, "a--n1", "n1", unknown.replace("eth9", "eth2"));
    await sim.pass(5000);
    expect(nicsOf(sim)).toEqual(["eth1"]);
    fails(sim, "a--n1", "n1", "");
    sim.change("NodeNetworkConfigurationEnactment", "n1.a--n1", (one) => ({
      ...one,
      status: {
        ...asBag(one.status),
        conditions: [{ type: "Available", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" }],
      },
    }));
    shows(sim, { eth1: "" });
    await sim.pass(60_000);
    expect([sim.lines(), nicsOf(sim)]).toEqual([["10.0.0.2 Node/n1/a/other releasing"], ["eth2"]]);
  });

  it("takes it off that one, too, when it comes back in the meantime, and never frees its address before", async () => {
    const sim = await pulled();
    fails(sim, "a--n1", "n1", unknown.replace("eth9", "eth2"));
    await sim.pass(60_000);
    // NetworkManager has not brought the address back yet.
    shows(sim, { eth1: "10.0.0.1", eth2: "" });
    await sim.pass(5000);
    expect([nicsOf(sim), sim.lines().length]).toEqual([["eth1", "eth2"], 2]);
  });

  it("stays as it is where it fails for another reason", async () => {
    const sim = await pulled();
    fails(sim, "a--n1", "n1", "NmstateError: no ping to the gateway");
    await sim.pass(60_000);
    expect(nicsOf(sim)).toEqual(["eth1", "eth2"]);
  });
});
