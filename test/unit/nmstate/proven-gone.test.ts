import { describe, expect, it } from "vitest";
import type { Allocation } from "../../../core/allocation.ts";
import type { Use } from "../../../core/use.ts";
import { provenGone, type Reports } from "../../../integrations/nmstate/proven-gone.ts";
import { lineOf } from "../../support/core/text.ts";

describe("provenGone", () => {
  const line = lineOf("10.0.0.4 Node/n/static-ip/eth2 if=eth2");
  const unplaced = lineOf("10.0.0.4 Node/n/static-ip/eth2");
  const use = (text: string): Use => {
    const [where, owner, nic] = text.split(" ");
    const { address } = lineOf(`${where} Node/x/y`);
    return { address, owner: `${owner}`, interface: `${nic}`, at: { file: "nns.yaml", line: 1, column: 1 } };
  };
  /** `Node/n eth1:46 eth2:4`: a report, its NICs and their families. */
  const reportsOf = (...texts: string[]): Reports =>
    new Map(
      texts.map((text) => {
        const [owner, ...nics] = text.split(" ");
        const families = nics.map((nic) => nic.split(":") as [string, string]);
        return [owner as string, new Map(families.map(([name, digits]) => [name, new Set([...digits].map(Number))]))];
      }),
    ) as Reports;
  it.each<[what: string, line: Allocation, reports: string[], uses: string[], kept: string | undefined]>([
    ["its NIC is without it", line, ["Node/n eth1: eth2:4"], ["10.0.0.9 Node/n eth2"], undefined],
    ["its NIC has it", line, ["Node/n eth2:4"], ["10.0.0.4 Node/n eth2"], "still on Node/n eth2"],
    ["another node has it", line, ["Node/n eth2:4"], ["10.0.0.4 Node/m eth1"], "still on Node/m eth1"],
    ["another node reported", line, ["Node/m eth2:4"], [], "Node/n is not reported"],
    ["nobody reported", line, [], [], "Node/n is not reported"],
    [
      "its NIC is filtered",
      line,
      ["Node/n eth1:46"],
      [],
      "the report of Node/n shows no eth2 that is up, with its IPv4",
    ],
    [
      "its family is left out",
      line,
      ["Node/n eth2:6"],
      [],
      "the report of Node/n shows no eth2 that is up, with its IPv4",
    ],
    ["nobody knows its NIC", unplaced, ["Node/n eth2:46"], [], "it is not recorded on which NIC it was"],
  ])("%s", (_, one, reports, uses, why) => {
    const { gone, kept } = provenGone([one], reportsOf(...reports), uses.map(use));
    expect(gone).toEqual(why === undefined ? [one] : []);
    const isInUse = why?.startsWith("still") ?? false;
    expect(kept).toEqual(why === undefined ? [] : [{ line: one, why, isInUse }]);
  });
});
