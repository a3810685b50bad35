import { describe, expect, it } from "vitest";
import { parsePodNetworks } from "../../../integrations/workload/pod-networks.ts";
import { networkTexts } from "../../support/objects/foreign-documents.ts";
import { networksKey } from "../../support/objects/workload-objects.ts";

/** What GetPodNetwork of Multus v4.2.2 reads in each of these texts for a pod of namespace `shop`, as it printed that. */
const readByMultus: readonly string[] = [
  "",
  "shop/ net1",
  "shop/lan net1",
  "shop/lan net1, shop/wan net2",
  "shop/lan net1, shop/wan net2",
  "shop/lan net1, shop/lan net2, shop/lan net3",
  "shop/lan net1",
  "shop/lan eth5",
  "shop/lan eth1, shop/lan eth2",
  "shop/lan eth1, shop/lan eth1",
  "shop/lan eth5",
  "error",
  "error",
  "shop/lan net1",
  "shop/ eth1",
  "shop/ net1, shop/ net2",
  "shop/lan net1, shop/ net2, shop/wan net3",
  "error",
  "shop/null net1",
  "",
  "",
  "shop/lan net1",
  "shop/lan net1, shop/wan net2",
  "shop/lan eth5",
  "shop/lan eth7",
  "shop/lan net1",
  "shop/lan net1",
  "shop/lan net1",
  "shop/lan net1",
  "shop/lan net1",
  "shop/lan net1",
  "shop/lan net1",
  "error",
  "error",
  "shop/lan net1",
  "error",
  "shop/lan net1",
  "shop/lan net1",
  "shop/lan net1",
  "shop/lan net1",
  "shop/lan net1",
  "shop/lan eth1, shop/wan eth1",
  "shop/lan net1",
  "shop/lan net1",
  "shop/ net1",
  "error",
  "error",
  "error",
  "error",
  "shop/ net1",
  "error",
  "error",
  "error",
  "error",
  "error",
  "error",
];

/** Returns what is wrong with a reading of Multus: it finds no network without a name, and attaches no second one of an interface. */
function isRefusedLater(networks: string): boolean {
  const nics = networks.split(", ").map((one) => one.split(" ")[1]);
  return /\/ net|\/ eth/.test(networks) || new Set(nics).size < nics.length;
}

describe("the networks of a pod are those that Multus reads", () => {
  it.each(networkTexts.map((text, i) => [text, readByMultus[i] ?? ""] as const))("%j", (text, real) => {
    const { value } = parsePodNetworks({ [networksKey]: text }, "shop");
    const own = value?.map(({ definition, nic }) => `${definition} ${nic}`).join(", ");
    if (isRefusedLater(real)) expect(own).toBeUndefined();
    // Of what Multus refuses, no pod starts.
    else if (real !== "error") expect(own).toBe(real);
  });
});
