import { App, Chart } from "cdk8s";
import { parseAllDocuments } from "yaml";
import {
  type AddressClaim,
  AddressPlan,
  type AddressPlanProps,
  type DesiredState,
  loadState,
} from "../../../constructs/index.ts";
import { IpamError, type Snapshot } from "../../../core/index.ts";
import { encode, memory } from "../../../state/index.ts";
import { recordOf } from "../core/text.ts";
import type { Manifest } from "../schema/render.ts";

/** Makes constructs in a new app; the chart is there for those who need only one. */
export type Build = (chart: Chart, app: App) => void;

export interface AppOptions extends AddressPlanProps {
  /** What is recorded before, as `recordOf` takes it, for pools of these names and ranges. */
  readonly record?: Snapshot;
  readonly confirmRelease?: boolean;
}

export function appOf(build: Build, { record, confirmRelease: _, ...props }: AppOptions = {}): App {
  const app = new App();
  const state = record === undefined ? {} : { state: { name: "memory", snapshot: record } };
  AddressPlan.configure(app, { ...state, ...props });
  build(new Chart(app, "network"), app);
  return app;
}

export const nothing = recordOf([], []);

/** The record after everything that the app claims has been recorded. */
export async function recordAfter(
  build: Build,
  { record = nothing, confirmRelease = false, ...props }: AppOptions = {},
): Promise<Snapshot> {
  const backend = memory(record);
  const app = appOf(build, { ...props, state: await loadState(backend) });
  return backend.commit(AddressPlan.of(app).plan({ confirmRelease }));
}

/** The objects of the app, once everything is recorded. */
export async function objectsOf(build: Build, options: AppOptions = {}): Promise<Manifest[]> {
  return synthesised(appOf(build, { ...options, record: await recordAfter(build, options) }));
}

/** The same, as `Kind/name` with the object. */
export async function objectsByName(build: Build, options: AppOptions = {}): Promise<Record<string, Manifest>> {
  const objects = await objectsOf(build, options);
  return Object.fromEntries(objects.map((object) => [`${object.kind}/${object.metadata.name}`, object]));
}

export function synthesised(app: App): Manifest[] {
  return parseAllDocuments(app.synthYaml(), { version: "1.1" }).map((document) => document.toJS());
}

/** The lock that holds this record. */
export function lockOf(record: Snapshot): string {
  return encode(record);
}

/** The allocation lines of a record, `ADDRESS CLAIM`. */
export function linesOf(record: Snapshot): string[] {
  return lockOf(record)
    .split("\n")
    .filter((line) => line.includes('"claim"'))
    .map((line) => JSON.parse(line.slice(2)))
    .map(({ address, claim, releasing }) => `${address} ${claim}${releasing ? " releasing" : ""}`);
}

/** One NIC that is up, with these addresses. */
export function nic(name: string, ...address: AddressClaim[]): DesiredState {
  const [first] = address;
  if (first === undefined) return { interfaces: [{ name, type: "ethernet", state: "up" }] };
  const ip = { enabled: true, dhcp: false, address };
  return { interfaces: [{ name, type: "ethernet", state: "up", ipv4: ip }] };
}

/** What a call is refused for. */
export function refusal(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    if (error instanceof IpamError || error instanceof Error) return error.message;
    throw error;
  }
  return "nothing";
}

/** What synthesis says is wrong, without cdk8s' own heading. */
export function drift(app: App): string {
  return refusal(() => app.synthYaml()).replace(/^Validation failed with the following errors:\n {2}/, "");
}
