import { type Allocation, formatAddress, formatOwner, ownerOfKey, parseAddress, type Use } from "../../core/index.ts";
import type { ClusterIntegration } from "../../integrations/contract/cluster-integration.ts";
import type { Facts } from "../../integrations/contract/facts.ts";
import type { Known } from "../../integrations/contract/known.ts";
import { kindInGroup } from "../../integrations/contract/object-key.ts";
import { isDeleting, keyOf, labelsOf, nameOf, namespaceOf } from "../../integrations/contract/object-metadata.ts";
import type { Reconciler } from "../../integrations/contract/reconciler.ts";
import type { Recording } from "../../integrations/contract/recording.ts";
import type { Step } from "../../integrations/contract/step.ts";
import type { System } from "../../integrations/contract/system.ts";
import type { WatchedKind } from "../../integrations/contract/watched-kind.ts";
import { isGated, isOver } from "../../integrations/networks/gated-pod.ts";
import { inject } from "../../integrations/networks/inject.ts";
import { addressesGiven } from "../../integrations/networks/pod-allocation.ts";
import { type Bag, type LocatedObject, placeless } from "../../schema/objects.ts";
import { text, view } from "../../schema/shape.ts";
import { isToy, toy } from "./toy-integration.ts";

const asPrinter = view({ status: view({ address: text }) });

/** On the pod of a Printer, which has its name: no two pods have its address. */
export const podLabel = "toys.example.org/printer";

const kinds: readonly WatchedKind[] = [
  {
    ...{ apiVersion: "toys.example.org/v1", kind: "Printer", plural: "printers" },
    ...{ isOwner: true, keep: ({ spec, status }) => ({ spec, status }) },
  },
  {
    ...{ apiVersion: "v1", kind: "Pod", plural: "pods", where: { labels: podLabel } },
    ...{ mayHaveAny: true, keep: ({ spec, status }) => ({ spec, status }) },
  },
];

/** The Printer that an object is, or is the pod of: as the record names it, if there is one. */
function printerOf(object: Bag): string[] {
  if (!isToy(object) && labelsOf(object)[podLabel] === undefined) return [];
  return [formatOwner({ kind: "Printer", namespace: namespaceOf(object), name: nameOf(object) })];
}

function keyOfPrinter(owner: string): string {
  return kindInGroup("Printer", "toys.example.org") + owner.slice("Printer".length);
}

/** What a Printer says to have, and what its pod may run with. */
function usesOf({ object, at }: LocatedObject): Use[] {
  const given = isGated(object) || isOver(object) ? [] : addressesGiven(object).flatMap(({ ips }) => ips);
  const shown = isToy(object) ? [asPrinter(object).status.address ?? ""] : given;
  const addresses = shown.flatMap((ip) => parseAddress(ip.replace(/\/.*/, "")).value ?? []);
  return printerOf(object).flatMap((owner) => addresses.map((address) => ({ address, owner, at: at([], "") })));
}

/** Its status. A pool that gives nothing now takes nothing away, and one that is being deleted keeps what it shows: it may be in use. */
function report({ object, lines: [line], pending: [pending], rejected }: Known, { pools }: Facts): Step[] {
  const pool = line && pools.get(line.pool);
  if (isDeleting(object) || (line !== undefined && pool === undefined)) return [];
  const address = line && pool && `${formatAddress(line.address)}/${pool.prefix.length}`;
  const [status, reason] = address === undefined ? ["False", "NoAddress"] : ["True", "Allocated"];
  const message = rejected ?? pending?.message ?? "";
  return [{ verb: "status", object, fields: { address }, conditions: [{ type: "Ready", status, reason, message }] }];
}

/** Who is concerned, and what frees an address: that no Printer and no pod shows it. Time never does. */
const recording: Recording = {
  kinds,
  concerns: (object) => {
    const owners = printerOf(object);
    return { owners, sources: owners.map(keyOfPrinter), isEvidence: object.kind === "Pod" };
  },
  gone: (objects, _, releasing) => {
    const shown = objects.flatMap((object) => usesOf(placeless(object)));
    const isBy = (line: Allocation) => (use: Use) =>
      use.owner === ownerOfKey(line.claim) && use.address === line.address;
    return releasing.filter((line) => !shown.some(isBy(line)));
  },
};

/** Writes the address of a Printer into its pod, and lets the pod be scheduled. */
const delivery: Reconciler = {
  kinds,
  belongsTo: printerOf,
  steps: (_, belonging) => {
    const printer = belonging.find((one) => isToy(one) && !isDeleting(one));
    const pod = belonging.find((one) => isGated(one) && !isDeleting(one));
    const { address } = asPrinter(printer).status;
    if (printer === undefined || pod === undefined || !address) return [];
    return [inject(pod, { given: [{ interface: "net1", ips: [address] }] }, { keys: [keyOf(printer)] })];
  },
};

/** The toy as the controller serves it: a Printer has its address in its status, and no object is made for it. */
const integration: ClusterIntegration = {
  ...{ ...toy, recording, report },
  render: () => ({ instead: new Map(), added: [], left: [] }),
  uses: kinds.map(({ kind }) => ({
    kind,
    reader: () => (located, found) => void found.uses.push(...usesOf(located)),
  })),
};

export const toySystem: System = { plan: toy, inCluster: () => ({ integration, reconcilers: [delivery] }) };
