import { describe, expect, it } from "vitest";
import { clusterSet, emptySnapshot } from "../../../core/index.ts";
import { metal3InCluster } from "../../../integrations/metal3/in-cluster.ts";
import { infraObjects } from "../../../integrations/metal3/infra-objects.ts";
import { asBag, type Bag } from "../../../schema/objects.ts";
import { exampleText, infraOf } from "../../support/cli/metal3-infra.ts";
import { begin, file, namespace } from "../../support/real/metal3-controller.ts";
import { SimController } from "../../support/sim/controller.ts";

const [n0, n1] = ["10.0.0.10 Host/controllers.n0/lan", "10.0.0.11 Host/controllers.n1/lan"];
const reference = { name: "controllers-n0", namespace };

describe("the hosts of a ConfigMap", () => {
  it.each(["seed.yaml", "rack.yaml"])(
    "of %s have the Secrets that are rendered of the same file and record",
    async (name) => {
      const { sim, create } = begin();
      const text = exampleText(name);
      create(text);
      await sim.pass(3000);
      const infra = infraOf(text);
      const cluster = { mode: "hosts", apiVersion: "v1beta2", namespace } as const;
      const { value = [] } = infraObjects({ ...infra, cluster }, { snapshot: sim.record, set: clusterSet });
      const rendered = value.filter(({ kind }) => kind === "Secret") as (Bag & (typeof value)[number])[];
      expect(rendered.length).toBeGreaterThan(1);
      expect(sim.all("Secret")).toHaveLength(rendered.length);
      for (const { metadata, stringData } of rendered) {
        const made = sim.object("Secret", metadata.name);
        const data = Buffer.from(`${asBag(made?.data)?.networkData}`, "base64").toString();
        expect(data).toBe(asBag(stringData)?.networkData);
        expect(made?.metadata).toMatchObject(metadata);
      }
    },
  );

  it("are named by their BareMetalHosts, which keep all else", async () => {
    const { sim, create, host, bareMetalHost } = begin();
    host("controllers-n0", "available", { bmc: { address: "redfish://a" } });
    host("other", "available");
    create(file(["n0", "n1"]));
    await sim.pass(3000);
    expect(bareMetalHost("controllers-n0")).toEqual({
      online: true,
      bmc: { address: "redfish://a" },
      networkData: reference,
    });
    expect(bareMetalHost("other")).toEqual({ online: true });
    host("controllers-n1", "registering");
    await sim.pass(3000);
    expect(bareMetalHost("controllers-n1")?.networkData).toEqual({ name: "controllers-n1", namespace });
  });

  it("are left as somebody else wants them, and that is said", async () => {
    const { sim, create, host, bareMetalHost } = begin();
    const theirs = { name: "theirs" };
    host("controllers-n0", "available", { networkData: theirs });
    create(file(["n0"]));
    await sim.pass(3000);
    expect(bareMetalHost("controllers-n0")?.networkData).toEqual(theirs);
    expect(sim.said.at(-1)).toMatch(/^BareMetalHost.metal3.io\/metal3:controllers-n0 Refused: .*names Secret theirs/);
  });

  it("are left as somebody else wants them, also where the watch does not tell of it yet", async () => {
    const { sim, create, host, bareMetalHost, edit } = begin();
    host("controllers-n0", "available");
    await sim.pass(1000);
    edit("controllers-n0", { networkData: { name: "theirs" } }, "available");
    sim.server.events.pop();
    create(file(["n0"]));
    await sim.pass(3000);
    expect(bareMetalHost("controllers-n0")?.networkData).toEqual({ name: "theirs" });
    expect(sim.said.at(-1)).toMatch(/controllers-n0 Refused: .*names Secret theirs/);
  });

  it("are named only once their Secrets are there: one that somebody else made is not ours", async () => {
    const { sim, create, host, bareMetalHost } = begin();
    const metadata = { name: "controllers-n0", namespace };
    sim.create({ apiVersion: "v1", kind: "Secret", metadata, stringData: {} } as never);
    host("controllers-n0", "available");
    create(file(["n0"]));
    await sim.pass(3000);
    expect(bareMetalHost("controllers-n0")).toEqual({ online: true });
    expect(sim.said.at(-1)).toMatch(/^ConfigMap\/metal3:nodeippool-infra Refused: Secret metal3\/controllers-n0/);
  });

  it("have a Secret that somebody changes or deletes again", async () => {
    const { sim, create } = begin();
    create(file(["n0"]));
    await sim.pass(3000);
    const data = () => asBag(sim.object("Secret", "controllers-n0")?.data);
    const made = data();
    sim.change("Secret", "controllers-n0", (one) => ({ ...one, data: { networkData: "", strange: "" } }), namespace);
    await sim.pass(3000);
    expect(data()).toEqual(made);
    sim.remove("Secret", "controllers-n0", namespace);
    await sim.pass(3000);
    expect(data()).toEqual(made);
  });
});

