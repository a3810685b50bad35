import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { root } from "../../support/console.ts";
import { cli, folderOf } from "../../support/schema-cli.ts";

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
    expect(stdout).toContain(
      `live.json:${lines[1]}:21: wrong-owner: 192.168.1.11 is used by Secret/nodepool1-node-0 em0`,
    );
  });

  it("refuses our network data that cannot be read, and takes that of others for text", async () => {
    const folder = copy();
    edit(folder, rendered, "links:", "links: [");
    const { stderr, status } = await cli(["audit", "."], folder);
    expect([stderr.split("\n")[0], status]).toEqual([`invalid: ${rendered}:9:16: this network data cannot be read`, 2]);
    edit(folder, rendered, "nodeippool.nmstate.io/owner: controllers", "example.org/owner: controllers");
    expect((await cli(["audit", "."], folder)).status).toBe(0);
  });

  it("says of an address that a template writes out itself that anybody may get it", async () => {
    const folder = copy();
    edit(folder, "infra.yaml", "{{ ip['net0']}}", "192.168.0.99/24");
    expect((await cli(["audit", "."], folder)).stdout).toMatch(
      /^infra\.yaml:\d+:\d+: stranger: 192\.168\.0\.99 of pool net0 is named here/m,
    );
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
    const { stderr, status } = await cli(["show"], folder);
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
});
