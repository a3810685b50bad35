import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { quoteInfra } from "../../../integrations/metal3/quote-infra.ts";
import { exampleText } from "../../support/cli/metal3-infra.ts";
import { cli, filesOf, folderOf } from "../../support/schema/cli.ts";

const seed = quoteInfra(exampleText("seed.yaml"));
const [c0, n0] = ["Host/controllers.node-0", "Host/nodepool1.node-0"];

/** What the record has: `192.168.0.77 Host/controllers.node-0/net0`. */
function recorded(folder: string): string[] {
  const lines = readFileSync(join(folder, "nodeippool.lock"), "utf8").matchAll(
    /"address":"(.*?)".*"claim":"([^"]*)"(.*)/g,
  );
  return [...lines].map(([, address, claim, rest]) => `${address} ${claim}${rest === "}" ? "" : ` ${rest}`}`);
}

const configMap = (net0: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {net0: ${net0}}\n`;

/** What a node of this name reports: an address on each NIC. */
function reportOf(name: string, ...addresses: string[]) {
  const interfaces = addresses.map((ip, i) => ({
    name: `eno${i}`,
    type: "ethernet",
    state: "up",
    ipv4: { enabled: true, address: [{ ip, "prefix-length": 24 }] },
  }));
  const status = { currentState: { interfaces }, conditions: [] };
  return { apiVersion: "nmstate.io/v1beta1", kind: "NodeNetworkState", metadata: { name }, status };
}

const listOf = (...items: object[]) => JSON.stringify({ apiVersion: "v1", kind: "List", items }, null, 1);

/** Network data that somebody else wrote for a host. */
function secretOf(name: string, ip: string) {
  const networks = [{ id: "a", network_id: "a", type: "ipv4", link: "eno1", ip_address: ip, netmask: "255.255.255.0" }];
  const networkData = Buffer.from(JSON.stringify({ links: [], networks, services: [] })).toString("base64");
  return { apiVersion: "v1", kind: "Secret", metadata: { name }, data: { networkData } };
}

describe("an existing fleet is imported", () => {
  const moved = ["192.168.0.77 Host/controllers.node-0/net0", "192.168.0.78 Host/nodepool1.node-0/net0"];

  it.each([
    [
      "a list, by object name",
      "f.csv",
      "controllers-node-0,eno1,192.168.0.77/24\nnodepool1-node-0,eno1,192.168.0.78\n",
    ],
    ["a list, by unit and host", "f.csv", "controllers.node-0,eno1,192.168.0.77\nnodepool1/node-0,eno1,192.168.0.78\n"],
    ["a ConfigMap", "f.yaml", configMap("{controllers.node-0: 192.168.0.77, nodepool1/node-0: 192.168.0.78}")],
    ["a ConfigMap, in full", "f.yaml", configMap(`{${c0}: 192.168.0.77, ${n0}: 192.168.0.78}`)],
    [
      "reports of nodes",
      "f.json",
      listOf(reportOf("controllers-node-0", "192.168.0.77"), reportOf("nodepool1-node-0", "192.168.0.78")),
    ],
    [
      "Secrets",
      "f.json",
      listOf(secretOf("controllers-node-0", "192.168.0.77"), secretOf("nodepool1-node-0", "192.168.0.78")),
    ],
  ])("from %s, and nobody moves", async (_, name, text) => {
    const folder = folderOf({ "infra.yaml": seed, [name]: text });
    expect(await cli(["import", name, "infra.yaml"], folder)).toMatchObject({ stderr: "", status: 0 });
    expect(recorded(folder)).toEqual(moved);
    expect((await cli(["import", name, "infra.yaml"], folder)).stdout).toContain("Nothing to record.");
    expect(await cli(["allocate", "infra.yaml"], folder)).toMatchObject({ status: 0 });
    expect(recorded(folder)).toEqual(expect.arrayContaining(moved));
  });

  it("a name that two hosts have is refused, and each of them is named; one that one host has is its own", async () => {
    const folder = folderOf({ "infra.yaml": seed, "f.yaml": configMap("{node-0: 192.168.0.77}") });
    const before = filesOf(folder);
    expect(await cli(["import", "f.yaml", "infra.yaml"], folder)).toMatchObject({
      stderr: `invalid: f.yaml:4:14: node-0 may be ${c0} or ${n0}\n  Write which one it is: ${c0}, say.\n`,
      status: 2,
    });
    expect(filesOf(folder)).toEqual(before);
    writeFileSync(join(folder, "infra.yaml"), seed.slice(0, seed.indexOf("nodepools:")));
    expect(await cli(["import", "f.yaml", "infra.yaml"], folder)).toMatchObject({ stderr: "", status: 0 });
    expect(recorded(folder)).toEqual(moved.slice(0, 1));
  });

  it("a name that no host has is no host", async () => {
    const folder = folderOf({ "infra.yaml": seed, "f.csv": "controllers-node-1,eno1,192.168.0.77\n" });
    const { stderr, status } = await cli(["import", "f.csv", "infra.yaml"], folder);
    expect([stderr.split("\n")[0], status]).toEqual([
      "invalid: f.csv:1:25: controllers-node-1 is not among the nodes, and nobody of net0 is called so",
      2,
    ]);
    writeFileSync(join(folder, "f.json"), listOf(secretOf("controllers-node-1", "192.168.0.77")));
    expect((await cli(["import", "f.json", "infra.yaml"], folder)).stderr).toContain("for whom is not known");
  });

  it.each([
    ["another address than the record", "192.168.0.44", 4, `${c0}/net0 holds 192.168.0.10, but ${c0} has 192.168.0.44`],
    ["one that the network may not give", "192.168.0.9", 4, `${c0}/net0 holds 192.168.0.10, but ${c0} has 192.168.0.9`],
  ])("a host that has %s is refused, whatever it is called", async (_, address, status, message) => {
    const folder = folderOf({ "infra.yaml": seed });
    await cli(["allocate"], folder);
    const before = filesOf(folder);
    for (const name of ["controllers.node-0", "controllers-node-0", "controllers/node-0", c0]) {
      writeFileSync(join(folder, "f.csv"), `${name},eno1,${address}\n`);
      const ran = await cli(["import", "f.csv"], folder);
      expect([ran.stderr, ran.status]).toEqual([expect.stringContaining(message), status]);
    }
    expect(filesOf(folder)).toEqual({ ...before, "f.csv": `${c0},eno1,${address}\n` });
  });

  it("an address that the network may not give is refused", async () => {
    const folder = folderOf({ "infra.yaml": seed, "f.csv": "controllers-node-0,eno1,192.168.0.9\n" });
    expect(await cli(["import", "f.csv"], folder)).toMatchObject({
      stderr: expect.stringContaining(
        `${c0} has 192.168.0.9, which pool net0 may not hand out\n  Let the pool cover it (addressRange, `,
      ),
      status: 2,
    });
  });

  it("a unit and a host that are none are refused", async () => {
    const folder = folderOf({ "infra.yaml": seed, "f.csv": "controllers/node-9,eno1,192.168.0.77\n" });
    expect(await cli(["import", "f.csv"], folder)).toMatchObject({
      stderr: "invalid: f.csv:1:25: nobody is called controllers/node-9\n",
      status: 2,
    });
  });

  it("a host's Node keeps the addresses that are none of the host's networks", async () => {
    const pool =
      "apiVersion: nmstate.io/v1\nkind: NodeIPPool\nmetadata: {name: p}\nspec: {range: {cidr: 10.0.0.0/24}}\n";
    const report = listOf(reportOf("controllers-node-0", "192.168.0.77", "10.0.0.5"));
    const folder = folderOf({ "m/infra.yaml": seed, "m/pool.yaml": pool, "f.json": report });
    expect(await cli(["import", "f.json", "m"], folder)).toMatchObject({ status: 0 });
    expect(recorded(folder)).toEqual([
      '10.0.0.5 Node/controllers-node-0/imported/10.0.0.5 ,"set":"imported","interface":"eno1"}',
      moved[0],
    ]);
  });
});

describe("the nodes of hosts", () => {
  const healthy = [
    reportOf("controllers-node-0", "192.168.0.10", "192.168.1.10"),
    reportOf("nodepool1-node-0", "192.168.0.11", "192.168.1.11"),
  ];

  async function rendered(): Promise<string> {
    const folder = folderOf({ "infra.yaml": seed, "nns.json": listOf(...healthy) });
    await cli(["allocate", "infra.yaml"], folder);
    expect(await cli(["render", "infra.yaml", "--out", "rendered"], folder)).toMatchObject({ status: 0 });
    return folder;
  }

  it.each([["nns.json"], ["rendered nns.json"], ["list.csv"]])(
    "audit of a healthy fleet is clean: %s",
    async (what) => {
      const folder = await rendered();
      const lines = ["controllers.node-0,br0,192.168.0.10/24", "controllers-node-0,em0,192.168.1.10"];
      lines.push("nodepool1/node-0,br0,192.168.0.11", "nodepool1.node-0,em0,192.168.1.11");
      writeFileSync(join(folder, "list.csv"), lines.join("\n"));
      const { stdout, stderr, status } = await cli(["audit", ...what.split(" "), "--pools", "infra.yaml"], folder);
      expect([stdout, stderr, status]).toEqual(["4 addresses checked, 0 findings\n", "", 0]);
    },
  );

  it("audit finds a host's node with another one's address, and one that lacks its own", async () => {
    const folder = await rendered();
    const nodes = [reportOf("controllers-node-0", "192.168.0.11", "192.168.1.10"), healthy[1] as object];
    writeFileSync(join(folder, "nns.json"), listOf(...nodes));
    const { stdout, status } = await cli(["audit", "nns.json", "--pools", "infra.yaml"], folder);
    expect(status).toBe(5);
    expect(stdout).toContain(`leaked: 192.168.0.10 is recorded for ${c0}/net0, but nothing uses it`);
    expect(stdout).toContain(`wrong-owner: 192.168.0.11 is used by ${c0}, but recorded for ${n0}/net0`);
  });

  it("audit of Secrets without our label knows them by their names", async () => {
    const folder = await rendered();
    const file = join(folder, "rendered/infra.yaml");
    const text = readFileSync(file, "utf8").replaceAll(/^ +nodeippool.nmstate.io\/owner: .*\n/gm, "");
    expect(parseAllDocuments(text)).toHaveLength(4);
    writeFileSync(file, text);
    const { stdout } = await cli(["audit", "rendered", "--pools", "infra.yaml"], folder);
    expect(stdout).toBe("4 addresses checked, 0 findings\n");
  });

  it("release --evidence knows a host's report, and frees nothing that it shows, or does not say on which NIC it was", async () => {
    const folder = await rendered();
    writeFileSync(join(folder, "infra.yaml"), seed.slice(0, seed.indexOf("nodepools:")));
    await cli(["allocate", "infra.yaml", "--confirm"], folder);
    writeFileSync(join(folder, "nns.json"), listOf(healthy[0] as object, reportOf("nodepool1-node-0", "192.168.0.11")));
    const { stdout, status } = await cli(["release", "--evidence", "nns.json"], folder);
    expect([stdout.split("\n"), status]).toEqual([
      [
        `  = 192.168.0.11  ${n0}  net0  still on ${n0}`,
        `  = 192.168.1.11  ${n0}  net1  it is not recorded on which NIC it was; once its host is deprovisioned (kubectl get bmh -A), or off for good: nodeippool release 192.168.1.11 --confirm`,
        "Freed 0 addresses.",
        "",
      ],
      0,
    ]);
  });
});
