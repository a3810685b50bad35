import { describe, expect, it } from "vitest";
import { emptySnapshot } from "../../../core/index.ts";
import { managedBy } from "../../../integrations/contract/managed-by.ts";
import { ownerLabel } from "../../../integrations/metal3/object-parts.ts";
import { asBag, type Bag } from "../../../schema/objects.ts";
import { begin, file, namespace } from "../../support/real/metal3-controller.ts";
import type { SimController } from "../../support/sim/controller.ts";

const line = (last: number, host: string, network = "lan") => `10.0.0.${last} Host/controllers.${host}/${network}`;

/** Network data as `nodeippool render` writes it, as far as it matters. */
function networkData(ip: string, network = "lan"): string {
  const text = `networks: [{id: a, network_id: ${network}, type: ipv4, link: em0, ip_address: ${ip}, netmask: 255.255.255.0}]\n`;
  return Buffer.from(text).toString("base64");
}

function secret(host: string, ip: string, labels: Bag = { [ownerLabel]: `controllers.${host}` }) {
  const metadata = { name: `controllers-${host}`, namespace, labels };
  return { apiVersion: "v1", kind: "Secret", metadata, data: { networkData: networkData(ip) } };
}

function labelled(labels: Bag) {
  return (one: Bag): Bag => ({ ...one, metadata: { ...asBag(one.metadata), labels } });
}

describe("Secrets that were rendered before", () => {
  it("are taken over with their addresses, and what the others show is taken", async () => {
    const { sim, create } = begin();
    sim.create(secret("n1", "10.0.0.10"));
    sim.create(secret("gone", "10.0.0.11"));
    create(file(["n0", "n1"]));
    await sim.pass(3000);
    expect(sim.lines()).toEqual([line(10, "n1"), line(12, "n0")]);
    expect(asBag(sim.object("Secret", "controllers-n1")?.metadata)?.labels).toMatchObject(managedBy);
    expect(asBag(sim.object("Secret", "controllers-gone")?.metadata)?.labels).toEqual({
      [ownerLabel]: "controllers.gone",
    });
  });

  it("keep an address that their network gives no more, and that is said", async () => {
    const { sim, create, write } = begin();
    sim.create(secret("n1", "10.0.0.77"));
    create(file(["n0", "n1"]));
    await sim.pass(3000);
    expect(sim.lines()).toEqual([line(10, "n0"), line(77, "n1")]);
    expect(sim.said.join("\n")).toMatch(/UnsynchronizedIPPool: 10.0.0.77 is held by Host\/controllers.n1\/lan/);
    write(file(["n0", "n1", "n2"]));
    await sim.pass(3000);
    sim.record = emptySnapshot;
    sim.engine.resync();
    write(file(["n0", "n1", "n2"], { last: 11 }));
    await sim.pass(3000);
    expect(sim.lines()).toEqual([line(10, "n0"), line(11, "n2"), line(77, "n1")]);
  });

  const dataOf = (sim: SimController, host: string) =>
    asBag(sim.object("Secret", `controllers-${host}`)?.data)?.networkData;

  it.each([
    ["whose address is of another subnet", [secret("n1", "10.9.9.9")]],
    ["that cannot be read", [{ ...secret("n1", "10.0.0.10"), data: { networkData: "e3s=" } }]],
    ["whose address another one shows, too", [secret("n1", "10.0.0.10"), secret("gone", "10.0.0.10")]],
  ])("%s: is left alone, and what it shows goes to nobody", async (_, secrets) => {
    const { sim, create } = begin();
    for (const one of secrets) sim.create(one);
    create(file(["n1", "n2"]));
    await sim.pass(60_000);
    expect(dataOf(sim, "n1")).toBe(secrets[0]?.data.networkData);
    expect(sim.said.join("\n")).toMatch(/Refused: Secret metal3\/controllers-n1/);
    expect(sim.lines().filter((text) => text.startsWith("10.0.0.10 ") && text.includes("n2"))).toEqual([]);
  });
});

