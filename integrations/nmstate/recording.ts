import { nodeOwner, policyOfKey } from "../../core/index.ts";
import { childLabels, hostnameLabel } from "../../schema/node.ts";
import { asList, type Bag } from "../../schema/objects.ts";
import { raw } from "../../schema/shape.ts";
import type { Facts } from "../contract/integration.ts";
import { isManaged } from "../contract/managed-by.ts";
import { metadataOf } from "../contract/object-metadata.ts";
import type { Recording } from "../contract/recording.ts";
import type { Concern, WatchedKind } from "../contract/watched-kind.ts";
import { enactmentLabels, isFleetEnactment, isServedBy } from "./captured.ts";
import { nodeOf } from "./child.ts";
import { isCleanupEnactment, keepStates, saidIn } from "./cleanup-form.ts";
import { keepRoute } from "./dropped-routes.ts";
import { goneFromNodes } from "./gone.ts";
import { evidenceOf, keyOfPolicy } from "./node-objects.ts";
import { asDesiredState, asEnactment, asNic, asPolicy, asReport, type Nic } from "./objects.ts";
import { usesPools } from "./policy.ts";
import { setsResolver } from "./resolver-conflicts.ts";
import { isFleetPolicy, isSharedPolicy, originOf } from "./shared-policy.ts";

export const policyKind = "NodeNetworkConfigurationPolicy";
export const enactmentKind = "NodeNetworkConfigurationEnactment";

export const nmstateKinds: readonly WatchedKind[] = [
  {
    apiVersion: "nmstate.io/v1",
    kind: policyKind,
    plural: "nodenetworkconfigurationpolicies",
    keep: keepPolicy,
    ignoresStatus: true,
    isGrant: true,
    showsIfMade: true,
    keepMade: (policy) => {
      const state = asDesiredState(asPolicy(policy).spec.desiredState);
      const interfaces = state.interfaces.map(keepGiven);
      const config = asList(state.routes.config).map(keepRoute);
      const { nodeSelector, capture } = asPolicy(policy).spec;
      const selection = isSharedPolicy(policy) ? { nodeSelector, capture } : {};
      return {
        spec: { ...selection, desiredState: { interfaces, ...(config.length === 0 ? {} : { routes: { config } }) } },
      };
    },
    // kubernetes-nmstate refuses a change of `capture`.
    fixed: (policy) => raw(asPolicy(policy).spec).capture ?? {},
  },
  {
    apiVersion: "nmstate.io/v1beta1",
    kind: enactmentKind,
    plural: "nodenetworkconfigurationenactments",
    keep: (enactment) => {
      const { policyGeneration, conditions } = asEnactment(enactment).status;
      return { status: { policyGeneration, conditions, ...keepStates(enactment) } };
    },
    isGrant: true,
    showsIfMade: true,
    statusPart: saidIn,
    // A handler that is about to apply an address still has its enactment.
    staysUnwanted: (enactment) => !isCleanupEnactment(enactment),
  },
  {
    apiVersion: "nmstate.io/v1beta1",
    kind: "NodeNetworkState",
    plural: "nodenetworkstates",
    keep: (report) => {
      const { status } = asReport(report);
      const interfaces = status.currentState.interfaces.map(keepInterface);
      const { conditions, lastSuccessfulUpdateTime } = raw(status);
      return { status: { currentState: { interfaces }, conditions, lastSuccessfulUpdateTime } };
    },
  },
];

function keepPolicy(policy: Bag): Bag {
  const { apiVersion, spec } = policy;
  const { conditions, unavailableNodeCountMap } = asPolicy(policy).status;
  return { apiVersion, spec, status: { conditions, ...(isFleetPolicy(policy) ? { unavailableNodeCountMap } : {}) } };
}

/** Returns the fields of an interface in a policy that decide which NIC gets which addresses. */
function keepGiven(nic: Nic): Bag {
  const fields = ["name", "state", "ipv4", "ipv6", "identifier", "profile-name", "mac-address", "pci-address"];
  return Object.fromEntries(Object.entries(raw(nic)).filter(([field]) => fields.includes(field)));
}

