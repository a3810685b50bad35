import { describe, expect, it } from "vitest";
import type { IpamError } from "../../../core/errors.ts";
import { readDesired } from "../../../pipeline/desired.ts";
import { findUses } from "../../../pipeline/find-uses.ts";
import { readFolder, renderFolder } from "../../../pipeline/folder.ts";
import { firstRefusal } from "../../../pipeline/guards.ts";
import { integrations } from "../../../pipeline/integrations.ts";
import { propose } from "../../../pipeline/proposal.ts";
import { memory } from "../../../state/memory.ts";
import { recordOf } from "../../support/core/text.ts";
import { foreignDocuments } from "../../support/objects/foreign-documents.ts";
import { macvlanNetwork, ovnNetwork, vm } from "../../support/objects/vm-objects.ts";
import { networksKey } from "../../support/objects/workload-objects.ts";
import { documentsOf, nicPolicyText, nodesOf, poolText } from "../../support/schema/text.ts";

const web = {
  apiVersion: "apps/v1",
  kind: "StatefulSet",
  metadata: { name: "web" },
  spec: { replicas: 2, template: { metadata: { annotations: { [networksKey]: "red" } } } },
};
const ours = documentsOf(
  poolText(),
  nicPolicyText("a"),
  ...[macvlanNetwork("red", "p"), web, ovnNetwork("blue", { subnets: "192.168.10.0/24" })]
    .concat(vm("vm-a", { blue: "blue-netconfig" }) as never)
    .map((one) => `${JSON.stringify(one)}\n`),
);
const nodes = nodesOf("n1\nn2\n");

/** The plan of a folder with our manifests and others beside them, and what is rendered of both. */
async function planned(others: Readonly<Record<string, string>>) {
  const files = Object.entries({ "ours.yaml": ours, ...others }).map(([path, text]) => ({ path, text }));
  const manifests = readFolder(files);
  const state = memory(recordOf([], manifests.pools));
  const proposal = propose(() => readDesired({ ...manifests, nodes }, integrations), await state.read(), {
    set: "default",
  });
  const refusal = firstRefusal(proposal);
  if (refusal !== undefined) throw refusal;
  const rendered = renderFolder(files, manifests, proposal.rendered());
  findUses(files, proposal.desired.pools, nodes);
  return { plan: proposal.plan, files: Object.fromEntries(rendered.map(({ path, text }) => [path, text])) };
}

describe("a document of another program changes nothing of our plan, and passes byte for byte", async () => {
  const alone = await planned({});

  it("is one of two hundred", () => {
    expect(foreignDocuments.length).toBeGreaterThanOrEqual(200);
    expect(new Set(foreignDocuments.map(({ what }) => what)).size).toBe(foreignDocuments.length);
    expect(alone.plan.assign).toHaveLength(5);
  });

  it("together, too, each in a namespace of its own", async () => {
    const all = foreignDocuments.map(
      ({ text }, i) => [`theirs-${i}.yaml`, text.replaceAll(/(namespace"?: "?)default/g, `$1n${i}`)] as const,
    );
    const { plan, files } = await planned(Object.fromEntries(all));
    expect(plan.assign).toEqual(alone.plan.assign);
    expect(files).toEqual({ ...alone.files, ...Object.fromEntries(all) });
  });

  it.each(foreignDocuments)("$what", async ({ text }) => {
    const { plan, files } = await planned({ "theirs.yaml": text }).catch((error: IpamError) => {
      throw new Error(error.message, { cause: error });
    });
    expect(files["ours.yaml"]).toBe(alone.files["ours.yaml"]);
    expect(plan.assign).toEqual(alone.plan.assign);
    expect(files["theirs.yaml"]).toBe(text);
  });
});
