import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { cli, lockText, projectOf } from "../../support/schema/cli.ts";

const lock = lockText("10.0.0.1 Node/n1/a/p", "10.0.0.2 Node/n2/a/p releasing");

/** The words that a shell is offered, and whether it completes files. */
async function offered(...words: string[]): Promise<{ words: string[]; files: boolean }> {
  const { stdout } = await cli(["complete", "--", ...words], projectOf({ "nodeippool.lock": lock }));
  const lines = stdout.trim().split("\n");
  return { words: lines.slice(0, -1).map((line) => line.split("\t")[0] ?? ""), files: lines.at(-1) === ":0" };
}

describe("completion", () => {
  it.each([
    [["re"], ["render", "release"]],
    [["plan", "--no"], ["--nodes"]],
    [
      ["plan", "--backend", ""],
      ["lockfile", "kubernetes"],
    ],
    [
      ["explain", ""],
      ["p", "n1", "n2"],
    ],
    [["show", ""], ["p"]],
    [["release", ""], ["n2"]],
    [
      ["completion", ""],
      ["zsh", "bash", "fish", "powershell"],
    ],
  ])("%j", async (words, expected) => {
    expect(await offered(...words)).toEqual({ words: expected, files: false });
  });

  it.each([[["plan", ""]], [["plan", "--nodes", ""]], [["render", "--out", "ren"]]])("%j: files", async (words) => {
    expect(await offered(...words)).toEqual({ words: [], files: true });
  });

  it("a script that bash takes", async () => {
    const { stdout, status } = await cli(["completion", "bash"], projectOf());
    expect(status).toBe(0);
    expect(spawnSync("bash", ["-n"], { input: stdout, encoding: "utf8" })).toMatchObject({ stderr: "", status: 0 });
    expect(stdout).toMatch(/\ncomplete -o default -F __nodeippool_complete nodeippool\n$/);
  });

  it.each(["zsh", "fish"])("a script for %s", async (shell) => {
    expect(await cli(["completion", shell], projectOf())).toMatchObject({
      stdout: expect.stringContaining("nodeippool complete --"),
      status: 0,
    });
  });

  it("no other shell", async () => {
    expect(await cli(["completion", "tcsh"], projectOf())).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("bash, zsh, fish, powershell"),
    });
  });
});
