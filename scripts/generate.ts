// Derives types and JSON Schemas from the hand-written CRD, and the Helm chart and what the construct makes from deploy/.
// `--check` fails if a committed file is not fresh.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { Ajv } from "ajv";
import standalone from "ajv/dist/standalone/index.js";
import { compile } from "json-schema-to-typescript";
import { parse } from "yaml";
import { chartTemplates, controllerObjects } from "./deployments.ts";

interface Schema {
  [key: string]: unknown;
  properties?: Record<string, Schema>;
  items?: Schema;
}

const crd = parse(readFileSync("deploy/crd/nodeippools.nmstate.io.yaml", "utf8"));
const source: Schema = crd.spec.versions[0].schema.openAPIV3Schema;
const note = "Generated from deploy/crd by `npm run generate`; do not edit.";

/** Plain JSON Schema, closed: no Kubernetes extensions, unknown fields are errors (but metadata is Kubernetes' own). */
function close(schema: Schema, path = ""): Schema {
  const kept = Object.entries(schema).filter(([key]) => !key.startsWith("x-kubernetes-") && key !== "default");
  const plain: Schema = Object.fromEntries(kept);
  if (plain.format === "int64") delete plain.format;
  if (plain.items) plain.items = close(plain.items, path);
  if (plain.properties) {
    const properties = Object.entries(plain.properties).map(([key, value]) => [key, close(value, `${path}.${key}`)]);
    plain.properties = Object.fromEntries(properties);
    plain.additionalProperties = false;
  }
  return plain;
}

const pool = close(source);
// Manifests may carry the status of a live object; nothing reads it.
const status = { type: "object", description: source.properties?.status?.description };
const identified = {
  $schema: "http://json-schema.org/draft-07/schema#",
  title: "NodeIPPool",
  $comment: note,
  ...pool,
  required: ["apiVersion", "kind", "metadata", "spec"],
  properties: { ...pool.properties, status, apiVersion: { const: "nmstate.io/v1" }, kind: { const: "NodeIPPool" } },
};

/** A module that validates with nothing at hand: compiling the schema at every start took 50 ms. */
function validator(): string {
  const code = { source: true, esm: true };
  const ajv = new Ajv({ allErrors: true, verbose: true, strict: true, formats: { "date-time": true }, code });
  const source = standalone.default(ajv, ajv.compile(identified));
  const alone = source
    .replace(
      /^"use strict";export const validate = (\w+);export default \1;/,
      "export const isNodeIPPool: Validator = $1;",
    )
    .replace('require("ajv/dist/runtime/ucs2length").default', "(text) => [...text].length");
  if (!alone.startsWith("export") || alone.includes("require("))
    throw new Error("ajv writes another module than it did");
  return `import type { Validator } from "../node-ip-pool.ts";\n${alone}`;
}

const files: Record<string, string> = {
  "schemas/nodeippool.schema.json": `${JSON.stringify(identified, null, 2)}\n`,
  "schema/generated/node-ip-pool.validator.ts": `// ${note}\n// @ts-nocheck\n${validator()}\n`,
  "schema/generated/node-ip-pool.types.ts": await compile(structuredClone(identified) as never, "NodeIPPool", {
    bannerComment: `// ${note}`,
    ignoreMinAndMaxItems: true,
    additionalProperties: false,
  }),
  ...chartTemplates(),
  "constructs/generated/controller-objects.ts": controllerObjects(),
};

let stale = false;
for (const [path, text] of Object.entries(files)) {
  if (process.argv.includes("--check")) {
    if (readFileSync(path, "utf8") === text) continue;
    console.error(`${path} is not fresh: run npm run generate`);
    stale = true;
  } else {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
}
process.exitCode = stale ? 1 : 0;
