import { describe, expect, it } from "vitest";
import { asBag, conditionOf } from "../../../schema/objects.ts";
import { pool } from "../../support/objects/ipam-claims.ts";
import { macvlanNetwork } from "../../support/objects/vm-objects.ts";
import { workload } from "../../support/objects/workload-objects.ts";
import { beginWorkloads } from "../../support/sim/begin-workloads.ts";

const own = "nodeippool.nmstate.io/pool";

describe("what says of which pools pods have addresses", () => {
  const begin = (pools = "lan") => {
    const run = beginWorkloads({ pools });
    const { apps, sim } = run;
    apps.create(pool("more", "10.1.0.0/24", "10.1.0.9"));
    const said = () => sim.said.join("\n");
    const kill = (name: string) => apps.remove(apps.find("Pod", name) ?? {});
    return { ...run, said, kill };
  };

  it.each([
    [own, "more"],
    ["ipam.spidernet.io/ippool", '{"ipv4": ["more"]}'],
    ["ipam.spidernet.io/ippools", '[{"interface": "net1", "ipv4": ["more"]}]'],
  ])("S34: they themselves, in %s", async (annotation, text) => {
    const { apps, create, pass, told, said } = begin();
    create("StatefulSet", "web", { replicas: 1 });
    apps.roll("StatefulSet", "web", { [annotation]: text });
    await pass();
    expect([told(), said()]).toEqual([["web-0 10.1.0.1/24"], ""]);
  });

  it("a pod of a new template is not told what was for the earlier one", async () => {
    const { sim, apps, create, pass, told } = begin();
    create("StatefulSet", "web", { replicas: 2 });
    await pass();
    sim.isFrozen = true;
    apps.roll("StatefulSet", "web", { [own]: "more" });
    await pass();
    expect(told()).toEqual(["web-0", "web-1"]);
    sim.isFrozen = false;
    await pass(60_000);
    expect(told()).toEqual(["web-0 10.1.0.1/24", "web-1 10.1.0.2/24"]);
    expect(sim.lines()).toHaveLength(2);
  });

  it("of one family, they lose those of the other one", async () => {
    const { sim, apps, create, pass, told } = begin("lan*");
    create("StatefulSet", "web", { replicas: 1 });
    await pass();
    expect(told()).toEqual(["web-0 10.0.0.1/24 fd20::1/64"]);
    apps.roll("StatefulSet", "web", { "ipam.spidernet.io/ippool": '{"ipv4": ["lan*"]}' });
    await pass(60_000);
    expect([told(), sim.lines()]).toEqual([["web-0 10.0.0.1/24"], ["10.0.0.1 StatefulSet/default:web/0/net1"]]);
  });

  it("the cluster, and a network is not there: pods wait until it is known what they have on it", async () => {
    const { sim, apps, create, pass, told, said } = begin();
    apps.edit("NodeIPPool", "lan", { default: true });
    create("StatefulSet", "web", { replicas: 1 }, "red, blue");
    await pass();
    expect([told(), said()]).toEqual([["web-0"], expect.stringContaining("there is no NetworkAttachmentDefinition")]);
    sim.isFrozen = true;
    const { metadata, ...blue } = macvlanNetwork("blue", "");
    apps.create({ ...blue, metadata: { ...asBag(metadata), annotations: {} } });
    await pass();
    expect(told()).toEqual(["web-0"]);
    sim.isFrozen = false;
    await pass();
    expect(told()).toEqual(["web-0 10.0.0.1/24 10.0.0.2/24"]);
  });

  it.each([
    ["two networks", "blue", "more", "red, blue"],
    ["two families", "red", "lan, lan6", "red"],
  ])("S4: of two racks, on %s, they wait, and it is said why", async (_, network, pools, networks) => {
    const { sim, apps, create, pass, told, said } = begin();
    const rack = (name: string) => ({ nodeAffinity: { matchLabels: { rack: name } } });
    apps.edit("NodeIPPool", "lan", rack("a"));
    for (const name of ["more", "lan6"]) apps.edit("NodeIPPool", name, rack("b"));
    if (network === "red") apps.remove(apps.find("NetworkAttachmentDefinition", "red") ?? {});
    apps.create(macvlanNetwork(network, pools));
    create("StatefulSet", "web", { replicas: 1 }, networks);
    await pass();
    expect([told(), sim.lines()]).toEqual([["web-0"], []]);
    expect(said()).toContain("StatefulSet.apps/default:web");
    expect(said()).toContain("none of its pools that have room is for the same nodes");
  });

  it("S20: the nodes that the template selects", async () => {
    const { sim, reconciler, apps, pass, told } = begin("lan, more");
    const rack = (name: string) => ({ nodeAffinity: { matchLabels: { rack: name } } });
    apps.edit("NodeIPPool", "lan", rack("a"));
    apps.edit("NodeIPPool", "more", rack("b"));
    const made = workload("StatefulSet", "web", { replicas: 1 });
    const { template, ...spec } = made.spec;
    const selecting = { ...template, spec: { ...template.spec, nodeSelector: { rack: "b" } } };
    apps.create({ ...made, spec: { ...spec, template: selecting } });
    await pass();
    expect([told(), sim.lines()]).toEqual([["web-0 10.1.0.1/24"], ["10.1.0.1 StatefulSet/default:web/0/net1"]]);
    // It is kept; a pod for other nodes waits, and says why.
    const other = { ...template, spec: { ...template.spec, nodeSelector: { rack: "a" } } };
    apps.edit("StatefulSet", "web", { template: other });
    apps.remove(apps.find("Pod", "web-0") ?? {});
    await pass();
    expect([told(), reconciler.said.join()]).toEqual([
      ["web-0"],
      expect.stringContaining("for other nodes than its nodeSelector"),
    ]);
    apps.edit("StatefulSet", "web", { replicas: 0 });
    await pass(60_000);
    apps.edit("StatefulSet", "web", { replicas: 1 });
    await pass();
    expect(told()).toEqual(["web-0 10.0.0.1/24"]);
  });

  it("S20: the nodes that the template of a Deployment selects now, once it is made again", async () => {
    const { reconciler, apps, pass, told } = begin("lan, more");
    const rack = (name: string) => ({ nodeAffinity: { matchLabels: { rack: name } } });
    apps.edit("NodeIPPool", "lan", rack("a"));
    apps.edit("NodeIPPool", "more", rack("b"));
    // It has an index also with no replicas.
    const { spec, ...made } = workload("Deployment", "web", {
      replicas: 1,
      strategy: { rollingUpdate: { maxSurge: 1 } },
    });
    const selecting = (name: string) => {
      const template = { ...spec.template, spec: { ...spec.template.spec, nodeSelector: { rack: name } } };
      return { ...made, spec: { ...spec, template } };
    };
    apps.create(selecting("a"));
    await pass();
    for (const replicas of [0, 1]) {
      apps.edit("Deployment", "web", { replicas, template: selecting("b").spec.template });
      await pass(60_000);
    }
    expect(told().map((text) => text.split(" ")[1])).toEqual([undefined]);
    expect(reconciler.said.join()).toContain("delete Deployment web, and make it again once they are free");
    apps.remove(apps.find("Deployment", "web") ?? {});
    await pass(60_000);
    apps.create(selecting("b"));
    await pass();
    expect(told().map((text) => text.split(" ")[1])).toEqual(["10.1.0.1/24"]);
  });

  it("S21: one that is for others is not exhausted, and nothing is said of it", async () => {
    const { sim, apps, create, pass, told, said } = begin();
    apps.edit("NodeIPPool", "lan", { namespaceAffinity: { matchLabels: { tier: "gold" } } });
    create("StatefulSet", "web", { replicas: 1 });
    await pass();
    expect(told()).toEqual(["web-0"]);
    expect(said()).toContain("no pool serves it: lan dropped: it is not for namespace default");
    expect(said()).not.toContain("exhausted");
    expect(conditionOf(asBag(sim.object("NodeIPPool", "lan")?.status)?.conditions, "Available")?.reason).toBe(
      "ReconciledPool",
    );
  });

  const rows: [string, string, (apps: ReturnType<typeof begin>["apps"]) => void, string[]][] = [
    [
      "a pool that is being deleted",
      "NodeIPPool lan gives no addresses: The NodeIPPool is being deleted.",
      (apps) => apps.remove(apps.find("NodeIPPool", "lan") ?? {}),
      ["web-0 10.0.0.1/24", "web-1 10.0.0.2/24", "web-2"],
    ],
    [
      "a pool that cannot be read",
      "NodeIPPool lan gives no addresses: ",
      (apps) => apps.edit("NodeIPPool", "lan", { range: { cidr: "x" } }),
      ["web-0 10.0.0.1/24", "web-1 10.0.0.2/24", "web-2"],
    ],
    [
      "a network that is away",
      "there is no NetworkAttachmentDefinition default/red",
      (apps) => apps.remove(apps.find("NetworkAttachmentDefinition", "red") ?? {}),
      ["web-0 10.0.0.1/24", "web-1", "web-2"],
    ],
    [
      "a pool beside a later one with its addresses, of plans",
      "NodeIPPool lan gives no addresses: The NodeIPPool plans is overlapping",
      (apps) => {
        const { spec, ...plans } = pool("plans", "10.0.0.0/24", "10.0.0.9");
        apps.create({ ...plans, spec: { ...asBag(spec), authority: "Plan" } });
      },
      ["web-0 10.0.0.1/24", "web-1 10.0.0.2/24", "web-2"],
    ],
  ];
  // With wildcards, or of the cluster, there is another pool: an address of that would be a second one.
  const named = ["lan", "*an, mor*", undefined];
  it.each(rows.flatMap(([what, ...row]) => named.map((names) => [`${what}, named ${names}`, names, ...row] as const)))(
    "%s: the ConfigMap stays, and new pods wait",
    async (_, names, message, breaks, want) => {
      const { sim, apps, create, pass, told, said, kill } = begin(names);
      if (names === undefined) {
        for (const one of ["lan", "more"]) apps.edit("NodeIPPool", one, { default: true });
        apps.change(apps.find("NetworkAttachmentDefinition", "red") ?? {}, ({ metadata, ...red }) => ({
          ...red,
          metadata: { ...asBag(metadata), annotations: {} },
        }));
      }
      create("StatefulSet", "web", { replicas: 2 });
      await pass();
      const before = [sim.lines(), asBag(sim.object("ConfigMap", "nodeippool-web"))?.data];
      breaks(apps);
      await pass();
      kill("web-1");
      apps.edit("StatefulSet", "web", { replicas: 3 });
      await pass(60_000);
      const after = [sim.lines(), asBag(sim.object("ConfigMap", "nodeippool-web"))?.data];
      expect(after).toEqual(before);
      expect(told()).toEqual(want);
      expect(said()).toContain(message);
      expect(said()).not.toContain("there is no NodeIPPool");
    },
  );

  it("a namespace that cannot be read: each has what it had, and new ones wait", async () => {
    const { sim, apps, create, pass, told, said, kill } = begin("more");
    const named = (text: string) => ({ annotations: { "ipam.spidernet.io/default-ipv4-ippool": text } });
    sim.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "default", ...named('["lan"]') } });
    create("StatefulSet", "web", { replicas: 2 });
    await pass();
    const say = (text: string) =>
      sim.change("Namespace", "default", ({ metadata, ...rest }) => ({
        ...rest,
        metadata: { ...asBag(metadata), ...named(text) },
      }));
    say('["lan"');
    await pass();
    kill("web-1");
    apps.edit("StatefulSet", "web", { replicas: 3 });
    await pass(60_000);
    expect(told()).toEqual(["web-0 10.0.0.1/24", "web-1 10.0.0.2/24", "web-2"]);
    expect(said()).toContain("annotation ipam.spidernet.io/default-ipv4-ippool is no JSON");
    say('["lan"]');
    await pass();
    expect(told()).toEqual(["web-0 10.0.0.1/24", "web-1 10.0.0.2/24", "web-2 10.0.0.3/24"]);
  });
});
