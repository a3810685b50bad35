import { existsSync } from "node:fs";
import { IpamError, type Issue, type Snapshot } from "../core/index.ts";
import { didYouMean } from "../schema/nearest.ts";
import { lockfile, openKubernetes, withOffers } from "../state/index.ts";
import { otherRecord } from "../state/offer.ts";
import type { AddressValidationProps } from "./address-validation.ts";

const names = [
  "lock",
  "backend",
  "context",
  "namespace",
  "pools",
  "nodes",
] as const satisfies readonly (keyof AddressValidationProps)[];
const backends = ["lockfile", "kubernetes"];

/** Throws IpamError `invalid` with all that cdk8s.yaml says and cannot mean; nothing else has looked at it. */
export function refuseProps(props: AddressValidationProps): void {
  const issues = [...Object.entries(props).flatMap(refusedEntry), ...contradiction(props)];
  if (issues.length > 0) throw new IpamError("invalid", issues);
}

function refusedEntry([name, value]: [string, unknown]): Issue[] {
  const path = ["properties", name];
  if (!names.some((known) => known === name))
    return [{ message: `the validation has no property ${name}${didYouMean(name, names)}`, path }];
  if (typeof value !== "string" || value === "") return [{ message: `${name} of the validation must be text`, path }];
  if (name !== "backend" || backends.includes(value)) return [];
  const message = `there is no backend ${value}${didYouMean(value, backends)}; there are: ${backends.join(", ")}`;
  return [{ message, path }];
}

function contradiction({ lock, backend, context, namespace }: AddressValidationProps): Issue[] {
  if (backend === "kubernetes" && lock !== undefined)
    return [
      {
        message: `the record is in a cluster (backend: kubernetes), or in ${lock}, but not in both`,
        path: ["properties", "lock"],
        hint: "Leave out one of the two.",
      },
    ];
  const stray = context === undefined ? (namespace === undefined ? undefined : "namespace") : "context";
  if (backend === "kubernetes" || stray === undefined) return [];
  const message = `${stray} of the validation says where in a cluster the record is`;
  return [{ message, path: ["properties", stray], hint: "Add backend: kubernetes." }];
}

/** What manifests are held against. */
export interface ValidationRecord {
  readonly name: string;
  readonly snapshot: Snapshot;
  /** Whether nobody has recorded anything there, nor is about to. */
  readonly isMissing: boolean;
}

/** Under `nodeippool allocate -- npx cdk8s synth` the app's plan is on its way into the record, and counts. */
export async function readRecord(props: AddressValidationProps): Promise<ValidationRecord> {
  const { name, recorded, exists } = await (props.backend === "kubernetes" ? ofCluster(props) : ofLock(props));
  const snapshot = otherRecord(name) === undefined ? withOffers(recorded, name) : recorded;
  return { name, snapshot, isMissing: !exists && snapshot.allocations.length === 0 };
}

async function ofCluster({ context, namespace }: AddressValidationProps) {
  const backend = await openKubernetes({ context, namespace });
  return { name: backend.name, recorded: await backend.read(), exists: true };
}

function ofLock({ lock: name = "nodeippool.lock" }: AddressValidationProps) {
  return { name, recorded: lockfile(name).readSync(), exists: existsSync(name) };
}
