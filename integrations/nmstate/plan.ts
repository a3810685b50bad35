import type { Integration } from "../contract/integration.ts";
import { conflictsOf } from "./conflicts.ts";
import { claimsIn, idlePolicies, type NmstateModel, readPolicies } from "./model.ts";
import { readReport } from "./node-report.ts";
import { leftOnOldNics } from "./old-nic.ts";
import { usesPools } from "./policy.ts";
import { renderPolicies } from "./render.ts";
import { resolverConflicts } from "./resolver-conflicts.ts";
import { isPolicyClaim } from "./select.ts";
import { usesOfPolicies } from "./uses.ts";

/** kubernetes-nmstate: policies that take addresses from pools become one policy per node with literal addresses. */
export const nmstate: Integration<NmstateModel> = {
  name: "nmstate",
  reads: [
    {
      group: "nmstate.io",
      kind: "NodeNetworkConfigurationPolicy",
      plural: "nodenetworkconfigurationpolicies",
      owns: usesPools,
      mark: /\bippool\b/,
    },
  ],
  read: readPolicies,
  claims: claimsIn,
  isClaim: isPolicyClaim,
  render: renderPolicies,
  uses: [
    { kind: "NodeNetworkState", reader: () => readReport },
    { kind: "NodeNetworkConfigurationPolicy", reader: usesOfPolicies },
  ],
  conflicts: (model, facts, claims, holdings) => [
    ...leftOnOldNics(model, facts, holdings),
    ...conflictsOf(model, facts, claims, holdings),
    ...resolverConflicts(model, facts, claims, holdings),
  ],
  explain: { idle: idlePolicies },
};
