import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { root } from "../../support/console.ts";
import { cli, folderOf } from "../../support/schema/cli.ts";

const seed = readFileSync(join(root, "examples/metal3/seed.yaml"), "utf8");

/** The example of the IPAM study, allocated and rendered. */
let example: string;

beforeAll(async () => {
  example = folderOf({ "infra.yaml": seed });
  expect((await cli(["allocate", "infra.yaml"], example)).status).toBe(0);
  expect((await cli(["render", "infra.yaml", "--out", "rendered"], example)).status).toBe(0);
});

/** A copy of it. */
function copy(): string {
  const folder = folderOf({});
  cpSync(example, folder, { recursive: true });
  return folder;
}

/** Replaces a text of a file where it stands first, and says on which line that is. */
function edit(folder: string, file: string, from: string, to: string): number {
  const text = readFileSync(join(folder, file), "utf8");
  expect(text).toContain(from);
  writeFileSync(join(folder, file), text.replace(from, to));
  return text.slice(0, text.indexOf(from)).split("\n").length;
}

const rendered = "rendered/infra.yaml";

describe("audit of network data", () => {
  it.each([[["rendered", "--pools", "infra.yaml"]], [["."]]])(
    "finds nothing in what was just rendered: %s",
    async (args) => {
      const { stdout, stderr, status } = await cli(["audit", ...args], copy());
      expect([stdout, stderr, status]).toEqual(["4 addresses checked, 0 findings\n", "", 0]);
    },
  );

  it.each([
    [
      "another one of the network",
      "192.168.0.77",
      "stranger: 192.168.0.77 of pool net0 is used by Host/controllers.node-0 bond1",
    ],
    [
      "another host's",
      "192.168.0.11",
      "wrong-owner: 192.168.0.11 is used by Host/controllers.node-0 bond1, but recorded for Host/nodepool1.node-0/net0",
    ],
    [
      "another host's",
      "192.168.0.11",
      "duplicate: 192.168.0.11 is configured on Host/nodepool1.node-0 bond1 and on Host/controllers.node-0 bond1",
    ],
    [
      "one of no network",
      "10.9.9.9",
      "leaked: 192.168.0.10 is recorded for Host/controllers.node-0/net0, but nothing uses it: Host/controllers.node-0 bond1 has 10.9.9.9 here",
    ],
  ])("finds an address that was changed by hand to %s, with its line", async (_, to, says) => {
    const folder = copy();
    const line = edit(folder, rendered, "ip_address: 192.168.0.10", `ip_address: ${to}`);
    const { stdout, status } = await cli(["audit", "rendered", "--pools", "infra.yaml"], folder);
    expect(stdout).toContain(`${rendered}:${line}:9: ${says}`);
    expect(status).toBe(5);
  });

  it("finds a netmask that is not the network's, and a host whose network data is gone", async () => {
    const folder = copy();
    edit(folder, rendered, "netmask: 255.255.255.0", "netmask: 255.255.0.0");
    const { stdout } = await cli(["audit", "."], folder);
    expect(stdout).toContain(
      "wrong-prefix: 192.168.0.10 has prefix length 16 on Host/controllers.node-0 bond1, but pool net0 has /24",
    );
    const [, , ...others] = readFileSync(join(folder, rendered), "utf8").split("---\n");
    writeFileSync(join(folder, rendered), others.join("---\n"));
    expect((await cli(["audit", "."], folder)).stdout).toMatch(
      /leaked: 192\.168\.0\.10 is recorded for Host\/controllers\.node-0\/net0/,
    );
  });

  it("reads Secrets as an API server gives them, too, and calls one of unknown owner by its own name", async () => {
    const folder = copy();
    edit(folder, rendered, "ip_address: 192.168.0.10", "ip_address: 192.168.0.77");
    edit(folder, rendered, "    nodeippool.nmstate.io/owner: nodepool1.node-0\n", "");
    edit(folder, rendered, "name: nodepool1-node-0", "name: other");
    const objects = parseAllDocuments(readFileSync(join(folder, rendered), "utf8")).map((one) => one.toJS());
    const items = objects.map(({ stringData, ...rest }) => {
      if (stringData === undefined) return rest;
      return { ...rest, data: { networkData: Buffer.from(stringData.networkData).toString("base64") } };
    });
    const json = JSON.stringify({ apiVersion: "v1", kind: "List", items }, null, 1);
    writeFileSync(join(folder, "live.json"), json);
    const lines = json.split("\n").flatMap((text, i) => (text.includes('"networkData": "') ? i + 1 : []));
    const { stdout } = await cli(["audit", "live.json", "--pools", "infra.yaml"], folder);
    expect(stdout).toContain(`live.json:${lines[0]}:21: stranger: 192.168.0.77 of pool net0`);
    expect(stdout).toContain(`live.json:${lines[1]}:21: wrong-owner: 192.168.1.11 is used by Secret/other em0`);
  });

  it("refuses our network data that cannot be read, and takes that of others for text", async () => {
    const folder = copy();
    edit(folder, rendered, "links:", "links: [");
    const { stderr, status } = await cli(["audit", "."], folder);
    expect([stderr.split("\n")[0], status]).toEqual([`invalid: ${rendered}:9:16: this network data cannot be read`, 2]);
    edit(folder, rendered, "nodeippool.nmstate.io/owner: controllers", "example.org/owner: controllers");
    expect((await cli(["audit", "."], folder)).status).toBe(0);
  });
});

