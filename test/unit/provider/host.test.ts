import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as runtime from "../../../provider/runtime.ts";
import { root } from "../../support/console.ts";
import { firstText, ProviderHost } from "../../support/pulumi/provider.ts";

// The SDK's real host of dynamic providers, over gRPC, with the provider's text as it lies in the states of stacks. What
// the engine does with the answers (see pulumi-provider.ts) is for test/pulumi.

const inputs = {
  pools: { lan: { range: { cidr: "10.0.0.0/24" } } },
  claims: [
    { key: "Node/b/eth1", pool: "lan" },
    { key: "Node/a/eth1", pool: "lan" },
  ],
  state: { backend: "stack" },
  set: "default",
  allowMove: false,
  confirmRelease: false,
  moved: [],
  release: [],
  secret: false,
  isLate: false,
  previous: { others: [] },
};
const [unchanged, unknown] = [1, 0];

describe("the text in the states of stacks", () => {
  let host: ProviderHost;
  beforeAll(async () => {
    host = await ProviderHost.start();
  });
  afterAll(() => host.stop());

  it("is small", () => {
    expect(firstText.length).toBeLessThanOrEqual(2_000);
    expect(firstText).not.toContain(root);
  });

  it("calls six functions of the runtime by name: a contract that no version of the package may break", () => {
    const called = [...firstText.matchAll(/name: "(\w+)"/g)].map(([, name]) => name);
    expect(called.sort()).toEqual(["check", "create", "delete", "diff", "read", "update"]);
    const arities = Object.fromEntries(Object.entries(runtime).map(([name, { length }]) => [name, length]));
    expect(arities).toEqual({ check: 2, create: 1, delete: 2, diff: 3, read: 2, update: 3 });
    expect(firstText).toContain('import("nodeippool/provider/runtime")');
  });

  it("plans, commits, compares, refreshes and ends", async () => {
    const checked = await host.check({}, inputs);
    const addresses = { lan: { "Node/a/eth1": "10.0.0.1", "Node/b/eth1": "10.0.0.2" } };
    const { pools, state, set } = inputs;
    expect(checked).toEqual({ inputs: { addresses, releasing: {}, pools, state, set }, failures: [] });
    const { id, properties } = await host.create(checked.inputs);
    expect(properties).toEqual(checked.inputs);
    expect((await host.diff(id, properties, checked.inputs)).changes).toBe(unchanged);
    const fewer = { ...inputs, claims: inputs.claims.slice(0, 1), previous: { own: properties, others: [] } };
    const next = await host.check(checked.inputs, fewer);
    expect((await host.diff(id, properties, next.inputs)).changes).toBe(unknown);
    const updated = await host.update(id, properties, next.inputs);
    expect(updated).toMatchObject({ releasing: { lan: { "Node/a/eth1": "10.0.0.1" } } });
    expect(await host.read(id, updated)).toMatchObject({ id, properties: updated, inputs: updated });
    await host.delete(id, updated);
  });

  it("knows a set by its old inputs, or by its pools where the engine forgets it", async () => {
    const { inputs: bare } = await host.check({}, inputs);
    const other = { ...bare, addresses: { wan: {} }, pools: { wan: { range: { cidr: "10.1.0.0/24" } } } };
    const before = { ...inputs, previous: { others: [other, bare] } };
    expect((await host.check(bare, before)).inputs).toEqual(bare);
    expect((await host.check({}, before)).inputs).toEqual(bare);
    // It is another one that has more pools.
    const both = { ...bare, addresses: { ...(bare.addresses as object), wan: { "Node/x/eth1": "10.1.0.1" } } };
    expect((await host.check({}, { ...inputs, previous: { others: [both] } })).failures).toEqual([
      {
        property: "",
        reason: expect.stringContaining("in-use: pools: another record or set of this stack has 2 addresses"),
      },
    ]);
  });

  it("says what is wrong as check failures of no property, without names that are secret", async () => {
    const { failures } = await host.check(
      {},
      { ...inputs, secret: true, claims: [{ key: "Node/owl/eth1", pool: "lam" }] },
    );
    expect(failures).toEqual([
      { property: "", reason: "invalid: claims[0]: this is not valid, or two claims ask for the same" },
    ]);
  });

  it("refuses what a transformation of the stack has it ignore", async () => {
    const { claims: _, ...rest } = inputs;
    expect((await host.check({}, rest)).failures).toEqual([
      { property: "", reason: "invalid: ignoreChanges would plan addresses that the program does not ask for" },
    ]);
  });

  it("says no names of secret claims that are no longer claimed", async () => {
    const { inputs: held } = await host.check({}, { ...inputs, claims: [{ key: "Node/owl/eth1", pool: "lan" }] });
    const wanting = { ...inputs, claims: [{ key: "Node/b/eth1", pool: "lan", address: "10.0.0.1" }] };
    const reasons = async (own: object) =>
      (await host.check(held, { ...wanting, previous: { own, others: [] } })).failures.map(({ reason }) => reason);
    expect(await reasons(held)).toEqual([expect.stringContaining("Node/owl/eth1")]);
    expect(await reasons({ ...held, secret: true })).toEqual([expect.stringMatching(/^in-use: claims\[0\]: /)]);
    expect(await reasons({ ...held, secret: true })).toEqual([expect.not.stringContaining("owl")]);
  });

  it("says what is wrong with a lockfile in one line, in every call that reads it", async () => {
    const folder = mkdtempSync(join(tmpdir(), "nodeippool-host-"));
    const path = join(folder, "nodeippool.lock");
    writeFileSync(path, "nonsense\n");
    const held = { addresses: { lan: {} }, pools: inputs.pools, set: "default", state: { backend: "lockfile", path } };
    await expect(host.read("1", held)).rejects.toThrow(/nodeippool\.lock:1:1: this line should be/);
    expect((await host.check({}, { ...inputs, state: held.state })).failures).toMatchObject([
      { reason: expect.stringMatching(/^corrupt: .*nodeippool\.lock:1:1/) },
    ]);
    rmSync(folder, { recursive: true });
  });
});

