import { ApiObject } from "cdk8s";
import type { Construct } from "constructs";
import { IpamError, type Issue, type Pool } from "../core/index.ts";
import {
  type Holdings,
  handWritten,
  literals,
  writtenForMany,
  writtenForOthers,
} from "../integrations/nmstate/hand-written.ts";
import { selectNodes } from "../integrations/nmstate/select.ts";
import { otherSpeakers } from "../integrations/nmstate/speakers.ts";
import { emptyFindings } from "../schema/findings.ts";
import { type Bag, policiesIn } from "../schema/objects.ts";
import type { PolicyObject } from "../schema/policy.ts";
import { policyOwner, readObject, type Select, selecting } from "../schema/uses.ts";
import { type Holders, replaceTokens } from "./address-token.ts";
import type { NodeNetworkPolicy } from "./node-network-policy.ts";
import { nodesOf } from "./own-policies.ts";

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

/** What policies of an app are held against. */
export interface AppPolicies {
  readonly policies: readonly NodeNetworkPolicy[];
  /** The policies that somebody else makes in the app. */
  readonly others: readonly Bag[];
  readonly holders: Holders;
  readonly pools: readonly Pool[];
}

/**
 * Throws `in-use` if a policy of the app writes out for somebody what the plan or the record has for others, or an
 * address of a pool for several nodes.
 */
export function refuseWritten({ policies, others, holders, pools }: AppPolicies, held: Holdings): void {
  const nodes = [...nodesOf(policies).values()];
  const select = selecting(nodes);
  const own = policies.map(({ policy, props }) => {
    const object = withAddresses(policy.source, holders) as PolicyObject;
    const { name, desiredState } = { ...object.metadata, ...object.spec };
    const all = props.nodes?.all ?? nodes;
    // Of nodes that are known by name alone, a policy that writes nothing out need not be told.
    const nodesOfIt = literals({ name, desiredState }).length === 0 ? [] : selectNodes(policy, all);
    return { name, desiredState, object, all, nodes: nodesOfIt };
  });
  const issues = [
    ...handWritten(own, held),
    ...writtenForMany([...own, ...otherSpeakers(others, nodes)], pools),
    ...own.flatMap(({ object, all }) =>
      issuesOf(object as unknown as Bag, selecting(all), { planned: new Map(), others: held.others }),
    ),
    ...others.flatMap((object) => issuesOf(object, select, held)),
  ];
  if (issues.length > 0) throw new IpamError("in-use", issues);
}

function issuesOf(object: Bag, select: Select, held: Pick<Holdings, "planned" | "others">): Issue[] {
  const found = emptyFindings();
  const name = policyOwner(object);
  readObject({ object, at: () => ({ file: name, line: 1, column: 1 }) }, select, found, policyOwner);
  return writtenForOthers(found.uses, held).map(({ at, message, ...issue }) => ({
    ...issue,
    message: `${name}: ${message}`,
  }));
}

/** A copy of plain data with addresses for tokens, but for those that cannot be looked up: synthesis itself says why. */
function withAddresses(value: unknown, holders: Holders): unknown {
  if (typeof value === "string") return withAddress(value, holders);
  if (Array.isArray(value)) return value.map((item) => withAddresses(item, holders));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withAddresses(item, holders)]));
}

function withAddress(text: string, holders: Holders): string {
  try {
    return replaceTokens(text, holders);
  } catch {
    return text;
  }
}
