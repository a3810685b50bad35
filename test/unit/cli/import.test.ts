import { cpSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { nodeippool, root } from "../../support/console.ts";
import { cli, folderOf } from "../../support/schema/cli.ts";
import { documentsOf, nicPolicyText, policyText, poolText } from "../../support/schema/text.ts";

const nodes = "node01\nnode02\nnode03\n";

/** The example's manifests and nodes, and this evidence. */
function workspace(evidence: string, name = "fleet.csv"): string {
  const folder = folderOf({ "nodes.txt": nodes, [name]: evidence });
  cpSync(join(root, "examples/static-ip/manifests"), join(folder, "manifests"), { recursive: true });
  return folder;
}

const args = (...rest: string[]) => ["import", "fleet.csv", "manifests", "--nodes", "nodes.txt", ...rest];
const lockOf = (folder: string) =>
  readFileSync(join(folder, "nodeippool.lock"), "utf8")
    .split("\n")
    .filter((line) => line.includes("claim"));

/** Somebody numbered by hand: node02 first, .0 and all; a virtual IP; things that are no business of ours. */
const fleet = `node,interface,address
node02,eth1,10.10.10.1/24
node01,eth1,10.10.10.10
node01,eth1:vip,10.10.10.9
node01,eth0,192.0.2.1
node02,eth0,10.10.10.4
`;

describe("import", () => {
  it("records what nodes have, and nobody moves when the rest is allocated", async () => {
    const folder = workspace(fleet);
    const first = await cli(args(), folder);
    expect([first.stdout.split("\n"), first.stderr, first.status]).toEqual([
      [
        "Pool traffic-1  10.10.10.0/24 .1-.10 less 2   8 usable  0 held  3 new  5 free",
        "  + 10.10.10.1  node02  static-ip/address-from-traffic-1",
        "  + 10.10.10.9  node01  imported/10.10.10.9",
        "  + 10.10.10.10  node01  static-ip/address-from-traffic-1",
        "Pool traffic-2  10.10.11.0/24 .1-.10 less 2   8 usable  0 held  8 free",
        "Plan: 3 to allocate, 0 kept, 0 to release.",
        "  ! node01  static-ip/address-from-traffic-2  nothing found on eth2: allocate will give it a new address",
        "  ! node02  static-ip/address-from-traffic-2  nothing found on eth2: allocate will give it a new address",
        "Note: no evidence of 1 node with claims: node03; allocate gives it a new address",
        "2 other addresses passed over, as no pool hands them out: 192.0.2.1, 10.10.10.4",
        "Recorded in nodeippool.lock.",
        "",
      ],
      "",
      0,
    ]);
    const imported = lockOf(folder);
    expect(imported[1]).toBe(
      '- {"address":"10.10.10.9","pool":"traffic-1","claim":"Node/node01/imported/10.10.10.9","set":"imported","interface":"eth1:vip"}',
    );

    const again = await cli(args(), folder);
    expect(again.stdout).toContain("Plan: 0 to allocate, 3 kept, 0 to release.\n");
    expect(again.stdout).toContain("Nothing to record.\n");
    expect(lockOf(folder)).toEqual(imported);

    await cli(["allocate", "manifests", "--nodes", "nodes.txt"], folder);
    expect(lockOf(folder)).toEqual(expect.arrayContaining(imported));
    expect(lockOf(folder)).toHaveLength(7);
    await cli(["render", "manifests", "--nodes", "nodes.txt", "--out", "rendered"], folder);
    expect((await cli(["audit", "rendered", "--nodes", "nodes.txt"], folder)).stdout).toBe(
      "7 addresses checked, 0 findings\n",
    );
  });

  it("gives an imported address to the claim that comes later", async () => {
    const folder = workspace("node01,eth1,10.10.10.9\n");
    await cli(["import", "fleet.csv", "manifests/pools.yaml", "--nodes", "nodes.txt"], folder);
    const { stdout } = await cli(args(), folder);
    expect(stdout).toContain(
      "  ~ 10.10.10.9  node01  static-ip/address-from-traffic-1  was Node/node01/imported/10.10.10.9\n",
    );
    expect(lockOf(folder)).toEqual([
      '- {"address":"10.10.10.9","pool":"traffic-1","claim":"Node/node01/static-ip/address-from-traffic-1","interface":"eth1"}',
    ]);
  });

  describe("before the policies are there: allocate moves nobody either", () => {
    /** A pool t in p; in q it has a policy st whose captures a, b, ... are for these NICs. */
    const fleetOf = (nics: readonly string[], evidence: string) => {
      const captures = nics.map((_, i) => `    ${"ab"[i]}: ippool.t.allocate\n`);
      const interfaces = nics.map((nic, i) => {
        const [ip, length] = ["ip", "prefix-length"].map((field) => `"{{ capture.${"ab"[i]}.${field} }}"`);
        const ipv4 = `{enabled: true, dhcp: false, address: [{ip: ${ip}, prefix-length: ${length}}]}`;
        return `    - {name: ${nic}, type: ethernet, state: up, ipv4: ${ipv4}}\n`;
      });
      const nic = '    nic: interfaces.name == "eth1"\n';
      const spec = `  capture:\n${nic}${captures.join("")}  desiredState:\n    interfaces:\n${interfaces.join("")}`;
      const pool = poolText("  range: {cidr: 10.0.0.0/24}", "t");
      return folderOf({
        x: evidence,
        "nodes.txt": "n1\n",
        "p/pool.yaml": pool,
        "q/pool.yaml": pool,
        "q/policy.yaml": policyText(spec, "st"),
      });
    };
    const importing = ["import", "x", "p", "--nodes", "nodes.txt"];
    const allocate = ["allocate", "q", "--nodes", "nodes.txt"];

    it("of several NICs it must be said on which the address is, by a reservation or by importing again", async () => {
      const states = "kind: ConfigMap\nmetadata: {name: x}\ndata: {t: 'n1: 10.0.0.7'}\n";
      const folder = fleetOf(["eth1", "eth2"], states);
      await cli(importing, folder);
      const imported = lockOf(folder);
      const { status, stderr } = await cli(allocate, folder);
      expect(stderr).toContain(
        "Node/n1/st/a in pool t: 10.0.0.7 was imported for Node/n1, and it is not known for which",
      );
      expect([status, lockOf(folder)]).toEqual([3, imported]);

      writeFileSync(join(folder, "x"), "n1,eth2,10.0.0.7\n");
      await cli(["import", "x", "q", "--nodes", "nodes.txt"], folder);
      await cli(allocate, folder);
      expect(lockOf(folder)).toEqual([
        expect.stringContaining("n1/st/a"),
        expect.stringMatching(/10\.0\.0\.7.*n1\/st\/b/),
      ]);
    });

    it("a claim whose NIC only its node knows gets the address of its node", async () => {
      const folder = fleetOf(['"{{ capture.nic.interfaces.0.name }}"'], "n1,eth1,10.0.0.7\n");
      await cli(importing, folder);
      const { stdout } = await cli(allocate, folder);
      expect(stdout).toContain("  ~ 10.0.0.7  n1  st/a  was Node/n1/imported/10.0.0.7\n");
      expect(lockOf(folder)).toHaveLength(1);
    });

    const outside = "but pool t hands it out no more";
    it.each([
      ["range: {cidr: 10.0.0.0/24, end: 10.0.0.5}", outside],
      ["range: {cidr: 10.0.0.0/24, exclude: [10.0.0.7]}", outside],
      ["range: {cidr: 10.0.0.0/24}\n  dnsServers: [10.0.0.7]", outside],
      ["range: {cidr: 10.0.0.0/24}\n  reservations: [{address: 10.0.0.9, owner: Node/n1}]", "which now wants 10.0.0.9"],
    ])("where the pool has become another one, the move is refused: %s", async (spec, why) => {
      const folder = fleetOf(["eth1"], "n1,eth1,10.0.0.7\n");
      await cli(importing, folder);
      const imported = lockOf(folder);
      writeFileSync(join(folder, "q/pool.yaml"), poolText(`  ${spec}`, "t"));
      const refused = await cli(allocate, folder);
      expect(refused.stderr).toContain(`10.0.0.7 was imported for Node/n1, ${why}`);
      expect([refused.status, lockOf(folder)]).toEqual([3, imported]);

      const { stdout, status } = await cli([...allocate, "--allow-move"], folder);
      expect(stdout).toMatch(/^ {2}\+ 10\.0\.0\.[19] {2}n1 {2}st\/a$/m);
      expect([status, lockOf(folder)]).toEqual([0, expect.arrayContaining(imported)]);
    });

    it("what no pool hands out is named; a pool that covers it has it recorded", async () => {
      const folder = fleetOf(["eth1"], "n1,eth1,10.0.0.60\n");
      const passed = async (more: string) => {
        const spec = `  range: {cidr: 10.0.0.0/24, end: 10.0.0.9}${more}`;
        for (const name of ["p", "q"]) writeFileSync(join(folder, name, "pool.yaml"), poolText(spec, "t"));
        return (await cli(importing, folder)).stdout.match(/^.*passed over.*$/gm);
      };
      expect(await passed("")).toEqual(["1 other address passed over, as no pool hands them out: 10.0.0.60"]);
      expect(await passed("\n  additionalRanges: [{start: 10.0.0.60, end: 10.0.0.60}]")).toBeNull();
      expect((await cli(allocate, folder)).stdout).toContain(
        "  ~ 10.0.0.60  n1  st/a  was Node/n1/imported/10.0.0.60\n",
      );
    });

    it("what is releasing is recorded: nothing is said of it", async () => {
      const folder = fleetOf(["eth1"], "n1,eth1,10.0.0.1\n");
      await cli(allocate, folder);
      writeFileSync(join(folder, "nodes.txt"), "n2\n");
      await cli(allocate, folder);
      writeFileSync(join(folder, "nodes.txt"), "n1\nn2\n");
      const { stdout } = await cli(importing, folder);
      expect([stdout.match(/passed over|Note/g), readFileSync(join(folder, "nodeippool.lock"), "utf8")]).toEqual([
        null,
        expect.stringMatching(/"10\.0\.0\.1",.*"releasing":true/),
      ]);
    });

    it("a policy that takes from another pool of the subnet gives the NIC another address, and the imported one stays on record", async () => {
      const folder = fleetOf(["eth1"], "n1,eth1,10.0.0.107\n");
      writeFileSync(
        join(folder, "p/pool.yaml"),
        documentsOf(
          poolText("  range: {cidr: 10.0.0.0/24, end: 10.0.0.99}", "t"),
          poolText("  range: {cidr: 10.0.0.0/24, start: 10.0.0.100}", "high"),
        ),
      );
      cpSync(join(folder, "p/pool.yaml"), join(folder, "q/pool.yaml"));
      await cli(importing, folder);
      await cli(allocate, folder);
      expect(lockOf(folder)).toEqual([expect.stringContaining("10.0.0.1"), expect.stringContaining("10.0.0.107")]);
    });
  });

  /** What a node reports; `!` marks what DHCP or SLAAC gave. */
  const report = (node: string, ...lines: string[]) => ({
    kind: "NodeNetworkState",
    metadata: { name: node },
    status: {
      currentState: {
        interfaces: lines.map((line) => {
          const [name, ...ips] = line.split(" ");
          const address = ips.map((ip) => ({
            ip: ip.replace("!", ""),
            "prefix-length": 24,
            "valid-life-time": ip.endsWith("!") ? "3599sec" : "forever",
          }));
          return { name, type: "ethernet", ipv4: { enabled: true, address } };
        }),
      },
    },
  });
  const dump = (...items: unknown[]) => JSON.stringify({ kind: "List", items });
  const nns = ["import", "nns.json", "manifests", "--nodes", "nodes.txt"];

  it("says which nodes it has no evidence of: they will get new addresses", async () => {
    const folder = workspace(dump(report("n01", "eth1 10.10.10.5", "eth2 10.10.11.5")), "nns.json");
    const notes = async (count: number, ...states: unknown[]) => {
      const names = Array.from({ length: count }, (_, i) => `n${`${i + 1}`.padStart(2, "0")}`);
      writeFileSync(join(folder, "nodes.txt"), names.join("\n"));
      if (states.length > 0) writeFileSync(join(folder, "nns.json"), dump(...states));
      return (await cli(nns, folder)).stdout.match(/^(?:Note| {2}!).*$/gm);
    };
    const first = report("n01", "eth1 10.10.10.5", "eth2 10.10.11.5");
    const silent = { kind: "NodeNetworkState", metadata: { name: "n02" } };
    expect(await notes(3, first, silent, report("n03"))).toEqual([
      "Note: no evidence of 2 nodes with claims: n02, n03; allocate gives them new addresses",
    ]);
    // n03 was looked at: it has nothing there
    expect(await notes(3, first, silent, report("n03", "eth1", "eth2"))).toEqual([
      expect.stringMatching(/^ {2}! n03 .* nothing found on eth1: allocate will give it a new address$/),
      expect.stringMatching(/^ {2}! n03 .* nothing found on eth2: allocate will give it a new address$/),
      "Note: no evidence of 1 node with claims: n02; allocate gives it a new address",
    ]);
    expect(await notes(13, first)).toEqual([
      "Note: no evidence of 12 nodes with claims: n02, n03, n04, n05, n06, n07, n08, n09, n10, n11 and 2 more; allocate gives them new addresses",
    ]);
    expect(await notes(3, first)).toHaveLength(1);
    await cli(["allocate", "manifests", "--nodes", "nodes.txt"], folder);
    expect(await notes(3, first)).toBeNull();
  });

  it("passes over what DHCP gave, which release and audit still take for used", async () => {
    const states = dump(
      report("node01", "eth1 10.10.10.5!", "eth0 192.0.2.1!"),
      report("node02", "eth1 10.10.10.2 10.10.10.6!"),
    );
    const folder = workspace(states, "nns.json");
    const { stdout, stderr } = await cli(nns, folder);
    expect(stderr).toBe("");
    expect(stdout).toContain(
      [
        "3 addresses of DHCP or SLAAC passed over.",
        "Note: allocate may give 10.10.10.5, 10.10.10.6 to a node, and DHCP or SLAAC to another one: exclude or reserve it",
        "Recorded in nodeippool.lock.\n",
      ].join("\n"),
    );
    expect(lockOf(folder)).toHaveLength(1);
    expect(JSON.parse((await cli([...nns, "--json"], folder)).stdout)).toMatchObject({ ignored: 0, temporary: 3 });
    const audit = await cli(["audit", "nns.json", "--pools", "manifests"], folder);
    expect(audit.stdout).toContain("stranger: 10.10.10.5 of pool traffic-1 is used by Node/node01 eth1");
  });

  it("says what may be from DHCP, where the report does not tell", async () => {
    const nic = (name: string, ip: string, dhcp: boolean) => ({
      name,
      type: "ethernet",
      state: "up",
      ipv4: { enabled: true, dhcp, address: [{ ip, "prefix-length": 24 }] },
    });
    const interfaces = [nic("eth1", "10.10.10.5", true), nic("eth2", "10.10.11.5", false)];
    const state = { kind: "NodeNetworkState", metadata: { name: "node01" }, status: { currentState: { interfaces } } };
    const { stdout, status } = await cli(nns, workspace(dump(state), "nns.json"));
    expect(status).toBe(0);
    expect(stdout).toContain(
      "Note: may be from DHCP or SLAAC, which is on for the NIC: 10.10.10.5 of Node/node01 eth1. Exclude it in the DHCP server\n",
    );
  });

  it("does not free what DHCP gave to somebody", async () => {
    const folder = workspace(dump(report("node01", "eth7 10.10.10.9")), "nns.json");
    await cli(nns, folder);
    writeFileSync(join(folder, "now.json"), dump(report("node01", "eth7 10.10.10.9!")));
    const { stdout } = await cli(["release", "10.10.10.9", "--evidence", "now.json"], folder);
    expect(stdout).toContain("still on Node/node01 eth7\nFreed 0 addresses.");
  });

  it("refuses an address that one node has for good and another one by DHCP", async () => {
    const folder = workspace(
      dump(report("node01", "eth1 10.10.10.5"), report("node02", "eth1 10.10.10.5!")),
      "nns.json",
    );
    const { stderr, status } = await cli(nns, folder);
    expect(stderr).toContain("10.10.10.5 is on Node/node01 eth1 and on Node/node02 eth1");
    expect(status).toBe(4);
  });

  it("says of a virtual IP that has gone to another node how to free it, and what to do with one", async () => {
    const folder = folderOf({
      "nodes.txt": nodes,
      "fleet.csv": "node01,eth7,10.0.0.9/32\n",
      "manifests/pool.yaml": poolText("  range: {cidr: 10.0.0.0/24}", "p"),
    });
    await cli(args(), folder);
    writeFileSync(join(folder, "fleet.csv"), "node02,eth7,10.0.0.9/32\n");
    const { stderr, status } = await cli(args(), folder);
    expect([status, stderr.replace(/: nodeippool release.*/, ": RELEASE")]).toEqual([
      4,
      "conflict: fleet.csv:1:13: 10.0.0.9 is recorded for Node/node01/imported/10.0.0.9, but Node/node02 has 10.0.0.9 on eth7\n  If it is a virtual IP, which goes from node to node, reserve it without an owner. If it has left the one that is recorded, free it: RELEASE\n",
    ]);
    await cli(["release", "10.0.0.9", "--confirm"], folder);
    const reserved = "  range: {cidr: 10.0.0.0/24}\n  reservations: [{address: 10.0.0.9}]";
    writeFileSync(join(folder, "manifests/pool.yaml"), poolText(reserved, "p"));
    expect((await cli(args(), folder)).stdout).toContain("Nothing to record.");
    expect(lockOf(folder)).toEqual([]);
  });

  it("records what is reserved for another owner or claim beside the claim", async () => {
    const meant = async (reservation: string) => {
      const folder = folderOf({
        "nodes.txt": "n1\n",
        "fleet.csv": "n1,eth1,10.0.0.9\n",
        "manifests/pool.yaml": poolText(`  range: {cidr: 10.0.0.0/24}\n  reservations: [${reservation}]`, "p"),
        "manifests/policy.yaml": nicPolicyText("net"),
      });
      const { stdout } = await cli(args(), folder);
      return stdout.split("\n").filter((line) => /^ {2}[+!]/.test(line));
    };
    const aside = "  + 10.0.0.9  n1  imported/10.0.0.9";
    expect(await meant("{address: 10.0.0.9, owner: VirtualMachine/db}")).toEqual([
      aside,
      "  ! n1  net/p  nothing found on eth1: allocate will give it a new address",
    ]);
    expect(await meant("{address: 10.0.0.9, owner: Node/n1, claim: other/a}")).toEqual([
      aside,
      "  ! n1  net/p  nothing found on eth1: allocate will give it a new address",
    ]);
    expect(await meant("{address: 10.0.0.8, owner: VirtualMachine/db}")).toEqual(["  + 10.0.0.9  n1  net/p"]);
  });

  it("tells a line of nobody that a reservation is for it", async () => {
    const { stderr } = await cli(args(), workspace("printer,eth0,10.10.10.9\n"));
    expect(stderr).toContain(
      "printer is not among the nodes\n  If it is no node, exclude or reserve it, and leave this line out.\n",
    );
  });

  it("shows with --dry-run what it would record, and writes nothing", async () => {
    const folder = workspace(fleet);
    const { stdout, status } = await cli(args("--dry-run"), folder);
    expect(stdout).toContain("  + 10.10.10.1  node02  static-ip/address-from-traffic-1\n");
    expect(stdout).toMatch(/Dry run: nothing recorded in nodeippool\.lock\.\n$/);
    expect([status, existsSync(join(folder, "nodeippool.lock"))]).toEqual([0, false]);
    await cli(args(), folder);
    const before = lockOf(folder);
    expect((await cli(args("--dry-run"), folder)).stdout).toMatch(/Nothing to record\.\n$/);
    expect(lockOf(folder)).toEqual(before);
  });

  it("says where a node has another prefix length than the pool", async () => {
    const folder = workspace(
      "node01,eth1,10.10.10.1/25\nnode02,eth1,10.10.10.2/24\nnode03,eth1,10.10.10.5\nnode03,eth7,10.10.10.3/32\n",
    );
    expect((await cli(args(), folder)).stdout.match(/^Note: 10.*$/gm)).toEqual([
      "Note: 10.10.10.1 has prefix length 25 on Node/node01 eth1, but pool traffic-1 has /24: render will write that one",
    ]);
  });

  it("frees an imported address by name", async () => {
    const folder = workspace("node01,eth7,10.10.10.9\n");
    await cli(["import", "fleet.csv", "manifests/pools.yaml", "--nodes", "nodes.txt"], folder);
    await cli(["release", "10.10.10.9", "--confirm"], folder);
    expect(lockOf(folder)).toEqual([]);
  });

  it("reads per-node policies of a folder, by the hostname of the node", async () => {
    const folder = workspace("");
    writeFileSync(
      join(folder, "labels.txt"),
      "node01 kubernetes.io/hostname=a.example.net\nnode02 kubernetes.io/hostname=b.example.net\n",
    );
    const policy = (host: string, ip: string) => `apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata: {name: eth1-${host}}
spec:
  nodeSelector: {kubernetes.io/hostname: ${host}.example.net}
  desiredState:
    interfaces:
    - name: eth1
      ipv4: {enabled: true, address: [{ip: ${ip}, prefix-length: 24}]}
`;
    const old = folderOf({
      "a.yaml": policy("a", "10.10.10.5"),
      "b.yml": policy("b", "10.10.10.3"),
      "c.yaml": "kind: ConfigMap\n",
    });
    const { stdout } = await cli(["import", old, "manifests", "--nodes", "labels.txt", "--json"], folder);
    const { assign, ignored } = JSON.parse(stdout);
    expect(assign.map((line: Record<string, string>) => `${line.address} ${line.claim}`)).toEqual([
      "10.10.10.3 Node/node02/static-ip/address-from-traffic-1",
      "10.10.10.5 Node/node01/static-ip/address-from-traffic-1",
    ]);
    expect(ignored).toBe(0);
  });

  it.each<[string, string, string, number]>([
    [
      "an address of two nodes",
      "node01,eth1,10.10.10.1\nnode02,eth1,10.10.10.1\n",
      "conflict: fleet.csv:2:13: 10.10.10.1 is on Node/node01 eth1 and on Node/node02 eth1\n  Take it off one of them first; if several are to have it, exclude or reserve it.\n",
      4,
    ],
    [
      "an excluded address on a claimed NIC",
      "node01,eth1,10.10.10.4\nnode02,eth1,10.10.10.1\n",
      "out-of-range: fleet.csv:1:13: Node/node01 has 10.10.10.4 on eth1, which pool traffic-1 may not hand out\n  Let the pool cover it (range, additionalRanges, exclude, gateway, DNS servers or reservations), or renumber the node first.\n",
      2,
    ],
    [
      "a broken line",
      "node01,eth1,10.10.10.1\nnode02,eth1\n",
      "invalid: fleet.csv:2:1: a line is node,interface,address, without commas or quotes inside; this one has 2 parts\n  Write three parts on a line, for example: node01,eth1,10.0.0.1\n",
      2,
    ],
  ])("writes nothing where it refuses %s", async (_, evidence, stderr, status) => {
    const folder = workspace(evidence);
    const ran = await cli(args(), folder);
    expect([ran.stdout, ran.stderr, ran.status]).toEqual(["", stderr, status]);
    expect(existsSync(join(folder, "nodeippool.lock"))).toBe(false);
  });

  it("says with its place what is wrong: nodes, evidence, all conflicts with the record", async () => {
    const first = workspace("");
    writeFileSync(join(first, "nodes.txt"), "node01\nnode01\n");
    const { stderr: input } = await cli(args(), first);
    expect(input).toContain("node node01 is listed twice");

    const state = "kind: NodeNetworkState\nmetadata: {name: node01}\nstatus: {currentState: {interfaces: 1}}\n";
    const dumps = folderOf({ "a.yaml": state, "b.yaml": state });
    const { stderr: evidence } = await cli(["import", dumps, "manifests", "--nodes", "nodes.txt"], workspace(""));
    expect(evidence.match(/[ab]\.yaml:\d+:\d+: the interfaces/g)).toHaveLength(1);

    const third = workspace("node01,eth1,10.10.10.4\nnode02,eth1,10.10.10.1\nnode03,eth1,10.10.10.1\n");
    const { stderr, status } = await cli(args(), third);
    expect([status, stderr.match(/fleet\.csv:\d+:\d+/g)]).toEqual([4, ["fleet.csv:3:13", "fleet.csv:1:13"]]);
  });

  it("refuses what neither claim set could be planned with after that: a policy or a NIC that another one has", async () => {
    const folder = workspace(fleet);
    expect(await cli(["allocate", "manifests", "--nodes", "nodes.txt", "--set", "other"], folder)).toMatchObject({
      status: 0,
    });
    const before = lockOf(folder);
    const { stderr, status } = await cli(args(), folder);
    expect(stderr).toContain("policy static-ip has addresses in claim set other, too");
    expect([status, lockOf(folder)]).toEqual([2, before]);
  });

  it("refuses to move a node after addresses were allocated without looking", async () => {
    const folder = workspace("node01,eth1,10.10.10.9\n");
    await cli(["allocate", "manifests", "--nodes", "nodes.txt"], folder);
    const before = lockOf(folder);
    const { stderr, status } = await cli(args(), folder);
    expect(stderr).toContain(
      "conflict: fleet.csv:1:13: Node/node01/static-ip/address-from-traffic-1 holds 10.10.10.1, but Node/node01 has 10.10.10.9 on eth1\n",
    );
    expect([status, lockOf(folder)]).toEqual([4, before]);
  });

  it.each<[string, string[], string]>([
    [
      "standard input twice",
      ["import", "-", "manifests", "--nodes", "-"],
      "invalid: the evidence and another input cannot both come from standard input\n",
    ],
    ["a folder that shows nothing", ["import", ".", "manifests", "--nodes", "nodes.txt"], ""],
    [
      "a file that shows nothing",
      ["import", "nodes.txt", "manifests", "--nodes", "nodes.txt"],
      "invalid: nodes.txt shows nobody's addresses\n  Give it kubectl get nns -o json, policies with literal addresses, or CSV: node,interface,address.\n",
    ],
    [
      "policies without addresses as evidence",
      ["import", "manifests", "manifests", "--nodes", "nodes.txt"],
      "invalid: manifests shows nobody's addresses\n  Evidence comes first, the manifests second: nodeippool import nns.json manifests.\n",
    ],
    ["its own set", args("--set", "imported"), "invalid: claim set imported belongs to import itself\n"],
  ])("refuses %s", async (title, line, stderr) => {
    const folder = workspace(fleet);
    const ran = await cli(title.startsWith("a folder") ? ["import", folderOf({}), ...line.slice(2)] : line, folder);
    expect([ran.status, ran.stdout]).toEqual([2, ""]);
    expect(ran.stderr).toMatch(
      stderr === ""
        ? /^invalid: no file in .* shows a node's addresses\n {2}A list \(CSV\) or a ConfigMap of addresses is given by its own name, .*\n$/
        : stderr,
    );
  });

  it("reads the evidence from standard input", () => {
    const folder = workspace("");
    const { stdout } = nodeippool(["import", "-", "manifests", "--nodes", "nodes.txt"], folder, fleet);
    expect(stdout).toContain("Plan: 3 to allocate, 0 kept, 0 to release.\n");
  });
});
