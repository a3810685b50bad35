import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../../support/console.ts";
import { cli, filesOf, lockText, manifests, projectOf, run } from "../../support/schema-cli.ts";
import { documentsOf, nicPolicyText, poolText } from "../../support/schema-text.ts";

describe("nodeippool plan", () => {
  it("shows every pool, every change and what to do next", async () => {
    const { stdout, stderr, status } = await run(
      projectOf({ "nodeippool.lock": lockText("10.0.0.1 Node/n1/a/p", "10.0.0.4 Node/gone/a/p") }),
      "plan",
    );
    expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
    expect(stdout).toBe(`Pool p  10.0.0.0/29 .1-.6   6 usable  2 held  1 new  3 free
  + 10.0.0.2  n2  a/p
  - 10.0.0.4  gone  a/p  releasing
  = 1 kept
Plan: 1 to allocate, 1 kept, 1 to release.
Note: if gone was renamed to n2, say so before this is recorded: nodeippool mv Node/gone Node/n2
Run nodeippool allocate manifests --nodes nodes.txt to record it.
`);
  });

  it.each([["--context"], ["--namespace"]])("refuses %s without the backend that it is of", async (option) => {
    const { stdout, stderr, status } = await cli(["plan", "manifests", option, "prod"], projectOf());
    const says = `invalid: ${option} says where in a cluster the record is\n  Add --backend kubernetes.\n`;
    expect([stdout, stderr, status]).toEqual(["", says, 2]);
  });

  it("says what to do next for the same record and set", async () => {
    const { stdout } = await run(projectOf(), "plan", "--lock", "my lock.lock", "--set=app");
    expect(stdout).toMatch(
      /\nRun nodeippool allocate manifests --nodes nodes\.txt --lock 'my lock\.lock' --set=app to begin my lock\.lock with it\.\n$/,
    );
  });

  it.each([
    [["plan", "--nodes", "nodes.txt", "--", "manifests"], "--nodes nodes.txt manifests"],
    [["plan", "manifests", "--nodes", "nodes.txt", "--allow-move"], "manifests --nodes nodes.txt --allow-move"],
  ])("says it so that it can be pasted: %j", async (words, expected) => {
    const { stdout } = await cli(words, projectOf());
    const [command] = /(?<=^Run nodeippool allocate ).*(?= to (?:record it|begin .* with it)\.$)/m.exec(stdout) ?? [];
    expect(command).toBe(expected);
  });

  it("says so where there is nothing to record", async () => {
    const lock = lockText("10.0.0.1 Node/n1/a/p", "10.0.0.2 Node/n2/a/p");
    const { stdout } = await run(projectOf({ "nodeippool.lock": lock }), "plan");
    expect(stdout).toMatch(/= 2 kept\nPlan: 0 to allocate, 2 kept, 0 to release\.\nNothing to record\.\n$/);
  });

  it("reads the proposal's example as the proposal says", async () => {
    const example = join(root, "examples/static-ip");
    const { stdout } = await cli(
      ["plan", join(example, "manifests"), "--nodes", join(example, "nodes.txt")],
      projectOf(),
    );
    expect(stdout).toContain("Pool traffic-1  10.10.10.0/24 .1-.10 less 2   8 usable  0 held  3 new  5 free\n");
    expect(stdout).toContain("  + 10.10.11.3  node03  static-ip/address-from-traffic-2\n");
  });

  it("prints JSON and nothing else with --json", async () => {
    const folder = projectOf({
      "nodeippool.lock": lockText("10.0.0.1 Node/n1/a/p", "10.0.0.4 Node/gone/a/p", "10.0.0.5 Node/n2/a/p if=eth9"),
    });
    const { stdout, stderr, status } = await run(folder, "plan", "--json");
    expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
    const line = (address: string, claim: string, nic = "eth1") => ({
      address,
      pool: "p",
      claim,
      set: "default",
      interface: nic,
    });
    expect(JSON.parse(stdout)).toEqual({
      set: "default",
      assign: [],
      keep: [
        line("10.0.0.1", "Node/n1/a/p"),
        { ...line("10.0.0.5", "Node/n2/a/p"), was: line("10.0.0.5", "Node/n2/a/p", "eth9") },
      ],
      release: [{ ...line("10.0.0.4", "Node/gone/a/p"), to: "releasing" }],
      pending: [],
      notes: [expect.stringMatching(/^Note: eth9 of n2 keeps the IPv4 address as well/)],
    });
  });

  it.each([
    ["ours", "NodeIPPool", "kubectl kustomize manifests | nodeippool plan - --nodes nodes.txt --set a --lock x.lock ("],
    ["others", "Deployment", undefined],
  ])("says that patches inside a kustomization are passed over: of %s", async (_, kind, said) => {
    const patch = "patch: '[{op: add, path: /spec/range/exclude, value: [10.0.0.0/30]}]'";
    const text = `resources: [a.yaml]\npatches:\n- target: {kind: ${kind}}\n  ${patch}\n`;
    const options = ["--set", "a", "--lock", "x.lock"];
    const { stdout, status } = await run(projectOf({ "manifests/kustomization.yaml": text }), "plan", ...options);
    expect(status).toBe(0);
    if (said === undefined) expect(stdout).not.toContain("Note");
    else expect(stdout).toMatch(/Note: manifests\/kustomization\.yaml says that kustomize builds this, with patches /);
    if (said !== undefined) expect(stdout).toContain(said);
  });

  describe("says of an address that goes to another NIC that the old one keeps it", () => {
    const moved = { "nodeippool.lock": lockText("10.0.0.1 Node/n1/a/p if=eth9", "10.0.0.2 Node/n2/a/p if=eth9") };
    const note =
      'Note: eth9 of n1 and 1 other keeps the IPv4 address as well, until it is taken off (unless it is the same NIC by another name): say "ipv4: {enabled: false}" of eth9 in the policy\n';

    it("of IPv6 it takes off no more than that", async () => {
      const six = documentsOf(poolText("  range: {cidr: 2001:db8::/64}", "six"), nicPolicyText("a", ["six"]));
      const folder = projectOf({ "manifests/a.yaml": six.replace("eth1", "eth9") });
      await run(folder, "allocate");
      writeFileSync(join(folder, "manifests/a.yaml"), six);
      expect((await run(folder, "plan")).stdout).toContain(
        ': say "ipv6: {enabled: true, dhcp: false, autoconf: false, address: []}" of eth9 in the policy\n',
      );
    });

    it("on all nodes", async () => {
      expect((await run(projectOf(moved), "plan")).stdout).toContain(note);
    });

    it.each([
      "{name: eth9, ipv4: {enabled: false}}",
      "{name: eth9, state: absent}",
      "{name: eth9, ipv4: {dhcp: true}}",
    ])("but where a policy says what it has instead: %s", async (entry) => {
      const more = manifests.replace("    - name: eth1", `    - ${entry}\n    - name: eth1`);
      expect(more).not.toBe(manifests);
      expect((await run(projectOf({ ...moved, "manifests/a.yaml": more }), "plan")).stdout).not.toContain("Note");
    });
  });

  it.each([
    ["outside of its range", "{cidr: 10.0.0.0/29, start: 10.0.0.4}", ""],
    [
      "reserved for somebody else",
      "{cidr: 10.0.0.0/29}",
      "  reservations: [{address: 10.0.0.1, owner: VirtualMachine/a:b}]\n",
    ],
  ])("says of a pool that another claim set has addresses of: %s", async (_, range, more) => {
    const pool = poolText(`  range: ${range}\n${more}`);
    const folder = projectOf({
      "manifests/a.yaml": documentsOf(pool, nicPolicyText("a")),
      "nodeippool.lock": lockText("10.0.0.1 Node/n1/z/p set=other if=eth2"),
    });
    expect((await run(folder, "plan")).stdout).toContain(
      "Note: pool p as it is defined here does not give 10.0.0.1, which claim set other has of it; all that share a pool define it alike\n",
    );
  });

  it("has in JSON what it would ask", async () => {
    const folder = projectOf({ "nodeippool.lock": lockText("10.0.0.1 Node/n1/a/p", "10.0.0.4 Node/gone/a/p") });
    const { notes } = JSON.parse((await run(folder, "plan", "--json")).stdout);
    expect(notes).toEqual([expect.stringMatching(/^Note: if gone was renamed to n2, say so before /)]);
  });

  it("prints JSON of a plan that cannot be, and its reason on standard error", async () => {
    const folder = projectOf({ "nodes.txt": "n1\nn2\nn3\nn4\nn5\nn6\nn7\n" });
    const { stdout, stderr, status } = await run(folder, "plan", "--json");
    expect(status).toBe(3);
    expect(JSON.parse(stdout).pending).toHaveLength(1);
    expect(stderr).toBe(
      "exhausted: pool p is exhausted: 7 needed, 6 free\n  Take addresses from another pool too: this one has its whole prefix.\n",
    );
  });

  it.each([
    ["with a lock", { "nodeippool.lock": lockText("10.0.0.4 Node/gone/a/p") }, []],
    ["without a lock", {}, []],
    ["as JSON", {}, ["--json"]],
    ["of another set", {}, ["--set", "other"]],
    ["that moves", { "nodeippool.lock": lockText("10.0.0.4 Node/n1/old/p") }, ["--allow-move"]],
  ])("writes nothing: %s", async (_, files, options) => {
    const folder = projectOf(files);
    const before = filesOf(folder);
    expect((await run(folder, "plan", ...options)).status).toBe(0);
    expect(filesOf(folder)).toEqual(before);
  });

  it("takes lines of other sets for occupied, and leaves them alone", async () => {
    const folder = projectOf({ "nodeippool.lock": lockText("10.0.0.1 Node/n9/x/p set=other") });
    const { stdout } = await run(folder, "plan");
    expect(stdout).toContain("  + 10.0.0.2  n1  a/p\n  + 10.0.0.3  n2  a/p\n");
    expect(stdout).toContain("0 to release");
  });

  it("gives two policies addresses of one pool", async () => {
    const { stdout } = await run(projectOf({ "manifests/b.yaml": nicPolicyText("b", ["p"], "eth2") }), "plan");
    expect(stdout.match(/\+ \S+ {2}\S+ {2}\S+/g)).toEqual([
      "+ 10.0.0.1  n1  a/p",
      "+ 10.0.0.2  n1  b/p",
      "+ 10.0.0.3  n2  a/p",
      "+ 10.0.0.4  n2  b/p",
    ]);
  });
});

