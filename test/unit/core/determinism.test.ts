import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { parseClaimKey } from "../../../core/claim.ts";
import { plan } from "../../../core/plan/plan.ts";
import { claimOf, poolOf, recordOf } from "../../support/core/text.ts";

const child = new URL("../../support/core/child.ts", import.meta.url).pathname;

async function run(locale: string, zone: string): Promise<{ environment: string; plans: [string, string] }> {
  const env = { LANG: locale, LC_ALL: locale, TZ: zone };
  return JSON.parse((await promisify(execFile)(process.execPath, ["--no-warnings", child], { env })).stdout);
}

it("locale and time zone change no byte of a plan", async () => {
  const runs = await Promise.all([
    run("C", "UTC"),
    run("tr_TR.UTF-8", "Asia/Kolkata"),
    run("sv_SE.UTF-8", "America/St_Johns"),
  ]);
  expect(new Set(runs.map(({ environment }) => environment)).size).toBe(3);
  expect(new Set(runs.map(({ plans }) => plans.join("\n"))).size).toBe(1);

  const { assign } = JSON.parse(runs[0]?.plans[0] ?? "") as { assign: { claim: string; pool: string }[] };
  const keys = assign.filter((line) => line.pool === "b").map((line) => line.claim);
  expect(keys).toEqual([...keys].sort());
  expect(keys.every((key) => parseClaimKey(key).value !== undefined)).toBe(true);
});

it.each([["Node/n/a"], ["Node/n/b"]])("of several addresses that a claim had, %s has the lowest again", (key) => {
  const pools = [poolOf("p", "10.0.0.0/24")];
  const snapshot = recordOf(["10.0.0.5 Node/n/a releasing", "10.0.0.7 Node/n/a releasing"], pools);
  const input = { pools, claims: [claimOf(key)], moved: [{ from: "Node/n/a", to: "Node/n/b" }] };
  for (const releasing of [snapshot.releasing, snapshot.releasing.toReversed()])
    expect(plan({ ...input, snapshot: { ...snapshot, releasing } }).keep).toMatchObject([
      { allocation: { claim: key }, was: snapshot.releasing[0] },
    ]);
});
