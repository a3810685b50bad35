import { expect, it } from "vitest";
import { asBag } from "../../../schema/objects.ts";
import { begin, claim, pool } from "../../support/ipam-claims.ts";
import { macvlanNetwork } from "../../support/vm-objects.ts";

it.fails("while the first of two definitions of a network cannot be served, the second one does not stand for it", async () => {
  const { sim, ips, bind } = begin();
  sim.create(pool("other", "10.0.1.0/24", "10.0.1.9"));
  const { metadata, ...second } = macvlanNetwork("red", "other");
  sim.create({ ...second, metadata: { ...asBag(metadata), name: "red2" } });
  sim.create(claim("a.red"));
  await sim.pass(3000);
  bind("red", "lan, nope");
  await sim.pass(1000);
  sim.create(claim("b.red"));
  await sim.pass(3000);
  expect(ips("b.red")).toBeUndefined();
});
