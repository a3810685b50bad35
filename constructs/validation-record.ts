import { existsSync } from "node:fs";
import type { Snapshot } from "../core/index.ts";
import { lockfile, openKubernetes, withOffers } from "../state/index.ts";
import { otherRecord } from "../state/offer.ts";
import type { AddressValidationProps } from "./validation-props.ts";

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
