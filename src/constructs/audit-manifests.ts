import { existsSync, readFileSync } from "node:fs";
import { audit, contains, emptySnapshot, type Finding, IpamError } from "../core/index.ts";
import { findUses, readManifests, readNodes, type SourceFile } from "../schema/index.ts";
import { splitDocuments, YamlDocument } from "../schema/yaml.ts";
import { lockfile } from "../state/index.ts";
import type { AddressValidationProps } from "./address-validation.ts";

export interface ManifestFinding {
  readonly finding: Finding;
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
  const { pools } = readManifests(sources.filter(({ text }) => /\bNodeIPPool\b/.test(text)));
  if (pools.length === 0)
    throw new IpamError("invalid", "no NodeIPPool is among the manifests", {
      hint: "Say where the pools are defined: properties.pools in cdk8s.yaml.",
    });
  const { uses } = findUses(files, pools, nodes === undefined ? [] : readNodes(read(nodes)));
  const snapshot = existsSync(lock) ? lockfile(lock).readSync() : emptySnapshot;
  const found = audit({ pools, snapshot, uses, shows: { owners: new Set(), set: "" } });
  return {
    checked: new Set(uses.map(({ address }) => address).filter((a) => pools.some((pool) => contains(pool.range, a))))
      .size,
    findings: found
      .filter(({ kind, at }) => (at === undefined ? ofRecord.has(kind) : existsSync(lock) || kind !== "stranger"))
      .map((finding) => ({
        finding,
        ...(finding.at === undefined
          ? { manifest: lock, resource: finding.line?.claim ?? "" }
          : whereIs(finding, files)),
      })),
  };
}

/** What is wrong with a line of the record whatever the manifests are: not all that have its addresses need be here. */
const ofRecord: ReadonlySet<Finding["kind"]> = new Set(["out-of-pool", "excluded"]);

function read(path: string): SourceFile {
  try {
    return { path, text: readFileSync(path, "utf8") };
  } catch (error) {
    throw new IpamError("invalid", `${path} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

function whereIs({ at }: Finding, files: readonly SourceFile[]): { manifest: string; resource: string } {
  const file = files.find(({ path }) => path === at?.file);
  const chunks = file === undefined ? [] : splitDocuments(file);
  const chunk = chunks.findLast(({ line }) => line <= (at?.line ?? 0));
  const { metadata } = (chunk === undefined ? {} : new YamlDocument(chunk).value) as { metadata?: { name?: string } };
  return { manifest: file?.path ?? "", resource: metadata?.name ?? "" };
}