describe("a host that leaves the file", () => {
  const states: [what: string, state: string, spec: Bag, isFree: boolean][] = [
    ["is provisioned", "provisioned", {}, false],
    ["is provisioned, and names the Secret", "provisioned", { networkData: reference }, false],
    ["is available, and names the Secret", "available", { networkData: reference }, false],
    [
      "is available, and names it before it is provisioned",
      "available",
      { preprovisioningNetworkDataName: "controllers-n0" },
      false,
    ],
    ["is being deprovisioned", "deprovisioning", {}, false],
    ["says nothing of its state", "", {}, false],
    ["is available, and its disks are not wiped", "available", { automatedCleaningMode: "disabled" }, false],
    ["is available", "available", {}, true],
  ];
  it.each(states)("and %s", async (_, state, spec, isFree) => {
    const { sim, create, write, host, edit, secrets } = begin();
    create(file(["n0", "n1"]));
    host("controllers-n0", "provisioned");
    await sim.pass(3000);
    expect(sim.lines()).toEqual([n0, n1]);
    write(file(["n1"]));
    edit("controllers-n0", spec, state);
    await sim.pass(60_000);
    expect([sim.lines(), secrets()]).toEqual([isFree ? [n1] : [n1, `${n0} releasing`], ["controllers-n1"]]);
    sim.remove("BareMetalHost", "controllers-n0", namespace);
    await sim.pass(40_000);
    expect(sim.lines()).toEqual([n1]);
  });

  it("keeps its address while a host of another name has its Secret", async () => {
    const { sim, create, write, host } = begin();
    create(file(["n0", "n1"]));
    host("rack1-u5", "provisioned", { networkData: reference });
    await sim.pass(3000);
    write(file(["n1"]));
    await sim.pass(60_000);
    expect(sim.lines()).toEqual([n1, `${n0} releasing`]);
    sim.remove("BareMetalHost", "rack1-u5", namespace);
    await sim.pass(40_000);
    expect(sim.lines()).toEqual([n1]);
  });

  it("keeps its address while the watch shows it otherwise than it is", async () => {
    const { sim, create, write, host, edit } = begin();
    create(file(["n0", "n1"]));
    host("controllers-n0", "available");
    await sim.pass(3000);
    edit("controllers-n0", {}, "available");
    write(file(["n1"]));
    await sim.pass(10_000);
    sim.isFrozen = true;
    edit("controllers-n0", {}, "provisioned");
    await sim.pass(60_000);
    expect(sim.lines()).toEqual([n1, `${n0} releasing`]);
  });

  it("gets the same address if it comes back in time, and nobody else gets it", async () => {
    const { sim, create, write } = begin();
    create(file(["n0", "n1"]));
    await sim.pass(3000);
    write(file(["n1", "n2"]));
    await sim.pass(3000);
    expect(sim.lines()).toEqual([n1, "10.0.0.12 Host/controllers.n2/lan", `${n0} releasing`]);
    write(file(["n0", "n1"]));
    await sim.pass(3000);
    expect(sim.lines()).toEqual([n0, n1, "10.0.0.12 Host/controllers.n2/lan releasing"]);
  });

  it("is not given up where nobody knows its BareMetalHost", async () => {
    const sim = new SimController(undefined, undefined, ["ConfigMap", "Secret"], [metal3InCluster(namespace)]);
    const metadata = { name: "nodeippool-infra", namespace };
    sim.create({ apiVersion: "v1", kind: "ConfigMap", metadata, data: { "infra.yaml": file(["n0", "n1"]) } } as never);
    await sim.pass(3000);
    const data = { "infra.yaml": file(["n1"]) };
    sim.change("ConfigMap", metadata.name, (one) => ({ ...one, data }), namespace);
    await sim.pass(60_000);
    expect(sim.record.allocations).toHaveLength(2);
  });
});