describe("a copy of a Secret", () => {
  const copy = (ip: string) => {
    const one = secret("n1", ip);
    return { ...one, metadata: { ...one.metadata, name: "backup" } };
  };
  const own = secret("n1", "10.0.0.11");
  const managed = secret("n1", "10.0.0.11", { [ownerLabel]: "controllers.n1", ...managedBy });

  it.each([
    ["the controller made", [managed, copy("10.0.0.10")]],
    ["the controller made, in whatever order they are seen", [copy("10.0.0.10"), managed]],
    ["was rendered", [own, copy("10.0.0.10")]],
    ["was rendered, and has the same address", [copy("10.0.0.11"), own]],
  ])("does not say what its host has, where there is the one that %s", async (_, secrets) => {
    const { sim, create } = begin();
    for (const one of secrets) sim.create(one);
    create(file(["n0", "n1"]));
    await sim.pass(60_000);
    const isFree = !secrets.some(({ data }) => data.networkData === networkData("10.0.0.10"));
    expect(sim.lines()).toEqual(isFree ? [line(10, "n0"), line(11, "n1")] : [line(11, "n1"), line(12, "n0")]);
    expect(sim.said).toEqual([]);
  });

  it("gives its address to nobody, not to its host either", async () => {
    const { sim, create } = begin();
    sim.create(copy("10.0.0.10"));
    create(file(["n0", "n1"]));
    await sim.pass(3000);
    expect(sim.lines()).toEqual([line(11, "n0"), line(12, "n1")]);
  });
});

describe("a Secret of the name that a host needs", () => {
  it("that is somebody else's is left alone and said, and not asked for again and again", async () => {
    const { sim, create } = begin();
    sim.create(secret("n0", "10.0.0.10", {}));
    create(file(["n0"]));
    await sim.pass(10_000);
    const before = sim.requests.length;
    await sim.pass(60_000);
    expect(sim.requests.slice(before)).toEqual([]);
    expect(sim.said.filter((text) => /Refused: Secret metal3\/controllers-n0/.test(text))).not.toEqual([]);
    sim.remove("Secret", "controllers-n0", namespace);
    sim.engine.resync();
    await sim.pass(10_000);
    expect(asBag(sim.object("Secret", "controllers-n0")?.metadata)?.labels).toMatchObject(managedBy);
  });

  it.each([
    ["the controller", { [ownerLabel]: "controllers.n0" }],
    ["its owner", managedBy],
  ])("gets the label of %s back", async (_, left) => {
    const { sim, create } = begin();
    create(file(["n0"]));
    await sim.pass(3000);
    const labels = asBag(asBag(sim.object("Secret", "controllers-n0")?.metadata)?.labels);
    sim.change("Secret", "controllers-n0", labelled(left), namespace);
    await sim.pass(10_000);
    expect(asBag(asBag(sim.object("Secret", "controllers-n0")?.metadata)?.labels)).toEqual(labels);
    const before = sim.requests.length;
    await sim.pass(60_000);
    expect(sim.requests.slice(before)).toEqual([]);
  });

  it("that loses both labels is somebody else's, and nobody gets its address", async () => {
    const { sim, create, write } = begin();
    create(file(["n0"]));
    await sim.pass(3000);
    sim.change("Secret", "controllers-n0", labelled({}), namespace);
    await sim.pass(10_000);
    const before = sim.requests.length;
    await sim.pass(60_000);
    expect(sim.requests.slice(before)).toEqual([]);
    expect(sim.said.join("\n")).toMatch(/Refused: Secret metal3\/controllers-n0/);
    write(file(["n1"]));
    await sim.pass(60_000);
    const asked = sim.requests.length;
    await sim.pass(60_000);
    expect(sim.lines()).toEqual([line(11, "n1"), `${line(10, "n0")} releasing`]);
    expect(sim.requests.slice(asked)).toEqual([]);
    sim.remove("Secret", "controllers-n0", namespace);
    sim.engine.resync();
    await sim.pass(60_000);
    expect(sim.lines()).toEqual([line(11, "n1")]);
  });
});
