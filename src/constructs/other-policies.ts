import { ApiObject } from "cdk8s";
import type { Construct } from "constructs";
import { IpamError, type Plan } from "../core/index.ts";
import { handWritten, holdersIn, writtenForOthers } from "../nmstate/hand-written.ts";
import { emptyFindings } from "../schema/findings.ts";
import { type Bag, policiesIn } from "../schema/objects.ts";
import { policyOwner, readObject } from "../schema/uses.ts";
import { nodesOf } from "./expansion.ts";
import type { NodeNetworkPolicy } from "./node-network-policy.ts";

/** The NodeNetworkConfigurationPolicies of an app, as they are synthesised, but for objects of ours. */
export function otherPolicies(app: Construct, ours: readonly ApiObject[]): Bag[] {
  const known = new Set<Construct>(ours);
  return app.node
    .findAll()
    .filter((one) => ApiObject.isApiObject(one) && mayHoldPolicies.test(String(one.kind)) && !known.has(one))
    .flatMap((one) => policiesIn(jsonOf(one as ApiObject)));
}

const mayHoldPolicies = /^NodeNetworkConfigurationPolicy$|List$/;

/** Undefined for what cannot be synthesised: synthesis itself says why. */
function jsonOf(object: ApiObject): unknown {
  try {
    return object.toJson();
  } catch {
    return undefined;
  }
}

/** Throws `in-use` if the plan gives somebody an address that a policy of the app writes out for others. */
export function refuseWritten(policies: readonly NodeNetworkPolicy[], others: readonly Bag[], made: Plan): void {
  const holders = holdersIn(made);
  const nodes = [...nodesOf(policies).values()];
  const own = policies.map(({ policy }) => policy);
  const issues = others.flatMap((object) => {
    const found = emptyFindings();
    const name = policyOwner(object);
    readObject({ object, at: () => ({ file: name, line: 1, column: 1 }) }, nodes, found, policyOwner);
    return writtenForOthers(found.uses, holders).map(({ at, message, ...issue }) => ({
      ...issue,
      message: `${name}: ${message}`,
    }));
  });
  const all = [...handWritten(own, holders), ...issues];
  if (all.length > 0) throw new IpamError("in-use", all);
}
