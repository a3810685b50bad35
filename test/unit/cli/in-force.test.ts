import { expect, it } from "vitest";
import { cli, lockText, manifests, projectOf } from "../../support/schema/cli.ts";

it("release NODE does not free what an import found on it; its address does", async () => {
  const lock = lockText("10.0.0.1 Node/n1/a/p", "10.0.0.2 Node/n1/imported/10.0.0.2 set=imported");
  const folder = projectOf({ "nodeippool.lock": lock });
  const all = await cli(["release", "n1", "--confirm"], folder);
  expect(all.status).toBe(3);
  const one = await cli(["release", "10.0.0.2", "--confirm"], folder);
  expect(one.stdout).toContain("Freed 1 address.");
});

it("a pool of addresses that every node makes itself is refused with its place", async () => {
  const pool = manifests.replace(/cidr: [^\s,}]+/, "cidr: fe80::/64");
  const { stderr, status } = await cli(
    ["plan", "manifests", "--nodes", "nodes.txt"],
    projectOf({ "manifests/a.yaml": pool }),
  );
  expect(stderr).toContain("fe80::/64 is link-local or loopback");
  expect(status).toBe(2);
});