/** Returns the fields of a reported interface that have its names and addresses. */
function keepInterface(nic: unknown): Bag {
  const { name, state, type, ipv4, ipv6, ...rest } = raw(asNic(nic));
  const names = Object.entries(rest).filter(([field]) => namesOfNic.includes(field));
  return {
    name,
    state,
    type,
    ...(ipv4 === undefined ? {} : { ipv4 }),
    ...(ipv6 === undefined ? {} : { ipv6 }),
    ...Object.fromEntries(names),
  };
}

const namesOfNic = ["alt-names", "profile-name", "identifier", "permanent-mac-address", "mac-address", "pci-address"];

/**
 * Returns the owners and sources that an object concerns.
 *
 *  object                         | owners        | sources
 *  -------------------------------+---------------+------------------------------
 *  policy that uses pools         | all           | itself
 *  policy made for a node         | the node      | the policy that it comes from
 *  any other policy that sets the | all           | none
 *   resolver of its nodes         |               |
 *  policy for many nodes, also    | all           | the policy that it comes from
 *   one that takes addresses off  |               |
 *  any other policy               | none          | none
 *  enactment                      | its node      | the policy that it enacts; the one that the controller made that of
 *  NodeNetworkState               | its node      | none
 */
function concerns(object: Bag): Concern {
  const { name, labels } = metadataOf(object);
  const nodes = (node: unknown) => (typeof node === "string" ? [nodeOwner(node)] : []);
  const policies = (policy: unknown) => (typeof policy === "string" ? [keyOfPolicy(policy)] : []);
  switch (object.kind) {
    case policyKind:
      if (isSharedPolicy(object)) return { owners: "all", sources: policies(originOf(object)) };
      if (usesPools(object)) return { owners: "all", sources: policies(name) };
      if (nodeOf(object) === undefined && setsResolver(object)) return { owners: "all", sources: [] };
      // Where a plan has a policy for a node, the node asks for nothing.
      return {
        owners: nodes(nodeOf(object)),
        sources: policies(labels[childLabels.policy]),
        isEvidence: isManaged(object),
      };
    case enactmentKind: {
      const sources = policies(labels[childLabels.policy] ?? labels[enactmentLabels.policy]);
      // Once a node has its addresses by the fleet form, it needs no policy of its own.
      return {
        owners: nodes(labels[enactmentLabels.node]),
        sources,
        isEvidence: !isFleetEnactment(object) || !isServedBy(object),
      };
    }
    case "NodeNetworkState":
      return { owners: nodes(name), sources: [], isEvidence: true };
    default:
      return { owners: [], sources: [] };
  }
}

/** What the controller asks to record the addresses of nodes. */
export const nmstateRecording: Recording = {
  kinds: nmstateKinds,
  concerns,
  sourceOf: (claim) => keyOfPolicy(policyOfKey(claim)),
  evidenceOf,
  gone: (objects, facts, releasing, isReset, find) => goneFromNodes(objects, facts, releasing, { isReset, find }),
  owners: { unservable: unselectable },
};

/** The same where policies may have the fleet form. */
export const fleetRecording: Recording = {
  ...nmstateRecording,
  gone: (objects, facts, releasing, isReset, find) =>
    goneFromNodes(objects, facts, releasing, { isReset, find, mustBeTakenOff: true }),
};

/** Returns why nodes get no policy: a policy for one node alone needs a hostname label that no other node has. */
export function unselectable({ nodes }: Pick<Facts, "nodes">): Map<string, string> {
  const byHostname = Map.groupBy(nodes, ({ labels }) => labels.get(hostnameLabel));
  return new Map(
    [...byHostname].flatMap(([hostname, named]) => {
      if (hostname !== undefined && named.length === 1) return [];
      const all = named.map(({ name }) => name).join(", ");
      return named.map(({ name }): [string, string] => [
        nodeOwner(name),
        hostname === undefined
          ? `node ${name} has no label ${hostnameLabel}. Let its kubelet set it`
          : `nodes ${all} have the same label ${hostnameLabel}: ${hostname}. Give each its own hostname`,
      ]);
    }),
  );
}
