import { describe, expect, it } from "vitest";
import type { ClusterIntegration } from "../../../integrations/contract/cluster-integration.ts";
import { integrationsInCluster } from "../../../pipeline/integrations.ts";
import { asBag, conditionOf } from "../../../schema/objects.ts";
import { policy, pool } from "../../support/objects/controller-objects.ts";
import { claim } from "../../support/objects/ipam-claims.ts";
import { macvlanNetwork } from "../../support/objects/vm-objects.ts";
import { attachment } from "../../support/objects/whereabouts-objects.ts";
import { workload } from "../../support/objects/workload-objects.ts";
import type { SimController } from "../../support/sim/controller.ts";
import { simWithMaps } from "../../support/sim/maps.ts";

// A controller that starts while a part of the record cannot be read knows no line of it: all that is there stays, and all others are served.

const integrations: readonly ClusterIntegration[] = integrationsInCluster({
  clusterApi: "v1beta2",
  nodeSlices: "kube-system",
  ipamClaims: true,
  workloadAddresses: true,
});
const part = "ippool.default.10.0.1.0-24";
const slices = "ippool.default.10.5.0.0-24";
const all = { maxUnavailable: "100%" };

const capiClaim = (name: string, from: string) => ({
  apiVersion: "ipam.cluster.x-k8s.io/v1beta2",
  kind: "IPAddressClaim",
  metadata: { name, namespace: "default" },
  spec: { poolRef: { apiGroup: "nmstate.io", kind: "NodeIPPool", name: from } },
});

/** Owners of each system with addresses of pool `bad`, and the same of pool `good`. */
async function begin() {
  const known = simWithMaps(integrations);
  const { sim } = known;
  for (const [i, name] of ["bad", "good"].entries()) {
    sim.create(pool(name, i + 1, 200) as never);
    sim.create(policy(`of-${name}`, name, `eth${i + 1}`, all) as never);
    sim.create(capiClaim(`claim-${name}`, name));
    sim.create(macvlanNetwork(`net-${name}`, name));
    sim.create(claim(`ipam-${name}`, {}, `net-${name}`));
    sim.create(workload("StatefulSet", `set-${name}`, { replicas: 2 }, `net-${name}`));
  }
  // Any pool may give the addresses of this one.
  sim.create(macvlanNetwork("net-any", "*ad, *ood"));
  sim.create(workload("StatefulSet", "set-any", { replicas: 1 }, "net-any"));
  sim.create(attachment("net", { range: "10.5.0.0/24", node_slice_size: "/28" }) as never);
  for (const name of ["n1", "n2"]) sim.node(name);
  await sim.pass(20_000);
  return known;
}

/** What there is, but for the status of pools and policies, which say what is wrong. */
function things(sim: SimController) {
  const kinds = ["IPAddress", "IPAddressClaim", "IPAMClaim", "ConfigMap", "NodeSlicePool", "StatefulSet"];
  const whole = kinds
    .flatMap((kind) => sim.all(kind))
    .map(({ kind, metadata, status, spec, ...rest }) => {
      const { name, finalizers, deletionTimestamp } = asBag(metadata) ?? {};
      return { ...rest, kind, name, finalizers, deletionTimestamp, spec, status };
    });
  const policies = sim
    .all("NodeNetworkConfigurationPolicy")
    .map(({ metadata, spec }) => ({ name: metadata.name, spec }));
  const pools = sim.all("NodeIPPool").map(({ metadata, status }) => {
    const { conditions: _, observedGeneration: __, ...counts } = asBag(status) ?? {};
    return { name: metadata.name, finalizers: asBag(metadata)?.finalizers, counts };
  });
  return [...whole, ...policies, ...pools].map((one) => JSON.stringify(one)).sort();
}

const ofPart = (sim: SimController, net: string) => sim.lines().filter((line) => line.startsWith(net));

async function damagedAtStart(name = part) {
  const { sim: first, edit, beside } = await begin();
  const lines = first.lines();
  let whole = "";
  edit(name, (text) => {
    whole = text;
    return "nothing";
  });
  const sim = beside();
  const available = (one: string) =>
    conditionOf(asBag(sim.object("NodeIPPool", one)?.status)?.conditions, "Available") ?? {};
  const mend = () => edit(name, () => whole);
  return { first, sim, lines, mend, available };
}