describe("nodeippool plan finds manifests and nodes", () => {
  const claims = async (folder: string, args: readonly string[]) => {
    const { stdout, stderr } = await cli(["plan", ...args], folder);
    return stdout.match(/(?<=^ {2}\+ \S+ {2})\S+/gm) ?? stderr;
  };
  const node = (name: string) =>
    `apiVersion: v1\nkind: Node\nmetadata: {name: ${name}, labels: {kubernetes.io/hostname: ${name}}}\n`;

  it.each([
    ["a folder", {}, ["manifests", "--nodes", "nodes.txt"], ["n1", "n2"]],
    ["a file", {}, ["manifests/a.yaml", "--nodes", "nodes.txt"], ["n1", "n2"]],
    ["nothing: this folder", {}, ["--nodes", "nodes.txt"], ["n1", "n2"]],
    [
      "the nodes file among the manifests",
      { "manifests/nodes.yaml": "- x\n- z\n" },
      ["manifests", "--nodes", "manifests/nodes.yaml"],
      ["x", "z"],
    ],
    [
      "its own words for the nodes file",
      { "manifests/nodes.yaml": node("x") },
      ["./manifests/", "--nodes", "manifests/../manifests/nodes.yaml"],
      ["x"],
    ],
    [
      "--nodes before Node documents",
      { "manifests/nodes.yaml": node("x") },
      ["manifests", "--nodes", "nodes.txt"],
      ["n1", "n2"],
    ],
    [
      "hidden files, node_modules and other endings left out",
      {
        "manifests/.b.yaml": "{",
        "manifests/.git/c.yaml": "{",
        "manifests/node_modules/d.yaml": node("x"),
        "manifests/e.txt": node("x"),
      },
      ["manifests", "--nodes", "nodes.txt"],
      ["n1", "n2"],
    ],
  ] as [string, Record<string, string>, string[], string[]][])("%s", async (_, files, args, names) => {
    expect(await claims(projectOf(files), args)).toEqual(names);
  });

  it("folders in folders, .yml and .json", async () => {
    const folder = projectOf({
      "manifests/a.yaml": "kind: Other\n",
      "manifests/deep/er/p.yml": poolText("  range: {cidr: 10.0.0.0/29}"),
      "manifests/deep/a.json": JSON.stringify({
        apiVersion: "nmstate.io/v1",
        kind: "NodeNetworkConfigurationPolicy",
        metadata: { name: "a" },
        spec: { capture: { x: "ippool.p.allocate" } },
      }),
    });
    expect(await claims(folder, ["manifests", "--nodes", "nodes.txt"])).toEqual(["n1", "n2"]);
  });

  it("says what is reserved for nodes that are not there, and for others than have it", async () => {
    const reserved = (...owners: string[]) => {
      const list = owners.map((owner, i) => `{address: 10.0.0.${i + 1}, ${owner && `owner: ${owner}`}}`);
      return documentsOf(
        poolText(`  range: {cidr: 10.0.0.0/28}\n  reservations: [${list.join(", ")}]`),
        nicPolicyText("a"),
      );
    };
    const folder = projectOf({
      "manifests/a.yaml": reserved(
        "Printer/lobby",
        "Node/n9",
        "Node/h4",
        "Switch/s",
        "Node/n1, claim: b/p",
        "Switch/t",
        "",
        "",
      ),
      "nodes.txt": "n1\nn2\nn4 kubernetes.io/hostname=h4\n",
      "nodeippool.lock": lockText(
        "10.0.0.1 Node/n1/a/p",
        "10.0.0.2 Node/n2/a/p",
        "10.0.0.4 Node/n7/a/p",
        "10.0.0.9 Node/n4/a/p",
        "10.0.0.3 Node/h4/a/p releasing",
        "10.0.0.5 Node/n5/a/p releasing",
        "10.0.0.7 Node/n7/c/p set=c releasing",
      ).replace("/29", "/28"),
    });
    const notes = [
      "Note: 10.0.0.1 of pool p is reserved for Printer/lobby, but n1 has it, and keeps it until it leaves\n",
      "Note: 10.0.0.2 of pool p is reserved for Node/n9, but n2 has it, and keeps it until it leaves\n",
      "Note: 10.0.0.3 of pool p is reserved for Node/h4, which is not among the nodes; did you mean Node/n4?\n",
      "Note: 10.0.0.4 of pool p is reserved for Switch/s, but n7 had it, and may have it yet: it is releasing\n",
      "Note: 10.0.0.5 of pool p is reserved for Node/n1, but n5 had it, and may have it yet: it is releasing\n",
      "Note: 10.0.0.7 of pool p is reserved, but n7 had it, and may have it yet: it is releasing\n",
    ];
    for (const verb of ["plan", "allocate"]) {
      const { stdout } = await run(folder, verb);
      expect(stdout.match(/^Note: .*\n/gm)).toEqual(notes);
    }
    for (const owner of ["Node/n2", "Node/n2, claim: a/p"]) {
      writeFileSync(join(folder, "manifests/a.yaml"), reserved(owner));
      const refused = await run(folder, "plan");
      expect(refused).toMatchObject({ status: 3, stdout: expect.not.stringContaining("Note: ") });
    }
  });

  it("says which new addresses something else in the folder names, and of those that are held nothing", async () => {
    const folder = projectOf({
      "manifests/lb.yaml":
        "kind: Service\nspec: {loadBalancerIP: 10.0.0.1} # not 10.0.0.2\n---\nkind: Other\na: 10.0.0.1\n",
      "manifests/route.yaml": `${nicPolicyText("r", ["p"], "eth7")}    routes: {config: [{destination: 0.0.0.0/0, next-hop-address: 10.0.0.4}]}\n`,
      "manifests/broken.yaml": "kind: NodeNetworkState\nstatus: 5\n",
    });
    const notes = [
      expect.stringMatching(
        /^Note: 10\.0\.0\.1 goes to n1, and manifests\/lb\.yaml:2:24 names it; whoever has it already, exclude or reserve it in the pool$/,
      ),
      expect.stringMatching(/^Note: 10\.0\.0\.4 goes to n2, and manifests\/route\.yaml:18:66 names it; /),
    ];
    const noted = async (verb: string) =>
      (await run(folder, verb)).stdout.split("\n").filter((line) => line.includes(" names it"));
    for (const verb of ["plan", "allocate"]) expect(await noted(verb)).toEqual(notes);
    expect(await noted("plan")).toEqual([]);
    writeFileSync(join(folder, "nodeippool.lock"), lockText());
    const kept = "  range: {cidr: 10.0.0.0/29}\n  reservations: [{address: 10.0.0.1, owner: Node/n1}]";
    writeFileSync(join(folder, "manifests/a.yaml"), documentsOf(poolText(kept), nicPolicyText("a")));
    rmSync(join(folder, "manifests/route.yaml"));
    expect(await noted("plan")).toEqual([]);
    expect((await run(folder, "plan")).stdout).toContain("+ 10.0.0.1  n1");
  });

  it("says which policies are for no node at all", async () => {
    const folder = projectOf({
      "manifests/b.yaml": nicPolicyText("b", ["p"], "eth2", "  nodeSelector: {role: storage}\n"),
      "nodes.txt": "n1 kubernetes.io/hostname=n1,role=worker\n",
    });
    for (const verb of ["plan", "allocate"])
      expect((await run(folder, verb)).stdout).toContain("Note: policy b selects none of the nodes\n");
  });

  it.each([
    ["n1\nw2\n", "n2 was renamed to w2", "nodeippool mv Node/n2 Node/w2"],
    ["w1\nw2\n", "n1, n2 were renamed to w1, w2", "nodeippool mv Node/OLD Node/NEW for each"],
    ["n1\nw2\nw3\n", "n2 was renamed to w2 or w3", "nodeippool mv Node/n2 Node/NEW"],
    ["w1\n", "n1, n2 or some of them were renamed to w1", "nodeippool mv Node/OLD Node/w1 for each"],
    ["n1\n"],
    ["n1\nn2\nw3\n"],
  ])(
    "asks whether nodes were renamed, where others come to what they had: now %j",
    async (nodes, which?: string, command?: string) => {
      const lock = lockText("10.0.0.1 Node/n1/a/p", "10.0.0.2 Node/n2/a/p");
      const folder = projectOf({ "nodeippool.lock": lock, "nodes.txt": nodes });
      const note = (before: string) => (which === undefined ? [] : [`Note: if ${which}, ${before}: ${command}`]);
      const notes = async (verb: string) => (await run(folder, verb)).stdout.match(/^Note: .*$/gm) ?? [];
      expect(await notes("plan")).toEqual(note("say so before this is recorded"));
      expect(await notes("allocate")).toEqual(
        note(
          "allocate once more with manifests and nodes as they were before, --allow-move where that is refused, and say so then",
        ),
      );
      expect(await notes("plan")).toEqual([]);
    },
  );

  it("names three of many, and asks of each claim set by itself: another set may have the new name", async () => {
    const renamed = async (nodes: string, ...lines: string[]) => {
      const wide = (text: string) => text.replaceAll("10.0.0.0/29", "10.0.0.0/26");
      const lock = wide(lockText(...lines));
      const folder = projectOf({ "nodeippool.lock": lock, "manifests/a.yaml": wide(manifests), "nodes.txt": nodes });
      return /^Note: if (.*), say so/m.exec((await run(folder, "plan")).stdout)?.[1];
    };
    const five = [1, 2, 3, 4, 5].map((n) => `10.0.0.${n} Node/n${n}/a/p`);
    expect(await renamed("w1\nw2\nw3\nw4\nn5\n", ...five)).toBe(
      "n1, n2, n3 and 1 more were renamed to w1, w2, w3 and 1 more",
    );
    const two = five.slice(0, 2);
    const other = ["10.0.0.7 Node/w1/b/p set=other if=eth2", "10.0.0.8 Node/n1/b/p set=other if=eth2"];
    expect(await renamed("w1\nn2\n", ...two, ...other.slice(0, 1))).toBe("n1 was renamed to w1");
    expect(await renamed("w1\nn2\n", ...two, ...other)).toBeUndefined();
  });

  it("says which captures a policy does not use", async () => {
    const text = nicPolicyText("b", ["p"], "eth2");
    const cut = text.slice(0, text.indexOf("    interfaces"));
    const folder = projectOf({ "manifests/b.yaml": cut });
    const note = /^Note: policy b takes an address for capture (\w+), which its desiredState never uses$/gm;
    for (const verb of ["plan", "allocate"]) expect((await run(folder, verb)).stdout.match(note)).toHaveLength(1);
    for (const [written, slip] of [
      ["address:", "adress:"],
      [".ip ", ".prefix-length "],
      ["- ip:", "- ipp:"],
    ] as const) {
      writeFileSync(join(folder, "manifests/b.yaml"), text.replace(written, slip));
      expect((await run(folder, "plan")).stdout).toMatch(
        /^Note: policy b takes .* (\w+), which its desiredState sets on no interface \(ipv4\.address, ipv6\.address\)$/m,
      );
    }
    writeFileSync(join(folder, "manifests/b.yaml"), text);
    expect((await run(folder, "plan")).stdout).not.toContain("Note");
  });

  it("says which policies take nothing here any more: they may be another folder's", async () => {
    const folder = projectOf({ "manifests/b.yaml": nicPolicyText("b", ["p"], "eth2") });
    await run(folder, "allocate");
    rmSync(join(folder, "manifests/b.yaml"));
    const note =
      /^ *Note: policy b of claim set default takes no address here, and all it has goes \(2 addresses\); if it is of another folder, .* \(--set\); if it went there: nodeippool mv b --to-set NAME$/m;
    expect(await run(folder, "render")).toMatchObject({ status: 5, stderr: expect.stringMatching(note) });
    for (const verb of ["plan", "allocate"]) expect((await run(folder, verb)).stdout).toMatch(note);
    expect((await run(folder, "plan")).stdout).not.toContain("Note");
  });

  it("says nothing of that where a policy is renamed for some of its nodes", async () => {
    const folder = projectOf({ "manifests/b.yaml": nicPolicyText("b", ["p"], "eth2") });
    await run(folder, "allocate");
    writeFileSync(
      join(folder, "manifests/b.yaml"),
      nicPolicyText("c", ["p"], "eth2", "  nodeSelector: {kubernetes.io/hostname: n1}\n"),
    );
    const { stdout } = await run(folder, "plan");
    expect(stdout).toContain("10.0.0.4  n2  b/p  releasing");
    expect(stdout).not.toContain("takes no address here");
  });

  it("lets a policy go to another folder once that is said, before or after it was released there", async () => {
    const folder = projectOf({ "manifests/b.yaml": nicPolicyText("b", ["p"], "eth2") });
    await run(folder, "allocate");
    const lock = join(folder, "nodeippool.lock");
    const begun = readFileSync(lock, "utf8");
    mkdirSync(join(folder, "edge"));
    renameSync(join(folder, "manifests/b.yaml"), join(folder, "edge/b.yaml"));
    writeFileSync(join(folder, "edge/pool.yaml"), poolText("  range: {cidr: 10.0.0.0/29}"));
    const edge = () => cli(["allocate", "edge", "--set", "edge", "--nodes", "nodes.txt"], folder);
    const addresses = (text: string) => text.match(/10\.0\.0\.\d+","pool":"p","claim":"[^"]*/g);
    expect(await edge()).toMatchObject({
      status: 2,
      stderr: expect.stringContaining(
        "invalid: policy b has addresses in claim set default, too: 10.0.0.2 of n1 and 1 more\n  Call one of them otherwise; nodes of another cluster need a lock of their own. If it is the same one, plan it as that set, or say that it came over: --set default, or nodeippool mv b --to-set edge\n",
      ),
    });
    await run(folder, "allocate");
    expect(await edge()).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(
        /^invalid: policy b has addresses in claim set default, too: 10\.0\.0\.2 of n1 \(releasing\) and 1 more\n.*: --set default, or nodeippool mv b --to-set edge\n$/,
      ),
    });
    for (const text of [readFileSync(lock, "utf8"), begun]) {
      writeFileSync(lock, text);
      expect((await cli(["mv", "b", "--to-set", "edge"], folder)).stdout).toMatch(
        /\nMoved 2 claims in .*; no address moved\.\n$/,
      );
      expect((await edge()).status).toBe(0);
      expect(await run(folder, "plan")).toMatchObject({ stdout: expect.stringContaining("Nothing to record") });
      expect(addresses(readFileSync(lock, "utf8"))).toEqual(addresses(begun));
    }
  });

  it("with a byte order mark, as some editors write it", async () => {
    const folder = projectOf({ "manifests/a.yaml": `\ufeff${manifests}`, "nodes.txt": "\ufeffn1\n" });
    expect(await claims(folder, ["manifests", "--nodes", "nodes.txt"])).toEqual(["n1"]);
  });

  it("a loop of links ends", async () => {
    const folder = projectOf();
    symlinkSync("..", join(folder, "manifests/loop"));
    expect(await claims(folder, ["manifests", "--nodes", "nodes.txt"])).toEqual(["n1", "n2"]);
  });

  it("a link to a manifest is read or refused, but not left out without a word", async () => {
    const folder = projectOf({ "manifests/a.yaml": "kind: Other\n", "elsewhere.yaml": manifests });
    symlinkSync("../elsewhere.yaml", join(folder, "manifests/link.yaml"));
    expect(await claims(folder, ["manifests", "--nodes", "nodes.txt"])).not.toEqual("");
  });
});
