import { expect, it } from "vitest";
import { cli, filesOf, folderOf } from "../../support/schema-cli.ts";

it("x", async () => {
  const f = folderOf({ "a.txt": "1" });
  for (let i = 0; i < 5; i++) {
    const t = Date.now();
    const r = await cli(
      ["plan", "/work/main/examples/static-ip/manifests", "--nodes", "/work/main/examples/static-ip/nodes.txt"],
      f,
    );
    console.log(Date.now() - t, r.status, r.stdout.slice(0, 100), r.stderr);
  }
  const r = await cli(["plan", "nope"], f);
  console.log(r);
  console.log(await cli(["plan", "--nope"], f));
  console.log(filesOf(f));
});