describe("a configuration that is wrong", () => {
  it.each([
    ["no YAML", "infra: [", /infra.yaml line 1: /],
    ["two documents", `${file(["n0"])}---\n${file(["n0"])}`, /more than one document/],
    [
      "a network without its length",
      file(["n0"]).replace("netmask: 24, ", ""),
      /infra.yaml line \d: netmask is missing/,
    ],
    [
      "another mode",
      file(["n0"], { more: "cluster: {mode: pools, name: blue}\n" }),
      /line 1: mode pools is not served/,
    ],
    [
      "another namespace",
      file(["n0"], { more: "cluster: {namespace: kube-system}\n" }),
      /line 1: hosts are served in .* metal3/,
    ],
    [
      "what no network data can say",
      file(["n0"]).replace("name: em0, ", "name: em0, use_dhcp: true, "),
      /line \d: use_dhcp/,
    ],
  ])("keeps everything as it is and says why: %s", async (_, text, message) => {
    const { sim, create, write, secrets } = begin();
    create(file(["n0", "n1"]));
    await sim.pass(3000);
    write(text);
    await sim.pass(60_000);
    expect([sim.lines(), secrets()]).toEqual([
      [n0, n1],
      ["controllers-n0", "controllers-n1"],
    ]);
    expect(sim.said.at(-1)).toMatch(/^ConfigMap\/metal3:nodeippool-infra InvalidSpec: /);
    expect(sim.said.at(-1)).toMatch(message);
  });

  it("keeps everything as it is if it is gone, and goes on when it is back", async () => {
    const { sim, create, secrets } = begin();
    create(file(["n0", "n1"]));
    await sim.pass(3000);
    sim.remove("ConfigMap", "nodeippool-infra", namespace);
    sim.engine.resync();
    await sim.pass(60_000);
    expect([sim.lines(), secrets()]).toEqual([
      [n0, n1],
      ["controllers-n0", "controllers-n1"],
    ]);
    create(file(["n1"]));
    await sim.pass(60_000);
    expect([sim.lines(), secrets()]).toEqual([[n1], ["controllers-n1"]]);
  });

  it("keeps everything as it is while it is being deleted", async () => {
    const { sim, create, secrets } = begin();
    create(file(["n0", "n1"]));
    await sim.pass(3000);
    const finalizers = ["foregroundDeletion"];
    const keep = (one: Bag) => ({ ...one, metadata: { ...asBag(one.metadata), finalizers } });
    sim.change("ConfigMap", "nodeippool-infra", keep, namespace);
    sim.remove("ConfigMap", "nodeippool-infra", namespace);
    await sim.pass(60_000);
    expect(asBag(sim.object("ConfigMap", "nodeippool-infra")?.metadata)?.deletionTimestamp).toBeDefined();
    expect([sim.lines(), secrets()]).toEqual([
      [n0, n1],
      ["controllers-n0", "controllers-n1"],
    ]);
  });

  it("asks for one network more that is full: who has a Secret keeps it", async () => {
    const { sim, create, write, secrets } = begin();
    create(file(["n0", "n1"]));
    await sim.pass(3000);
    const wan = "    wan: {netmask: 24, addressRange: {start: 10.0.1.10, end: 10.0.1.10}}\ncontrollers:";
    const both = "[{ip_netmask: \"{{ ip['lan'] }}\"}, {ip_netmask: \"{{ ip['wan'] }}\"}]";
    write(file(["n0", "n1"]).replace("controllers:", wan).replace("[{ip_netmask: \"{{ ip['lan'] }}\"}]", both));
    await sim.pass(60_000);
    expect(sim.record.allocations).toHaveLength(3);
    expect(secrets()).toEqual(["controllers-n0", "controllers-n1"]);
  });

  it("has a network less: its addresses stay on record, and are in no Secret", async () => {
    const { sim, create, write } = begin();
    create(file(["n0"]));
    await sim.pass(3000);
    write(file(["n0"]).replaceAll("lan", "wan").replaceAll("10.0.0", "10.0.1"));
    await sim.pass(60_000);
    expect(sim.lines()).toEqual([n0, "10.0.1.10 Host/controllers.n0/wan"]);
    const data = asBag(sim.object("Secret", "controllers-n0")?.data)?.networkData;
    expect(
      Buffer.from(`${data}`, "base64")
        .toString()
        .match(/ip_address: .*/g),
    ).toEqual(["ip_address: 10.0.1.10"]);
  });

  it("has a network that is full: who has an address keeps it, and how to grow is said", async () => {
    const { sim, create, write, secrets } = begin();
    create(file(["n0", "n1"], { last: 10 }));
    await sim.pass(3000);
    expect([sim.lines(), secrets()]).toEqual([[n0], ["controllers-n0"]]);
    expect(sim.said.at(-1)).toMatch(/ExhaustedIPPool: .*Host\/controllers.n1.*infra.networks.lan.addressRange/);
    write(file(["n0", "n1"]));
    await sim.pass(3000);
    expect([sim.lines(), secrets()]).toEqual([
      [n0, n1],
      ["controllers-n0", "controllers-n1"],
    ]);
  });
});

describe("a record that is lost", () => {
  it("and a host that is in no file: its Secret stays, and nobody gets its address", async () => {
    const { sim, create, write, secrets } = begin();
    create(file(["n0", "n1"]));
    await sim.pass(3000);
    sim.record = emptySnapshot;
    write(file(["n1"]));
    sim.engine.resync();
    await sim.pass(60_000);
    write(file(["n1", "n2"]));
    await sim.pass(60_000);
    expect([sim.lines(), secrets()]).toEqual([
      [n1, "10.0.0.12 Host/controllers.n2/lan"],
      ["controllers-n0", "controllers-n1", "controllers-n2"],
    ]);
  });

  it("is made again of the Secrets: no host gets another address", async () => {
    const { sim, create, write } = begin();
    create(file(["n0", "n1"]));
    await sim.pass(3000);
    sim.record = emptySnapshot;
    sim.engine.resync();
    write(file(["n1", "n2"]));
    await sim.pass(3000);
    expect(sim.lines()).toEqual([n1]);
    await sim.pass(15_000);
    expect(sim.lines()).toEqual([n1, "10.0.0.12 Host/controllers.n2/lan"]);
  });
});
