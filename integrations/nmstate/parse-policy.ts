import { type Issue, listed, type Parsed } from "../../core/index.ts";
import { enough } from "../../schema/issues.ts";
import { didYouMean } from "../../schema/nearest.ts";
import { ownPrefix } from "../../schema/node.ts";
import { asBag, type Bag } from "../../schema/objects.ts";
import { mapping, raw } from "../../schema/shape.ts";
import {
  fields,
  hasTemplate,
  isCaptureName,
  isInterfaceAddress,
  poolOfCapture,
  Reference,
  readTemplate,
} from "../../schema/template.ts";
import type { Path } from "../../schema/yaml.ts";
import { metadataOf } from "../contract/object-metadata.ts";
import { asNic } from "./objects.ts";
import { type Capture, type Policy, type PolicyObject, policyNameIssue, waveAnnotation } from "./policy.ts";
import { stateIssues } from "./state-issues.ts";

/** Reads a NodeNetworkConfigurationPolicy object that uses pools. All issues, with their paths. */
export function parsePolicy(object: unknown): Parsed<Policy> {
  const reader = new Reader();
  const policy = reader.policy(mapping(object));
  return reader.issues.length > 0 ? { issues: reader.issues } : { value: policy };
}

class Reader {
  readonly issues: Issue[] = [];
  private readonly pools = new Map<string, string>();
  private readonly others: Record<string, string> = {};
  /** The captures that the policy has, also those that cannot be read. */
  private declared: readonly string[] = [];
  /** Interface and path of each capture's place in an address list. */
  private readonly homes = new Map<string, { nic: unknown; path: Path }>();

  policy(object: Bag): Policy {
    for (const field of ["capture", "desiredState", "nodeSelector"])
      if (field in object) this.fail(`${field} belongs under spec`, [field]);
    const metadata = raw(metadataOf(object));
    // Misplaced fields are read all the same, for whatever else is wrong with them.
    const root: Path = "spec" in object ? ["spec"] : [];
    const spec = asBag(object.spec) ?? object;
    if (object.apiVersion !== "nmstate.io/v1" && object.apiVersion !== "nmstate.io/v1beta1")
      this.fail("apiVersion must be nmstate.io/v1 or nmstate.io/v1beta1", ["apiVersion"]);
    const known = ["nodeSelector", "capture", "desiredState", "maxUnavailable"];
    for (const field of Object.keys(root.length > 0 ? spec : {}))
      if (!known.includes(field)) this.fail(`unknown field ${field}${didYouMean(field, known)}`, ["spec", field]);
    const issue = policyNameIssue(metadata.name);
    if (issue !== undefined) this.fail(`metadata.name ${issue}`, ["metadata", "name"]);

    this.readCaptures(spec.capture, [...root, "capture"]);
    for (const issue of stateIssues(spec.desiredState))
      this.issues.push({ ...issue, path: [...root, "desiredState", ...(issue.path ?? [])] });
    const desiredState = this.fill(spec.desiredState ?? {}, [...root, "desiredState"], undefined);
    const labels = this.texts(metadata.labels, ["metadata", "labels"]);
    const { [waveAnnotation]: perWave, ...annotations } = this.annotations(metadata.annotations);
    return {
      apiVersion: `${object.apiVersion}`,
      name: `${metadata.name}`,
      labels,
      annotations,
      ...(perWave === undefined ? {} : { nodesPerSyncWave: Number(perWave) }),
      nodeSelector: this.texts(spec.nodeSelector, [...root, "nodeSelector"]),
      captures: new Map([...this.pools].map(([name, pool]) => [name, this.captureOf(name, pool)])),
      otherCaptures: this.others,
      desiredState,
      source: object as Bag & PolicyObject,
    };
  }

  private readCaptures(capture: unknown, root: Path): void {
    this.declared = Object.keys(mapping(capture));
    for (const [name, expression] of Object.entries(this.texts(capture, root))) {
      const path = [...root, name];
      const pool = poolOfCapture(expression);
      if (pool === null) this.fail(`unknown capture "${brief(expression)}": ${meantBy(expression)}`, path);
      else if (pool === undefined) this.others[name] = expression;
      else if (!isCaptureName(name))
        this.fail(`capture name ${name} must be letters, digits and - and start with a letter`, path);
      else this.pools.set(name, pool);
    }
  }

