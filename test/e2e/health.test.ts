import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { type PoolFacts, poolStatus } from "../../controller/reconcile/pool-status.ts";
import { statusPatch } from "../../controller/write/status.ts";
import { parsePool, unwrap } from "../../core/index.ts";
import { root } from "../support/console.ts";
import { command, orSkip } from "../support/tools/tools.ts";

// Argo CD runs health.lua by an interpreter of Lua 5.1.

const script = join(root, "deploy/argocd/nmstate.io/NodeIPPool/health.lua");
const spec = { range: { cidr: "10.10.10.0/24" } };
const fine: PoolFacts = {
  pool: unwrap(parsePool("traffic-1", spec)),
  problem: undefined,
  live: [],
  releasing: [],
  pending: [],
  collisions: [],
  conflicts: new Map(),
};
const pending = [{ claim: "Node/node07/static-ip/a", pool: "traffic-1", code: "exhausted", message: "" }] as const;

/** The pool as the controller leaves it, at that generation. */
function pool(facts: Partial<PoolFacts>, metadata: object = {}) {
  const style = { generation: 1, hasHeartbeat: false };
  const status = statusPatch(undefined, poolStatus({ ...fine, ...facts }), style, "2026-01-01T00:00:00Z");
  return { metadata: { name: "traffic-1", generation: 1, ...metadata }, spec, status };
}

const born = { metadata: { name: "traffic-1", generation: 1 }, spec, status: { observedGeneration: -1 } };

describe("health.lua", () => {
  let lua: string;
  beforeEach(async (context) => {
    lua = await orSkip(
      context,
      Promise.resolve().then(() => command("lua5.1")),
    );
  });

  function health(object: unknown): string[] {
    const program = `obj = ${asLua(object)}; local health = dofile(${JSON.stringify(script)}); print(health.status); print(health.message)`;
    return execFileSync(lua, ["-e", program], { encoding: "utf8" }).trimEnd().split("\n");
  }

  it.each([
    ["is up to date", pool({}), "Healthy", "The pool is up to date"],
    ["was just made", born, "Progressing", /^Waiting for the controller/],
    ["has no status", { ...born, status: undefined }, "Progressing", /^Waiting for the controller/],
    ["was changed", pool({}, { generation: 2 }), "Progressing", /^Waiting for the controller/],
    ["is planned, and nobody looks", { ...born, spec: { ...spec, authority: "Plan" } }, "Healthy", /planned/],
    ["is exhausted", pool({ pending }), "Degraded", /^The IP pool is exhausted: 1 more needed, for node07\./],
    ["has collisions", pool({ collisions: ["10.10.10.1 twice."] }), "Degraded", "10.10.10.1 twice."],
    [
      "overlaps",
      pool({ problem: { reason: "OverlappingIPPool", message: "The NodeIPPool b is overlapping with this one." } }),
      "Degraded",
      "The NodeIPPool b is overlapping with this one.",
    ],
    [
      "cannot be read",
      pool({ pool: undefined, problem: { reason: "InvalidSpec", message: "no range" } }),
      "Degraded",
      "no range",
    ],
    ["is being reset", pool({ rebuilding: "being rebuilt" }), "Progressing", /rebuilt/],
    [
      "is being deleted",
      pool({ problem: { reason: "Terminating", message: "The NodeIPPool is being deleted." } }),
      "Progressing",
      "The NodeIPPool is being deleted.",
    ],
    ["is about to go", pool({}, { deletionTimestamp: "2026-01-01T00:00:00Z" }), "Progressing", /.*/],
  ])("a pool that %s", (_, object, status, message) => {
    const [word, ...text] = health(object);
    expect(word).toBe(status);
    expect(text.join("\n")).toMatch(message);
  });
});

/** A value of JSON as Lua writes it. */
function asLua(value: unknown): string {
  if (Array.isArray(value)) return `{${value.map(asLua).join(", ")}}`;
  if (value === null || value === undefined) return "nil";
  if (typeof value !== "object") return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([key, one]) => `[${JSON.stringify(key)}] = ${asLua(one)}`)
    .join(", ")}}`;
}
