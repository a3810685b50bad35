import { readFileSync } from "node:fs";
import { audit, type Finding, IpamError, isPlanned, type Place, usedIn } from "../core/index.ts";
import { definedPools } from "../pipeline/defined-pools.ts";
import { findUses } from "../pipeline/find-uses.ts";
import { tellsAddresses } from "../pipeline/integrations.ts";
import { readNodes, type SourceFile } from "../schema/index.ts";
import { asBag, type Bag, type LocatedObject, within } from "../schema/objects.ts";
import { objectsIn } from "../schema/objects-in-text.ts";
import { type Path, splitDocuments, YamlDocument } from "../schema/yaml.ts";
import { openToken } from "./address-token.ts";
import { describeUnexpanded, isUnexpanded } from "./unexpanded.ts";
import { type AddressValidationProps, refuseProps } from "./validation-props.ts";
import { readRecord } from "./validation-record.ts";

export interface ManifestFinding {
  readonly rule: Finding["kind"] | "unresolved" | "unexpanded" | "no-record";
  readonly message: string;
  readonly at?: Place;
  readonly manifest: string;
  /** Name of the object that holds the address, or the claim that the record has it for. */
  readonly resource: string;
}

/** Audits synthesised manifests. Throws IpamError `invalid` where there is no pool to hold them against. */
export async function auditManifests(
  manifests: readonly string[],
  props: AddressValidationProps,
): Promise<{ checked: number; findings: ManifestFinding[] }> {
  refuseProps(props);
  const files = manifests.map((path) => read(path));
  const sources = props.pools === undefined ? files : [read(props.pools, "pools")];
  const defined = definedPools(sources);
  if (defined.length === 0)
    throw new IpamError("invalid", "no NodeIPPool is among the manifests", {
      hint: "Say where the pools are defined: properties.pools in cdk8s.yaml.",
    });
  // What the controller gives is not in this record.
  const pools = defined.filter(isPlanned);
  const open = files.flatMap((file) => unresolved(file, files));
  // An address list that holds a token cannot be read.
  if (open.length > 0) return { checked: 0, findings: open };
  const nodes = props.nodes === undefined ? [] : readNodes(read(props.nodes, "nodes"));
  const { uses, elsewhere } = findUses(files, pools, nodes);
  const { name, snapshot, isMissing } = await readRecord(props);
  const found = audit({ pools, snapshot, uses, elsewhere, shows: { owners: new Set(), sets: new Set() } });
  const checked = usedIn(pools, uses).size;
  return {
    checked,
    findings: [
      ...(isMissing && (props.lock !== undefined || checked > 0) ? [noRecord(name)] : []),
      ...found
        .filter(({ kind, at }) => (at === undefined ? ofRecord.has(kind) : !isMissing || kind !== "stranger"))
        .map(({ kind, message, at, line }) => ({
          rule: kind,
          message,
          ...(at === undefined ? { manifest: name, resource: line?.claim ?? "" } : { at, ...whereIs(at, files) }),
        })),
      ...files.flatMap(unexpanded),
    ],
  };
}

function noRecord(lock: string): ManifestFinding {
  const message = `${lock} does not exist, so nothing tells whether addresses are recorded`;
  return { rule: "no-record", message, manifest: lock, resource: "" };
}

/** What is wrong with a line of the record whatever the manifests are: not all that have its addresses need be here. */
const ofRecord: ReadonlySet<Finding["kind"]> = new Set(["out-of-pool", "excluded"]);

/** Tokens that nothing looked up: in a JSON patch, for example, which cdk8s applies later. */
function unresolved({ path, text }: SourceFile, files: readonly SourceFile[]): ManifestFinding[] {
  if (!text.includes("ippool:/") && !text.includes("{{ ippool.")) return [];
  return text.split("\n").flatMap((content, i) => {
    const [token] = openToken.exec(content) ?? [];
    if (token === undefined) return [];
    const at = { file: path, line: i + 1, column: content.indexOf(token) + 1 };
    return [{ rule: "unresolved", message: `${token} is not an address yet`, at, ...whereIs(at, files) } as const];
  });
}

/** Policies that ask pools for addresses, and that handlers refuse for it; nobody runs a parked one. */
function unexpanded(file: SourceFile): ManifestFinding[] {
  if (!tellsAddresses(file.text)) return [];
  return splitDocuments(file)
    .filter(({ text }) => tellsAddresses(text))
    .flatMap((chunk) => objectsIn(chunk).value ?? [])
    .flatMap((one) => [one, ...within(one.object).map((inner) => locatedIn(one, inner))])
    .filter(({ object }) => isUnexpanded(object))
    .map(({ object, at }) => {
      const name = String(asBag(object.metadata)?.name);
      const message = describeUnexpanded(object);
      return { rule: "unexpanded", message, at: at(["metadata", "name"], name), manifest: file.path, resource: name };
    });
}

function locatedIn({ at }: LocatedObject, { object, path }: { object: Bag; path: Path }): LocatedObject {
  return { object, at: (inside, text, part) => at([...path, ...inside], text, part) };
}

/** A manifest, or the file that a property of the validation names. */
function read(path: string, property?: "pools" | "nodes"): SourceFile {
  try {
    return { path, text: readFileSync(path, "utf8") };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const why = code === "ENOENT" ? "does not exist" : `cannot be read: ${message}`;
    if (property === undefined) throw new IpamError("invalid", `${path} ${why}`, { cause: error });
    const told = {
      message: `${property}: ${path} of the validation in cdk8s.yaml ${why}`,
      path: ["properties", property],
    };
    throw new IpamError("invalid", [told], { cause: error });
  }
}

function whereIs(at: Place, files: readonly SourceFile[]): { manifest: string; resource: string } {
  const file = files.find(({ path }) => path === at.file);
  const chunks = file === undefined ? [] : splitDocuments(file);
  const chunk = chunks.findLast(({ line }) => line <= at.line);
  const { metadata } = (chunk === undefined ? {} : new YamlDocument(chunk).value) as { metadata?: { name?: string } };
  return { manifest: file?.path ?? "", resource: metadata?.name ?? "" };
}
