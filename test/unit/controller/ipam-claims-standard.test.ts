import { describe, expect, it } from "vitest";
import { kindsOf } from "../../../controller/cache/kinds.ts";
import { integrationsInCluster } from "../../../pipeline/integrations.ts";
import { asBag, type Bag } from "../../../schema/objects.ts";
import { begin, claim, pool, showing } from "../../support/objects/ipam-claims.ts";
import { macvlanNetwork } from "../../support/objects/vm-objects.ts";

const names = (count: number, network: string) => Array.from({ length: count }, (_, i) => `vm-${i}.${network}`);

/** Network `small` on 10.7.0.0/29, with gateway .1 and without .3. */
function small() {
  const all = begin();
  const spec: Bag = { range: { cidr: "10.7.0.0/29", exclude: ["10.7.0.3"] }, gateway: "10.7.0.1" };
  all.sim.create(pool("small", "", "", spec));
  all.sim.create(macvlanNetwork("small", "small"));
  return all;
}

describe("IPAMClaims in a cluster, by what the proposal asks for", () => {
  it("C11: a controller that starts without a record has what claims show, before anybody new gets an address", async () => {
    const { sim, stands } = begin();
    for (const name of ["0.red", "1.red"]) sim.create(claim(name));
    for (const [name, ip] of Object.entries({ "a.red": "10.0.0.1/24", "b.red": "10.0.0.3/24" }))
      sim.create(showing(name, ip));
    await sim.pass(3000);
    expect(["a.red", "b.red", "0.red", "1.red"].map(stands)).toEqual(
      ["10.0.0.1/24", "10.0.0.3/24", "10.0.0.2/24", "10.0.0.4/24"].map((ip) => `${ip} True SuccessfulAllocation`),
    );
    expect(sim.lines()).toHaveLength(4);
  });

  it("C12: nobody gets the gateway, what is excluded, or the ends of the subnet", async () => {
    const { sim, stands } = small();
    const all = names(6, "small");
    for (const name of all) sim.create(claim(name, {}, "small"));
    await sim.pass(3000);
    expect(all.map(stands).sort()).toEqual([
      ...["10.7.0.2/29", "10.7.0.4/29", "10.7.0.5/29", "10.7.0.6/29"].map((ip) => `${ip} True SuccessfulAllocation`),
      ...["False SubnetExhausted", "False SubnetExhausted"],
    ]);
  });

  it.each(["10.7.0.1", "10.7.0.3", "10.7.0.7", "10.7.9.9"])(
    "B3: %s is nobody's, also where a status shows it",
    async (ip) => {
      const { sim, stands } = small();
      sim.create({ ...claim("a.small", {}, "small"), status: { ips: [`${ip}/29`] } });
      sim.create(claim("b.small", {}, "small"));
      await sim.pass(3000);
      expect(["a.small", "b.small"].map(stands)).toEqual([
        `${ip}/29 False InternalError`,
        "10.7.0.2/29 True SuccessfulAllocation",
      ]);
      expect(sim.lines()).toEqual(["10.7.0.2 IPAMClaim/default:b.small/small"]);
    },
  );

  it("C13: off, no definition and no claim is looked at", () => {
    const kindsWith = (ipamClaims: boolean) => kindsOf(integrationsInCluster({ ipamClaims })).map(({ kind }) => kind);
    const own = ["NetworkAttachmentDefinition", "IPAMClaim"];
    expect(kindsWith(true)).toEqual(expect.arrayContaining(own));
    expect(kindsWith(false).filter((kind) => own.includes(kind))).toEqual([]);
  });

  it("C15: whose pod uses a claim, and how many do, changes nothing; what the plugin says of it stays", async () => {
    const { sim, object, stands, edit } = begin();
    sim.create(claim("a.red"));
    await sim.pass(3000);
    for (const name of ["virt-launcher-1", "virt-launcher-2"]) {
      edit("a.red", (one) => ({ ...one, status: { ...asBag(one.status), ownerPod: { name } } }));
      sim.create(claim(`${name}.red`));
      await sim.pass(3000);
      expect(stands("a.red")).toBe("10.0.0.1/24 True SuccessfulAllocation");
      expect(asBag(object("a.red")?.status)?.ownerPod).toEqual({ name });
    }
    expect(sim.lines()).toHaveLength(3);
  });
});
