import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv } from "ajv";
import { describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { root } from "../../support/console.ts";
import { poolText } from "../../support/schema/text.ts";

interface Schema {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: unknown;
}

const text = (path: string) => readFileSync(join(root, path), "utf8");
const crd: Schema = parse(text("deploy/crd/nodeippools.nmstate.io.yaml")).spec.versions[0].schema.openAPIV3Schema;
const forEditors: Schema = JSON.parse(text("schemas/nodeippool.schema.json"));

/** Every field, `spec.range.exclude[]`, with its schema. */
function fieldsOf({ properties = {}, items }: Schema, path = ""): [path: string, schema: Schema][] {
  const own = Object.entries(properties).flatMap(([name, schema]): [string, Schema][] => {
    const field = path === "" ? name : `${path}.${name}`;
    return [[field, schema], ...fieldsOf(schema, field)];
  });
  return items === undefined ? own : [...own, ...fieldsOf(items, `${path}[]`)];
}

/** What Kubernetes itself describes. */
const isKubernetes = (path: string) => ["apiVersion", "kind", "metadata"].includes(path);

describe("the CustomResourceDefinition", () => {
  const fields = fieldsOf(crd).filter(([path]) => !isKubernetes(path));

  it.each(fields)("kubectl explain nodeippool.%s", (_, schema) => {
    expect(schema.description).toMatch(/^[A-Z].*\.$/);
  });

  it("has the proposal's fields by their names", () => {
    const paths = fields.map(([path]) => path);
    const seed = ["spec.range.cidr", "spec.range.start", "spec.range.end", "spec.range.exclude"];
    const status = ["status.allocated-offsets", "type", "status", "reason", "message"].map((name) =>
      name.startsWith("status.") ? name : `status.conditions[].${name}`,
    );
    expect(paths).toEqual(expect.arrayContaining([...seed, ...status]));
  });
});

describe("an update in the cluster", () => {
  interface Rules {
    readonly "x-kubernetes-validations": readonly { readonly rule: string; readonly message: string }[];
    readonly properties: Readonly<Record<string, Rules>>;
  }
  const { range } = ((crd as unknown as Rules).properties.spec as Rules).properties as { range: Rules };
  const rulesOf = (field: string) => (range.properties[field] as Rules)["x-kubernetes-validations"];
  const growing = rulesOf("end").filter(({ message }) => message === "end may only grow");

  it.each(["cidr", "start"])("cannot change %s", (field) => {
    expect(rulesOf(field).map(({ rule }) => rule)).toContain("self == oldSelf");
  });

  it("can only move end up: every bit of either family is compared", () => {
    const pairs = (bits: number) => Array.from({ length: bits }, (_, i) => `/${i},/${i + 1}`);
    expect(growing.map(({ rule }) => rule.match(/\/\d+,\/\d+/g))).toEqual([pairs(32), pairs(128)]);
  });

  it("cannot add an end where the whole cidr was the pool", () => {
    expect(range["x-kubernetes-validations"].map(({ rule }) => rule)).toContain("has(oldSelf.end) || !has(self.end)");
  });
});

describe("the generated schema", () => {
  it("has the fields of the CustomResourceDefinition; status is left to the cluster", () => {
    const paths = (schema: Schema) => fieldsOf(schema).map(([path]) => path);
    expect(paths(forEditors)).toEqual(paths(crd).filter((path) => !path.startsWith("status.")));
  });

  it("is closed: no object with fields takes others", () => {
    const open = [["", forEditors] as const, ...fieldsOf(forEditors)].filter(
      ([, schema]) => schema.properties !== undefined && schema.additionalProperties !== false,
    );
    expect(open).toEqual([]);
  });
});

describe("schemas/nodeippool.schema.json, in an editor", () => {
  const validate = new Ajv({ strict: true, validateFormats: false, allErrors: true }).compile(forEditors);
  const wrong = (object: unknown) =>
    validate(object)
      ? []
      : (validate.errors ?? []).map(({ instancePath, params }) => `${instancePath} ${Object.values(params)[0]}`);

  const examples = readdirSync(join(root, "examples"), { recursive: true, encoding: "utf8" })
    .filter((path) => /manifests\/.*\.yaml$/.test(path))
    .flatMap((path) =>
      parseAllDocuments(text(join("examples", path)))
        .map((document) => document.toJS())
        .filter((object) => object?.kind === "NodeIPPool")
        .map((pool) => [`${path}: ${pool.metadata.name}`, pool] as const),
    );

  it("there are examples", () => {
    expect(examples.length).toBeGreaterThanOrEqual(5);
  });
  it.each(examples)("takes %s", (_, pool) => {
    expect(wrong(pool)).toEqual([]);
  });

  it.each([
    ["  rang: {cidr: 10.0.0.0/24}", "/spec range", "/spec rang"],
    ["  range: {cidr: 10.0.0.0/24, strat: 10.0.0.1}", "/spec/range strat"],
    ["  range: {cidr: 10.0.0.0/24, exclude: 10.0.0.1}", "/spec/range/exclude array"],
    ["  range: {cidr: 10.0.0.0/24}\n  authority: plan", "/spec/authority Plan,Cluster"],
    ["  range: {cidr: 10.0.0.0/24}\n  gatway: 10.0.0.1", "/spec gatway"],
    [
      "  range: {cidr: 10.0.0.0/24}\n  reservations: [{addres: 10.0.0.1}]",
      "/spec/reservations/0 address",
      "/spec/reservations/0 addres",
    ],
    ["  range: {cidr: 10.0.0.0/24}\nstatuss: {}", " statuss"],
  ])("marks %j", (spec, ...expected) => {
    expect(wrong(parse(poolText(spec)))).toEqual(expected);
  });

  it("takes whatever status a live object has", () => {
    const status = "status:\n  allocated-offsets: [0]\n  conditions: [{type: Available, status: True}]\n  later: 1";
    expect(wrong(parse(poolText(`  range: {cidr: 10.0.0.0/24}\n${status}`)))).toEqual([]);
  });
});
