import { join } from "node:path";
import * as pulumi from "@pulumi/pulumi";
import { describe, expect, it } from "vitest";
import { checkArgs } from "../../../provider/check-args.ts";
import { refuseShared } from "../../../provider/pools-of-program.ts";
import { root } from "../../support/console.ts";
import { monitorOfFile } from "../../support/pulumi/monitor-of-file.ts";
import { previewIsUp } from "../../support/pulumi/previews.ts";
import { firstText } from "../../support/pulumi/provider.ts";
import { inScratchFolder } from "../../support/state/folder.ts";

inScratchFolder();

// Whole programs with the SDK's real serialisation and host, against a small stand-in for the engine: pulumi-monitor.ts
// says what that does not emulate, which is most of what an engine does; see test/pulumi.
describe("programs", () => {
  const monitor = monitorOfFile();

  const example = join(root, "examples/pulumi/index.ts");
  const sets = join(root, "test/support/pulumi/sets.ts");
  const pools = { lan: { range: { cidr: "10.0.0.0/24", end: "10.0.0.3" } } };
  const claims = (...names: string[]) =>
    names.map((name) => ({ owner: { kind: "Node", name }, name: "eth1", pool: "lan" }));

  it("know in preview what up commits, and nothing changes after that", async () => {
    const preview = await monitor().preview(example);
    expect(preview).toMatchObject({ errors: [], outputs: { node01: "10.10.10.1" } });
    expect(monitor().stack.size).toBe(0);
    expect(await monitor().up(example)).toEqual(preview);
    const before = [...monitor().stack];
    expect(await monitor().up(example)).toEqual(preview);
    expect([...monitor().stack]).toEqual(before);
  });

  it("have the provider's text in them as every other program has", () => {
    expect([...monitor().texts]).toEqual([firstText]);
  });

  it("end with all mistakes of a set, in preview and up alike", async () => {
    const bad = [
      { name: "bad", pools, claims: [...claims("a", "b", "c", "d", "a"), { ...claims("e")[0], pool: "lam" }] },
    ];
    for (const run of [await monitor().preview(sets, bad), await monitor().up(sets, bad)])
      expect(run.log).toEqual([
        "invalid: claims[4]: Node/a/eth1 in pool lan: claims[0] claims the same",
        "invalid: claims[5]: Node/e/eth1 in pool lam: the set has no such pool; did you mean lan?",
      ]);
    const many = [{ name: "many", pools, claims: claims("a", "b", "c", "d") }];
    for (const run of [await monitor().preview(sets, many), await monitor().up(sets, many)])
      expect(run.log).toEqual([
        expect.stringMatching(/^exhausted: claims\[3\]: pool lan is exhausted: 4 needed, 3 free/),
      ]);
  });

  it("are refused a second set on a pool, and a pool of a second set with the same addresses", async () => {
    const twice = [
      { name: "a", pools, claims: [] },
      { name: "b", pools, claims: [] },
    ];
    const { errors } = await monitor().preview(sets, twice);
    expect(errors).toEqual(["pool lan is in two allocation sets, a and b: put all its claims into one"]);
    const shared = [
      { name: "a", pools, claims: [] },
      { name: "b", pools: { wan: pools.lan }, claims: [] },
    ];
    expect((await monitor().preview(sets, shared)).errors).toEqual([
      expect.stringMatching(/^allocation sets a and b: pools lan and wan of network default share addresses/),
    ]);
  });

  it("are refused that also where both sets have one name, below different parents", async () => {
    const shared = [
      { name: "ips", inside: "Lan", pools, claims: claims("a") },
      { name: "ips", inside: "Wan", pools: { wan: pools.lan }, claims: [] },
    ];
    expect((await monitor().preview(sets, shared)).errors).toEqual([
      expect.stringMatching(/^allocation sets ips and ips: pools lan and wan of network default share addresses/),
    ]);
  });

  const lock = (path: string) => ({ backend: "lockfile", path }) as const;
  const cluster = (namespace?: string, context?: string) =>
    ({ backend: "kubernetes", ...(namespace && { namespace }), ...(context && { context }) }) as const;
  it.each([
    [lock("nodeippool.lock"), lock("./nodeippool.lock"), true],
    [lock("nodeippool.lock"), lock("other.lock"), false],
    [cluster("network"), cluster("network"), true],
    [cluster("network"), cluster("network", "test"), true],
    [cluster("network"), cluster(), true],
    [cluster("network"), cluster("other"), false],
    [cluster("network"), lock("network"), false],
  ])("are refused one claim set twice in what may be one record: %j and %j: %j", (one, other, isRefused) => {
    const [a, b] = [one, other].map((state, i) => ({ name: "ab"[i] as string, pools: [], state, set: "shop" }));
    const go = () => refuseShared(a as never, b as never);
    const says =
      'allocation sets a and b have one record, and are set "shop" of it both: give one of them another name there';
    if (isRefused) expect(go).toThrow(says);
    else expect(go).not.toThrow();
  });

  it("are refused one claim set twice in a lock", async () => {
    const state = lock(join(process.cwd(), "nodeippool.lock"));
    const twice = [
      { name: "a", pools, claims: [], state },
      { name: "b", pools: {}, claims: [], state },
    ];
    expect((await monitor().preview(sets, twice)).errors).toEqual([
      expect.stringContaining('allocation sets a and b have one record, and are set "default" of it both'),
    ]);
  });

  it.each([
    [{ claims: [{ ...claims("a")[0], adress: "10.0.0.3" }] }, "claims[0]: unknown field adress; did you mean address?"],
    [{ claims: ["a"] }, "claims[0] must be an object with owner, name, pool, id, address, interface"],
    [{ state: { backend: "kubernetes", token: "t" } }, "state: unknown field token"],
    [{ state: { backend: "kubernetes", set: "shop" } }, "state: unknown field set"],
    [{ state: { backend: "kubernets" } }, "state.backend: no such backend; did you mean kubernetes?"],
    [{ state: { backend: "lockfile" } }, "state.path is missing"],
    [{ state: { backend: "kubernetes", namespace: "" } }, "state has an empty text"],
    [
      { claims: [{ name: "eth1", pool: "lan", owner: "a" }] },
      "claims[0].owner must be an object with kind, namespace, name",
    ],
    [{ claims: claims("a/b") }, "claims[0].owner.name must be letters, digits, -, . and _"],
    [
      { claims: [{ ...claims("a")[0], owner: { kind: "Virtual Machine", name: "a" } }] },
      "claims[0].owner.kind must be letters and digits, beginning with a letter",
    ],
    [{ pools: { [`${"the"}n`]: pools.lan } }, "pools.then: what has this name cannot be read from an output"],
    [{ claims: [{ ...claims("a")[0], name: 1 }] }, "claims[0].name must be text"],
    [
      { claims: [{ ...claims("a")[0], owner: { kind: "node", name: "a" } }] },
      "claims[0].owner.kind must be letters and digits, beginning with a letter; Node for a node",
    ],
    [{ claims: [{ ...claims("a")[0], owner: { name: "a" } }] }, "claims[0].owner.kind must be letters and digits"],
    [{ claims: "Node/a" }, "claims must be a list"],
    [{ claims: [{ ...claims("a")[0], id: "w1" }] }, 'claims[0].id must be Kind/name, as in "Node/worker-1"'],
    [{ claims: [{ ...claims("a")[0], address: null }] }, "claims[0].address must be text"],
    [
      { claims: [{ ...claims("a")[0], id: "Node/w", owner: { kind: "Node", name: ["a"] } }] },
      "claims[0].owner.name must be letters, digits, -, . and _",
    ],
    [{ state: { backend: "lockfile", path: 5 } }, "state.path must be text"],
    [{ moved: [{ from: "Node/a/eth1", to: "Node/b/eth1", x: 1 }] }, "moved must be a list of { from, to }"],
    [{ claims: undefined }, "claims must be a list of claims"],
    [{ claims: [{ ...claims("a")[0], interface: 5 }] }, "claims[0].interface must be text"],
    [{ claims: [{ ...claims("a")[0], id: null }] }, 'claims[0].id must be Kind/name, as in "Node/worker-1"'],
    [{ set: null }, 'set must be a name, as in set: "shop"'],
    [{ set: "" }, 'set must be a name, as in set: "shop"'],
    [{ allowMove: "false" }, "allowMove must be true or false"],
    [{ state: null }, 'state must be an object, as { backend: "lockfile", path: "nodeippool.lock" }'],
    [{ release: "Node/a" }, "release must be a list of texts"],
    [{ moved: [{ form: "Node/a/eth1", to: "Node/b/eth1" }] }, "moved must be a list of { from, to }, each a claim key"],
    [{ moved: [null] }, "moved must be a list of { from, to }, each a claim key"],
    [
      { claims: [{ ...claims("a")[0], owner: { kind: "Node", name: 5 }, id: "Node/x" }] },
      "claims[0].owner.name must be letters, digits, -, . and _",
    ],
    [{ releases: [] }, "unknown field releases; did you mean release?"],
    [
      { pools: { apply: pools.lan } },
      "pools.apply: what has this name cannot be read from an output; give it another one",
    ],
    [{ opts: { ignoreChanges: ["pools"] } }, "ignoreChanges would plan addresses that the program does not ask for"],
    [{ opts: { import: "x" } }, "there is nothing to import: the set finds what its record has"],
  ])("are refused %j", async (wrong, says) => {
    const { errors } = await monitor().preview(sets, [{ name: "ips", pools, claims: [], ...wrong }] as never);
    expect(errors).toEqual([expect.stringContaining(`allocation set ips: ${says}`)]);
  });

  it.each([
    [new Map(), "pools must be a plain object"],
    [{ lan: undefined }, "pools.lan is missing"],
  ])("are refused pools of another shape: %j", (wrong, says) => {
    expect(() => checkArgs("ips", { pools: wrong as never, claims: [] }, {})).toThrow(`allocation set ips: ${says}`);
  });

  it.each([
    ["pools.lan", pulumi.output(pools.lan)],
    ["pools.lan.range.cidr", { range: { cidr: pulumi.output("10.0.0.0/24") } }],
    ["pools.lan.range.cidr", { range: { cidr: pulumi.secret("10.0.0.0/24") } }],
    ["pools.lan.range.cidr", { range: { cidr: Promise.resolve("10.0.0.0/24") } }],
    ["pools.lan.range.excludes[1].start", { range: { excludes: [{}, { start: pulumi.output("10.0.0.9") }] } }],
  ])("are refused outputs in pools: the sets could not be compared: %s", (place, lan) => {
    expect(() => checkArgs("ips", { pools: { lan: lan as never }, claims: [] }, {})).toThrow(
      `allocation set ips: ${place} must be known text, not an output or a promise`,
    );
  });

  it("of every kind get what they were shown", async () => {
    expect(await previewIsUp(monitor(), 5, 1)).toMatchObject({ applied: 5 });
  });
});
