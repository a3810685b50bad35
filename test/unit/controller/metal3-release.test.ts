import { describe, expect, it } from "vitest";
import { usedAnnotation } from "../../../integrations/metal3/object-parts.ts";
import { asBag } from "../../../schema/objects.ts";
import { begin, file, namespace } from "../../support/real/metal3-controller.ts";
import { refused } from "../../support/sim/server.ts";

const [n0, n1] = ["10.0.0.10 Host/controllers.n0/lan", "10.0.0.11 Host/controllers.n1/lan"];
const reference = { name: "controllers-n0", namespace };

describe("an address of a host that leaves the file", () => {
  it("is not free while the server has a host with its Secret that the watch does not show", async () => {
    const { sim, create, write, host } = begin();
    create(file(["n0", "n1"]));
    await sim.pass(3000);
    write(file(["n1"]));
    await sim.pass(10_000);
    sim.isFrozen = true;
    host("rack1-u5", "provisioned", { networkData: reference });
    await sim.pass(60_000);
    expect(sim.lines()).toEqual([n1, `${n0} releasing`]);
  });

  it("is not free while a host of another name was provisioned with it, which bears an annotation for that", async () => {
    const { sim, create, write, host, edit } = begin();
    create(file(["n0", "n1"]));
    await sim.pass(3000);
    host("rack1-u5", "provisioned", { networkData: reference });
    await sim.pass(3000);
    const annotations = () => asBag(asBag(sim.object("BareMetalHost", "rack1-u5")?.metadata)?.annotations) ?? {};
    edit("rack1-u5", { networkData: { name: "theirs" } }, "provisioned");
    await sim.pass(3000);
    expect(annotations()).toEqual({ [usedAnnotation]: "controllers-n0" });
    write(file(["n1"]));
    await sim.pass(60_000);
    expect(sim.lines()).toEqual([n1, `${n0} releasing`]);
    edit("rack1-u5", {}, "available");
    await sim.pass(40_000);
    expect(sim.lines()).toEqual([n1]);
    expect(annotations()).toEqual({});
  });

  it("is not free for one of the same name: that one is refused, and all stays as it is", async () => {
    const { sim, create, write, host, secrets } = begin();
    const of = (unit: string, name: string) => file([name]).replace("controllers:\n", `nodepools:\n ${unit}:\n`);
    const [before, after] = [of("a-b", "c0"), of("a", "b-c0")];
    host("a-b-c0", "provisioned");
    create(before);
    await sim.pass(3000);
    expect(sim.lines()).toEqual(["10.0.0.10 Host/a-b.c0/lan"]);
    const data = sim.object("Secret", "a-b-c0")?.data;
    write(after);
    await sim.pass(60_000);
    expect([sim.lines(), sim.object("Secret", "a-b-c0")?.data]).toEqual([["10.0.0.10 Host/a-b.c0/lan"], data]);
    expect(sim.said.at(-1)).toMatch(/InvalidSpec: .*Host\/a.b-c0 would be called a-b-c0, as those of Host\/a-b.c0/);
    write(of("a", "other1"));
    await sim.pass(3000);
    expect(secrets()).toEqual(["a-other1"]);
    sim.remove("BareMetalHost", "a-b-c0", namespace);
    await sim.pass(60_000);
    write(after);
    await sim.pass(60_000);
    expect(sim.lines().filter((text) => !text.endsWith("releasing"))).toEqual(["10.0.0.10 Host/a.b-c0/lan"]);
  });

  it("of a network that its template has no more is free once its host is available, and takes nothing of it for its ramdisk", async () => {
    const { sim, create, write, host, edit } = begin();
    const wan = "    wan: {netmask: 24, addressRange: {start: 10.0.1.10, end: 10.0.1.19}}\ncontrollers:";
    const onWan = file(["n0"]).replace("controllers:", wan).replace("ip['lan']", "ip['wan']");
    create(onWan.replace('"}]}]', `"}, {ip_netmask: "{{ ip['lan'] }}"}]}]`));
    host("controllers-n0", "provisioned");
    await sim.pass(3000);
    expect(sim.lines()).toEqual([n0, "10.0.1.10 Host/controllers.n0/wan"]);
    write(onWan);
    await sim.pass(60_000);
    expect(sim.lines()).toEqual(["10.0.1.10 Host/controllers.n0/wan", `${n0} releasing`]);
    edit("controllers-n0", { networkData: reference, preprovisioningNetworkDataName: "controllers-n0" }, "available");
    await sim.pass(40_000);
    expect(sim.lines()).toHaveLength(2);
    sim.change(
      "BareMetalHost",
      "controllers-n0",
      (one) => ({ ...one, spec: { online: true, networkData: reference } }),
      namespace,
    );
    await sim.pass(40_000);
    expect(sim.lines()).toEqual(["10.0.1.10 Host/controllers.n0/wan"]);
  });
});

describe("a BareMetalHost that names nothing", () => {
  it("gets its Secret only while that is on the server, whatever the watch shows", async () => {
    const { sim, create, host, edit, bareMetalHost } = begin();
    create(file(["n0"]));
    host("controllers-n0", "available");
    await sim.pass(3000);
    sim.remove("Secret", "controllers-n0", namespace);
    sim.server.events.pop();
    edit("controllers-n0", {}, "available");
    const before = sim.requests.length;
    await sim.pass(3000);
    expect(bareMetalHost("controllers-n0")?.networkData).toEqual(reference);
    const asked = sim.requests.slice(before);
    expect(asked.indexOf("create secrets")).toBeGreaterThan(-1);
    expect(asked.indexOf("apply baremetalhosts")).toBeGreaterThan(asked.indexOf("create secrets"));
  });

  it("does not get a Secret that is to be deleted", async () => {
    const { sim, create, write, host, edit, bareMetalHost } = begin();
    create(file(["n0", "n1"]));
    host("controllers-n0", "available");
    await sim.pass(3000);
    sim.server.remove = () => {
      throw refused(500, "InternalError", "controllers-n0");
    };
    write(file(["n1"]));
    await sim.pass(3000);
    edit("controllers-n0", {}, "available");
    await sim.pass(10_000);
    expect(sim.object("Secret", "controllers-n0")).toBeDefined();
    expect(bareMetalHost("controllers-n0")).toEqual({ online: true });
  });
});

it("a NodeIPPool with the name of a network goes again: its addresses are the network's", async () => {
  const { sim, create } = begin();
  create(file(["n0", "n1"]));
  await sim.pass(5_000);
  sim.pool("lan", "10.7.0.0/24", "10.7.0.9");
  await sim.pass(5_000);
  sim.remove("NodeIPPool", "lan");
  await sim.pass(5_000);
  expect(sim.object("NodeIPPool", "lan")).toBeUndefined();
});

it("a host that has the name of another one is served as soon as the address of that one is free", async () => {
  const { sim, create, write } = begin();
  const of = (unit: string, name: string) => file([name]).replace("controllers:\n", `nodepools:\n ${unit}:\n`);
  create(of("a-b", "c0"));
  await sim.pass(5000);
  write(of("z", "z1"));
  await sim.pass(5000);
  write(of("a", "b-c0"));
  await sim.pass(5000);
  expect(sim.lines().join()).toMatch(/Host\/a-b.c0\/lan releasing/);
  expect(sim.said.at(-1)).toMatch(/InvalidSpec: .*Host\/a.b-c0 would be called a-b-c0/);
  await sim.pass(120_000);
  expect(sim.lines()).toEqual([expect.stringMatching(/^10\.0\.0\.1\d Host\/a\.b-c0\/lan$/)]);
});