describe("verbs that show pools", () => {
  it("know networks as they know NodeIPPools", async () => {
    const folder = copy();
    expect((await cli(["show", "net1"], folder)).stdout).toContain(
      "Pool net1  192.168.1.0/24 .10-.12, .15   4 usable  2 held  2 free",
    );
    expect((await cli(["explain", "192.168.0.1"], folder)).stdout).toBe(
      "192.168.0.1: pool net0, reserved as gateway\n",
    );
    expect((await cli(["explain", "net0", "--offset", "1", "--pools", "infra.yaml"], folder)).stdout).toContain(
      "held by Host/nodepool1.node-0",
    );
  });

  it("say where a network and a NodeIPPool of one name are", async () => {
    const folder = copy();
    const pool =
      "apiVersion: nmstate.io/v1\nkind: NodeIPPool\nmetadata: {name: net0}\nspec: {range: {cidr: 10.0.0.0/24}}\n";
    writeFileSync(join(folder, "pool.yaml"), pool);
    const { stderr, status } = await cli(["show", "--pools", "."], folder);
    expect(stderr).toContain("infra.yaml:3:5: pool net0 is defined in two ways, here and in pool.yaml:3:18");
    expect(status).toBe(2);
  });
});

it("records again what rendered network data shows, where the lock is lost", async () => {
  const folder = copy();
  const lock = readFileSync(join(folder, "nodeippool.lock"), "utf8");
  writeFileSync(join(folder, "nodeippool.lock"), "");
  const args = ["--lock", "new.lock"];
  const { stdout, stderr } = await cli(["import", "rendered", "infra.yaml", ...args], folder);
  expect(stderr + stdout).toContain("Recorded in new.lock.");
  expect(readFileSync(join(folder, "new.lock"), "utf8")).toBe(lock);
  edit(folder, rendered, "    nodeippool.nmstate.io/owner: nodepool1.node-0\n", "");
  edit(folder, rendered, "name: nodepool1-node-0", "name: other");
  const unknown = await cli(["import", "rendered", "infra.yaml", "--lock", "other.lock"], folder);
  expect(unknown.stderr).toMatch(
    /^invalid: rendered\/infra\.yaml:\d+:9: this address is configured, but for whom is not known$/m,
  );
});

it("passes over Secrets that are no network data, and what names Secrets, whatever else is wrong with them", async () => {
  const folder = copy();
  const others = "kind: Secret\nstringData: {a: 'b\n---\nkind: Deployment\nspec: {imagePullSecrets: [{name: x}]}\n";
  writeFileSync(join(folder, "rendered/other.yaml"), others);
  expect(await cli(["audit", "rendered", "--pools", "infra.yaml"], folder)).toMatchObject({ status: 0, stderr: "" });
  expect((await cli(["import", "rendered", "infra.yaml", "--dry-run"], folder)).status).toBe(0);
});

