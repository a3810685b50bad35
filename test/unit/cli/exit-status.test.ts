import { describe, expect, it } from "vitest";
import { cli, projectOf, run } from "../../support/schema/cli.ts";

const seven = Array.from({ length: 7 }, (_, i) => `n${i + 1}\n`).join("");

describe("--json, where a verb fails", () => {
  it.each([
    [["plan", "nowhere"], 2, "invalid", "nowhere does not exist"],
    [["allocate", "nowhere"], 2, "invalid", "nowhere does not exist"],
    [["audit", "nowhere"], 2, "invalid", "nowhere does not exist"],
    [["import", "nowhere", "manifests", "--nodes", "nodes.txt"], 2, "invalid", "nowhere does not exist"],
    [["explain", "n7", "--pools", "nowhere"], 2, "invalid", "nowhere does not exist"],
    [["show", "q"], 2, "invalid", "there is no pool"],
    [["diff", "nothing"], 2, "invalid", "nothing is not a revision"],
    [["allocate", "manifests", "--landed", "main"], 2, "invalid", "there is no nodeippool.lock here"],
    [["plan", "--frobnicate"], 2, "invalid", "unknown option '--frobnicate'"],
    [["render", "manifests"], 2, "invalid", "unknown option '--json'"],
  ])("%j: the error is the document", async (args, status, code, message) => {
    const ran = await cli([...args, "--json"], projectOf());
    expect(JSON.parse(ran.stdout)).toEqual({
      error: { code, issues: [expect.objectContaining({ message: expect.stringContaining(message) })] },
    });
    expect([ran.status, ran.stderr]).toEqual([status, expect.stringContaining(message)]);
  });

  it("a plan that is refused is in the same document as the error", async () => {
    const folder = projectOf({ "nodes.txt": seven });
    const { status, stdout, stderr } = await run(folder, "plan", "--json");
    const { assign, pending, error } = JSON.parse(stdout);
    expect([status, assign.length, pending.length, error.code]).toEqual([3, 6, 1, "exhausted"]);
    const [{ at, message }] = error.issues;
    expect(at).toEqual({ file: "manifests/a.yaml", line: 5, column: 10 });
    expect(stderr).toContain(`exhausted: manifests/a.yaml:5:10: ${message}\n`);
  });

  it("a flag of the command after -- is not ours", async () => {
    const { status, stdout } = await cli(["allocate", "--", "nowhere", "--json"], projectOf());
    expect([status, stdout]).toEqual([2, ""]);
  });
});

it("plan --detailed-exitcode is 0 without changes, 2 with changes, and 1 for every error; without it a plan is 0", async () => {
  const folder = projectOf();
  const plan = async (...args: string[]) => (await run(folder, "plan", "--detailed-exitcode", ...args)).status;
  expect([await plan(), (await run(folder, "plan")).status]).toEqual([2, 0]);
  expect((await run(folder, "allocate")).status).toBe(0);
  expect([await plan(), await plan("--frobnicate"), await plan("--lock", "a/b.lock")]).toEqual([0, 1, 1]);
  const full = projectOf({ "nodes.txt": seven });
  expect((await run(full, "plan", "--detailed-exitcode", "--json")).status).toBe(1);
});