  private captureOf(name: string, pool: string): Capture {
    const nic = this.homes.get(name)?.nic;
    return typeof nic === "string" && !hasTemplate(nic) ? { pool, interface: nic } : { pool };
  }

  /** A copy of the desired state with references in it. `nic` is the name of the interface it is inside of. */
  private fill(value: unknown, path: Path, nic: unknown): unknown {
    if (typeof value === "string") return this.scalar(value, path, nic);
    if (Array.isArray(value)) {
      const inInterfaces = path.at(-1) === "interfaces" && path.at(-2) === "desiredState";
      return value.map((item, i) => this.fill(item, [...path, i], inInterfaces ? asNic(item).name : nic));
    }
    const bag = asBag(value);
    if (bag === undefined) return value;
    return Object.fromEntries(Object.entries(bag).map(([key, item]) => [key, this.fill(item, [...path, key], nic)]));
  }

  private scalar(text: string, path: Path, nic: unknown): unknown {
    const template = readTemplate(text);
    if (template.kind === "bad") this.fail(`${brief(text)}: ${template.why}`, path);
    if (template.kind !== "capture") return text;
    const { capture, rest } = template;
    if (this.pools.has(capture)) return this.reference(capture, rest, path, nic);
    if (!this.declared.includes(capture)) {
      const known = this.issues.length < enough ? this.declared : [];
      const others = known.length === 0 ? "" : `; defined are ${listed(known)}`;
      this.fail(`capture ${capture} is not defined${didYouMean(capture, known) || others}`, path);
    }
    return text;
  }

  private reference(capture: string, field: string, path: Path, nic: unknown): Reference | undefined {
    const known = fields.find((one) => one === field);
    if (known === undefined) {
      const names = fields.join(", ");
      this.fail(`an allocation has the fields ${names}, not ${field || "none"}${didYouMean(field, fields)}`, path);
      return undefined;
    }
    if (isInterfaceAddress(known, path)) this.home(capture, path, nic);
    return new Reference(capture, known);
  }

  /** One capture is one address: two NICs cannot both have it. */
  private home(capture: string, path: Path, nic: unknown): void {
    const other = this.homes.get(capture);
    if (other !== undefined && other.nic !== nic)
      this.fail(
        `${capture} is one address, and interface ${other.nic} has it already; use a second capture for ${nic}`,
        path,
      );
    this.homes.set(capture, { nic, path });
  }

  /** Returns the annotations of a policy. Refuses an unknown one with our prefix, because a misspelt one would have no effect. */
  private annotations(value: unknown): Record<string, string> {
    const path = ["metadata", "annotations"];
    const annotations = this.texts(value, path);
    for (const name of Object.keys(annotations))
      if (name.startsWith(ownPrefix) && name !== waveAnnotation)
        this.fail(`unknown annotation ${name}${didYouMean(name, [waveAnnotation])}`, [...path, name]);
    const perWave = annotations[waveAnnotation];
    if (perWave !== undefined && !/^[1-9]\d{0,8}$/.test(perWave))
      this.fail(`${waveAnnotation} must be a whole number above 0`, [...path, waveAnnotation]);
    return annotations;
  }

  private texts(value: unknown, path: Path): Record<string, string> {
    if (value === undefined || value === null) return {};
    const bag = asBag(value);
    if (bag === undefined) this.fail(`${path.at(-1)} must be a mapping of text`, path);
    const texts = Object.entries(bag ?? {}).flatMap(([key, item]) => {
      if (typeof item === "string") return [[key, item] as const];
      this.fail(`${key} must be text; quote it`, [...path, key]);
      return [];
    });
    return Object.fromEntries(texts);
  }

  private fail(message: string, path: Path): void {
    this.issues.push({ message, path });
  }
}

/** Returns the allocation that was meant where each of its words is nearly right, else the form of one. */
function meantBy(expression: string): string {
  const [head = "", ...pool] = expression.trim().toLowerCase().split(".");
  const verb = pool.pop() ?? "";
  const meant = `ippool.${pool.join(".")}.allocate`;
  const isNear = didYouMean(head, ["ippool"]) !== "" && didYouMean(verb, ["allocate"]) !== "";
  return isNear && poolOfCapture(meant) !== null ? `did you mean "${meant}"?` : 'write "ippool.POOL.allocate"';
}

function brief(text: string): string {
  return text.length > 100 ? `${text.slice(0, 97)}...` : text;
}