describe("hosts as owners", () => {
  it("explains what a host of the file has not got yet, and which host is meant", async () => {
    const folder = folderOf({ "infra.yaml": seed });
    const asks = ["net0", "net1"].map(
      (name) => `  ${name} asks pool ${name} for an address: nodeippool allocate gives it one\n`,
    );
    for (const name of ["controllers.node-0", "Host/controllers.node-0"])
      expect((await cli(["explain", name], folder)).stdout).toBe(
        `Host/controllers.node-0 has no address\n${asks.join("")}`,
      );
    const { stderr, status } = await cli(["explain", "node-0"], folder);
    expect(stderr).toContain(
      '"node-0" is not an address, a pool, a node or an owner; did you mean controllers.node-0?',
    );
    expect(status).toBe(2);
  });

  it("renames a host as the file does, and to nothing that the file could not have", async () => {
    const folder = copy();
    expect((await cli(["mv", "controllers.node-0", "node-1"], folder)).stderr).toContain("expected UNIT.HOST");
    expect((await cli(["mv", "controllers.node-0", "controllers.node_1"], folder)).status).toBe(2);
    expect((await cli(["mv", "controllers.node-0", "controllers.node-1"], folder)).status).toBe(0);
    edit(folder, "infra.yaml", "    node-0:", "    node-1:");
    expect((await cli(["plan", "infra.yaml"], folder)).stdout).toContain("Plan: 0 to allocate, 4 kept, 0 to release.");
  });

  it("releases in words that are true of hosts: they report nothing, and are on no node", async () => {
    const folder = copy();
    const claimed = await cli(["release", "nodepool1.node-0"], folder);
    expect(claimed.stderr).toContain(
      "Take Host/nodepool1.node-0 out of the manifests and run nodeippool allocate first.",
    );
    const text = readFileSync(join(folder, "infra.yaml"), "utf8");
    writeFileSync(join(folder, "infra.yaml"), text.slice(0, text.indexOf("nodepools:")));
    expect((await cli(["allocate", "infra.yaml", "--confirm"], folder)).status).toBe(0);
    expect((await cli(["release"], folder)).stdout.split("\n").slice(2)).toEqual([
      "2 addresses releasing.",
      "Free each once its host is deprovisioned (kubectl get bmh -A), or off for good: nodeippool release NAME... --confirm",
      "",
    ]);
    const { stderr } = await cli(["render", "infra.yaml"], folder);
    expect(stderr).toContain(
      "is releasing: nothing is written for it any more. Once its host is deprovisioned (kubectl get bmh -A), or off for good: nodeippool release 192.168.0.11 --confirm\n",
    );
    expect((await cli(["release", "nodepool1.node-0", "--confirm"], folder)).stdout).toContain("Freed 2 addresses.");
  });

  it("says of a plan that releases all hosts that it may be the wrong file", async () => {
    const folder = copy();
    const text = seed.replaceAll("    node-0:", "    node-1:");
    writeFileSync(join(folder, "infra.yaml"), text);
    expect((await cli(["plan", "infra.yaml"], folder)).stderr).toContain(
      "releases 4 of 4 addresses of set default: wrong folder or file?",
    );
  });

  it.each([
    [
      "        - 192.168.1.11\n        - 192.168.1.12\n        - 192.168.1.15\n",
      "",
      "more of infra.networks.net1.addresses",
    ],
    ["end: 192.168.0.250", "end: 192.168.0.10", "a wider infra.networks.net0.addressRange"],
  ])("says what makes a network larger, in the words of the file", async (from, to, grows) => {
    const folder = folderOf({ "infra.yaml": seed });
    edit(folder, "infra.yaml", from, to);
    const { stderr, status } = await cli(["plan", "infra.yaml"], folder);
    expect(stderr).toMatch(/pool net[01] is exhausted: 2 needed, 1 free/);
    expect(stderr).toContain(`\n  Let the network grow: ${grows}.\n`);
    expect(status).toBe(3);
  });
});

describe("files", () => {
  const rack = readFileSync(join(root, "examples/metal3/rack.yaml"), "utf8");

  it("two in one folder are planned each by itself, and shown together", async () => {
    const folder = folderOf({ "infra.yaml": seed, "rack.yaml": rack });
    const { stderr, status } = await cli(["plan", "."], folder);
    expect([stderr, status]).toEqual([
      "invalid: rack.yaml:2:1: infra is defined twice, here and in infra.yaml:1:1\n" +
        "  A folder has one such file. Plan each by itself, with a lock of its own, or with a claim set of its own and networks of other names.\n",
      2,
    ]);
    expect((await cli(["allocate", "infra.yaml"], folder)).status).toBe(0);
    expect((await cli(["allocate", "rack.yaml", "--set", "rack"], folder)).status).toBe(0);
    expect((await cli(["plan", "infra.yaml"], folder)).stdout).toContain("Plan: 0 to allocate, 4 kept, 0 to release.");
    expect((await cli(["show", "--pools", "."], folder)).stdout).toMatch(
      /^Pool net0 .* 2 held[\s\S]*^Pool storage .* 17 held/m,
    );
  });

  const none = { "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n": "", "": "" };
  it.each([
    ...Object.entries(none),
    [seed.replace("infra:", "infras:"), ": unknown field infras; did you mean infra?"],
    ["apiVersion: nmstate/v1\nkind: NodeIPPol\n", ": unknown kind NodeIPPol; did you mean NodeIPPool?"],
  ])("one that is named, and has nothing to read, is refused", async (text, why) => {
    const folder = folderOf({ "in/x.yaml": text });
    for (const verb of ["plan", "allocate", "render"]) {
      const { stdout, stderr, status } = await cli([verb, "in/x.yaml"], folder);
      expect([stdout, stderr, status]).toEqual([
        "",
        `invalid: nothing in in/x.yaml asks for addresses or has any${why}\n` +
          "  Name the folder, or the file, that has them: NodeIPPool, NodeNetworkConfigurationPolicy, NetworkAttachmentDefinition, NodeSlicePool, VirtualMachine, VirtualMachineInstance, IPAMClaim, StatefulSet, Deployment, infra.\n",
        2,
      ]);
    }
    expect((await cli(["plan", "in"], folder)).status).toBe(0);
    const lock = join(copy(), "nodeippool.lock");
    const shown = await cli(["show", "--pools", "in/x.yaml", "--lock", lock], folder);
    expect([shown.stderr.split("\n")[0], shown.status]).toEqual(["invalid: no pool is defined in in/x.yaml", 2]);
  });

  it("may be JSON", async () => {
    const folder = folderOf({});
    const { infra, ...units } = parse(rack) as Record<string, unknown>;
    writeFileSync(join(folder, "rack.json"), JSON.stringify({ ...units, infra }));
    expect((await cli(["plan", "."], folder)).stdout).toContain("Plan: 77 to allocate");
  });
});