describe("a controller that starts while a part of the record cannot be read", () => {
  it("serves all other subnets, changes nothing of that one, and says on its pools what is wrong", async () => {
    const { sim, lines, mend, available } = await damagedAtStart();
    const before = things(sim);
    await sim.pass(60_000);
    expect(things(sim)).toEqual(before);
    expect(available("bad")).toMatchObject({ status: "False", reason: "UnsynchronizedIPPool" });
    expect(available("bad").message).toMatch(/ConfigMap net\/ippool\.default\.10\.0\.1\.0-24/);
    expect(available("good").reason).toBe("ReconciledPool");
    expect(sim.said.join("\n")).not.toContain("RecordLost");
    sim.node("n3");
    sim.create(capiClaim("new", "good"));
    await sim.pass(10_000);
    expect(ofPart(sim, "10.0.2.").join()).toMatch(
      /Node\/n3.*IPAddressClaim\/default:new|IPAddressClaim\/default:new.*Node\/n3/,
    );
    expect(ofPart(sim, "10.0.1.")).toEqual([]);
    // Whoever may have an address of that subnet gets no other one.
    expect(lines.filter((line) => line.includes("set-any"))).toEqual([expect.stringMatching(/^10\.0\.1\./)]);
    expect(sim.lines().join()).not.toContain("set-any");
    mend();
    await sim.pass(60_000);
    for (const line of lines) expect(sim.lines()).toContain(line);
    expect(available("bad").reason).toBe("ReconciledPool");
  });

  it.each([part, slices])("takes nothing away from owners that go meanwhile: %s", async (name) => {
    const { sim, lines, mend } = await damagedAtStart(name);
    await sim.pass(5_000);
    const net = name === part ? "10.0.1." : "10.5.0.";
    const end = (kind: string, one: string, namespace?: string) => sim.remove(kind, one, namespace);
    end("NodeNetworkConfigurationPolicy", "of-bad");
    end("IPAddressClaim", "claim-bad", "default");
    end("IPAMClaim", "ipam-bad", "default");
    end("StatefulSet", "set-bad", "default");
    end("NetworkAttachmentDefinition", "net", "default");
    end("Node", "n2");
    const addresses = sim.all("IPAddress").map(({ spec }) => asBag(spec)?.address);
    await sim.pass(90_000);
    if (name === part) {
      expect(sim.all("IPAddress").map(({ spec }) => asBag(spec)?.address)).toEqual(addresses);
      expect(sim.object("IPAMClaim", "ipam-bad")).toBeDefined();
      expect(sim.object("NodeNetworkConfigurationPolicy", "of-bad--n1")).toBeDefined();
    } else expect(sim.object("NodeSlicePool", "net")).toBeDefined();
    mend();
    await sim.pass(4_000);
    // Nothing was given to somebody else, and what is to go is releasing first.
    const owners = new Map(lines.map((line) => [line.split(" ")[0], line.split(" ")[1]] as const));
    for (const line of ofPart(sim, net)) expect(owners.get(line.split(" ")[0])).toBe(line.split(" ")[1]);
    await sim.pass(120_000);
    for (const line of ofPart(sim, net)) expect(owners.get(line.split(" ")[0])).toBe(line.split(" ")[1]);
  });

  it("tells each owner that may have an address of that subnet why nothing changes for it, and what to mend", async () => {
    const { sim } = await damagedAtStart();
    sim.remove("IPAddressClaim", "claim-bad", "default");
    sim.remove("IPAMClaim", "ipam-bad", "default");
    sim.create(claim("ipam-new", {}, "net-bad"));
    for (const name of ["set-any", "set-bad"])
      sim.change("StatefulSet", name, (one) => ({ ...one, spec: { ...asBag(one.spec), replicas: 4 } }), "default");
    await sim.pass(60_000);
    const told = sim.said.filter((text) => text.includes(" UnsynchronizedIPPool: "));
    expect(told.filter((text) => !/ConfigMap net\/ippool\.default\.10\.0\.1\.0-24.*Put it back/s.test(text))).toEqual(
      [],
    );
    expect([...new Set(told.map((text) => text.split(" ")[0]?.replace(/^.*\//, "")))].sort()).toEqual([
      "bad",
      "default:claim-bad",
      "default:ipam-bad",
      "default:set-any",
      "default:set-bad",
    ]);
    const { status, message } =
      conditionOf(asBag(sim.object("IPAMClaim", "ipam-new")?.status)?.conditions, "IPsAllocated") ?? {};
    expect(`${status} ${message}`).toMatch(/^False NetworkAttachmentDefinition default\/net-bad: .*Put it back/s);
  });

  it.each(["overwritten", "deleted"])(
    "%s: gives no second address to pods of which no object says the first",
    async (how) => {
      const { sim: first, cluster, edit, beside } = await begin();
      for (const one of ["good", "bad"])
        first.change("NodeIPPool", one, (it) => ({ ...it, spec: { ...asBag(it.spec), default: true } }));
      const { metadata, ...network } = macvlanNetwork("net-default", "");
      first.create({ ...network, metadata: { ...asBag(metadata), annotations: {} } });
      first.create(workload("StatefulSet", "set-default", { replicas: 1 }, "net-default"));
      await first.pass(10_000);
      const lines = first.lines();
      // Whoever wrote these lines has come to its end before it told the pods.
      for (const name of ["set-any", "set-default"]) first.remove("ConfigMap", `nodeippool-${name}`, "default");
      const whole = cluster.maps.get(part);
      edit(part, () => (how === "deleted" ? undefined : "nothing"));
      const sim = beside();
      sim.create(workload("StatefulSet", "set-new", { replicas: 1 }, "net-any"));
      sim.change(
        "StatefulSet",
        "set-good",
        (one) => ({ ...one, spec: { ...asBag(one.spec), replicas: 3 } }),
        "default",
      );
      await sim.pass(60_000);
      expect(sim.lines().filter((line) => /set-(any|default|new)/.test(line))).toEqual([]);
      expect(sim.lines().filter((line) => line.includes("set-good"))).toHaveLength(3);
      for (const name of ["set-any", "set-default", "set-new"])
        expect(sim.said.filter((said) => said.includes(`StatefulSet.apps/default:${name} `)).join()).toMatch(
          /^\S+ Refused: it may have an address in a part of the record that cannot be read, so it gets no other one: ConfigMap net\/ippool\.default\.10\.0\.1\.0-24.*backup/s,
        );
      cluster.maps.set(part, { ...whole, metadata: { ...whole?.metadata, resourceVersion: "restored" } } as never);
      await sim.pass(60_000);
      for (const line of lines) expect(sim.lines()).toContain(line);
      expect(sim.lines()).toHaveLength(lines.length + 2);
    },
  );

  it("agrees with one that had read it before: neither undoes what the other writes", async () => {
    const { first, sim } = await damagedAtStart();
    const round = async (times: number) => {
      for (let i = 0; i < times; i++) {
        await first.pass(500);
        await sim.pass(500);
      }
    };
    await round(60);
    const written = sim.server.events.length;
    await round(240);
    expect(sim.server.events.slice(written).map(({ object }) => `${object.kind} ${object.metadata.name}`)).toEqual([]);
  });
});