// The engine that is killed leaves its provider behind. Pulumi's own start script is a shell that waits for the host.
describe.each([
  [
    "by itself",
    (host: string[]) =>
      `require("node:child_process").spawn(${JSON.stringify(host)}[0], ${JSON.stringify(host)}.slice(1), { stdio: "inherit" })`,
  ],
  [
    "by a shell",
    (host: string[]) =>
      `require("node:child_process").spawn("sh", ["-c", "'${host.join("' '")}'; :"], { stdio: "inherit" })`,
  ],
  [
    "by a script, as Pulumi's own",
    (host: string[]) =>
      `const { chmodSync, mkdtempSync, writeFileSync } = require("node:fs");
      const script = mkdtempSync(require("node:os").tmpdir() + "/nodeippool-script-") + "/pulumi-resource-pulumi-nodejs";
      writeFileSync(script, ${JSON.stringify(`#!/bin/sh\nrm -r "$(dirname "$0")"\n'${host.join("' '")}'\n:\n`)});
      chmodSync(script, 0o755);
      require("node:child_process").spawn(script, { stdio: "inherit" })`,
  ],
])("a provider whose engine was killed, started %s", (_, program) => {
  it("does nothing more", async () => {
    const file = join(root, "node_modules/@pulumi/pulumi/cmd/dynamic-provider");
    const script = program([process.execPath, file, "127.0.0.1:1"]);
    const host = await ProviderHost.start(root, [
      process.execPath,
      "-e",
      `${script}; setInterval(() => {}, 1000)`,
      "--",
    ]);
    try {
      const { inputs: checked } = await host.check({}, inputs);
      const { id, properties } = await host.create(checked);
      await host.kill();
      const refusal = "the pulumi command that asked for this has ended: nothing was done";
      await expect(host.create(checked)).rejects.toThrow(refusal);
      await expect(host.update(id, properties, checked)).rejects.toThrow(refusal);
      await expect(host.delete(id, properties)).rejects.toThrow(refusal);
    } finally {
      await host.stop();
    }
  });
});
