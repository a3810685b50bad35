import { existsSync, readFileSync } from "node:fs";
import { audit, contains, emptySnapshot, type Finding, IpamError, isPlanned, type Place } from "../core/index.ts";
import { parkKey } from "../nmstate/select.ts";
import { findUses, readManifests, readNodes, type SourceFile } from "../schema/index.ts";
import { asBag, type Bag, chunksOf, objectsIn } from "../schema/objects.ts";
import { usesPools } from "../schema/policy.ts";
import { configures } from "../schema/uses.ts";
import { splitDocuments, YamlDocument } from "../schema/yaml.ts";
import { lockfile, withOffers } from "../state/index.ts";
import { otherRecord } from "../state/offer.ts";
import { scheme } from "./address-token.ts";
import type { AddressValidationProps } from "./address-validation.ts";

export interface ManifestFinding {
  readonly rule: Finding["kind"] | "unresolved" | "unexpanded";
  readonly message: string;
  readonly at?: Place;
  readonly manifest: string;
  /** Name of the object that holds the address, or the claim that the record has it for. */
  readonly resource: string;
}

/** Audits synthesised manifests. Throws IpamError `invalid` where there is no pool to hold them against. */
export function auditManifests(
  manifests: readonly string[],
  { lock = "nodeippool.lock", pools: poolFile, nodes }: AddressValidationProps,
): { checked: number; findings: ManifestFinding[] } {
  const files = manifests.map(read);
  const sources = poolFile === undefined ? files : [read(poolFile)];
  const defined = readManifests(sources.filter(({ text }) => /\bNodeIPPool\b/.test(text))).pools;
  if (defined.length === 0)
    throw new IpamError("invalid", "no NodeIPPool is among the manifests", {
      hint: "Say where the pools are defined: properties.pools in cdk8s.yaml.",
    });
  // What the controller gives is not in this record.
  const pools = defined.filter(isPlanned);
  const { uses } = findUses(files, pools, nodes === undefined ? [] : readNodes(read(nodes)));
  // Under `nodeippool allocate -- npx cdk8s synth` the app's plan is on its way into the record.
  const recorded = existsSync(lock) ? lockfile(lock).readSync() : emptySnapshot;
  const snapshot = otherRecord(lock) === undefined ? withOffers(recorded, lock) : recorded;
  const found = audit({ pools, snapshot, uses, shows: { owners: new Set(), set: "" } });
  const addresses = new Set(uses.map(({ address }) => address));
  return {
    checked: [...addresses].filter((address) => pools.some((pool) => contains(pool.range, address))).length,
    findings: [
      ...found
        .filter(({ kind, at }) => (at === undefined ? ofRecord.has(kind) : existsSync(lock) || kind !== "stranger"))
        .map(({ kind, message, at, line }) => ({
          rule: kind,
          message,
          ...(at === undefined ? { manifest: lock, resource: line?.claim ?? "" } : { at, ...whereIs(at, files) }),
        })),
      ...files.flatMap((file) => [...unresolved(file, files), ...unexpanded(file)]),
    ],
  };
}

/** What is wrong with a line of the record whatever the manifests are: not all that have its addresses need be here. */
const ofRecord: ReadonlySet<Finding["kind"]> = new Set(["out-of-pool", "excluded"]);

/** Tokens that nothing looked up: in a JSON patch, for example, which cdk8s applies later. */
function unresolved({ path, text }: SourceFile, files: readonly SourceFile[]): ManifestFinding[] {
  if (!text.includes(scheme) && !text.includes("{{ ippool.")) return [];
  return text.split("\n").flatMap((content, i) => {
    const [token] = /ippool:\/\/[^\s"']*|\{\{ ippool\.[^}]*\}\}/.exec(content) ?? [];
    if (token === undefined) return [];
    const at = { file: path, line: i + 1, column: content.indexOf(token) + 1 };
    return [{ rule: "unresolved", message: `${token} is not an address yet`, at, ...whereIs(at, files) } as const];
  });
}

/** Policies that ask pools for addresses, and that handlers refuse for it; nobody runs a parked one. */
function unexpanded(file: SourceFile): ManifestFinding[] {
  if (!configures.test(file.text)) return [];
  return chunksOf(file)
    .filter(({ text }) => configures.test(text))
    .flatMap((chunk) => objectsIn(chunk).value ?? [])
    .filter(({ object }) => object.kind === "NodeNetworkConfigurationPolicy" && usesPools(object) && !isParked(object))
    .map(({ object, at }) => {
      const name = String(asBag(object.metadata)?.name);
      const message = `policy ${name} asks a pool for addresses, and no handler can run that`;
      return { rule: "unexpanded", message, at: at(["metadata", "name"], name), manifest: file.path, resource: name };
    });
}

function isParked({ spec }: Bag): boolean {
  return asBag(asBag(spec)?.nodeSelector)?.[parkKey] !== undefined;
}

function read(path: string): SourceFile {
  try {
    return { path, text: readFileSync(path, "utf8") };
  } catch (error) {
    throw new IpamError("invalid", `${path} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

function whereIs(at: Place, files: readonly SourceFile[]): { manifest: string; resource: string } {
  const file = files.find(({ path }) => path === at.file);
  const chunks = file === undefined ? [] : splitDocuments(file);
  const chunk = chunks.findLast(({ line }) => line <= at.line);
  const { metadata } = (chunk === undefined ? {} : new YamlDocument(chunk).value) as { metadata?: { name?: string } };
  return { manifest: file?.path ?? "", resource: metadata?.name ?? "" };
}
