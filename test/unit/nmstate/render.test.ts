import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { objectsIn, policiesOf, rendered } from "../../support/schema/render.ts";
import { documentsOf, nicPolicyText, policyText, poolText } from "../../support/schema/text.ts";

const pool = poolText();
const none4 = { enabled: false };
const workers = (policy: string) => policy.replace("spec:\n", "spec:\n  nodeSelector: {role: worker}\n");
const [n1, n2] = ["n1 kubernetes.io/hostname=n1,role=worker", "n2 kubernetes.io/hostname=n2,role=none"];

describe("render", () => {
  it("puts each document's results in its place, in its file", async () => {
    const made = await rendered({
      manifests: {
        "net/a.yaml": documentsOf(nicPolicyText("a"), "kind: One\n", nicPolicyText("b", ["p"], "eth2")),
        "net/b.yaml": "kind: Two\n",
        "pools.yaml": pool,
      },
      nodes: "n1\nn2",
    });
    const names = Object.entries(made).map(([path, text]) => [
      path,
      ...objectsIn({ path: text }).map(({ kind, metadata }) => metadata?.name ?? kind),
    ]);
    expect(names).toEqual([
      ["net/a.yaml", "a--n1", "a--n2", "One", "b--n1", "b--n2"],
      ["net/b.yaml", "Two"],
      ["pools.yaml", "p"],
    ]);
  });

  it.each([
    ["beside a NIC: in a policy of their own", "10.0.0.53", "", ["a--n1", "a.dns--n1"]],
    ["of the pool's gateway, too", "{{ capture.p.gateway }}", "", ["a--n1", "a.dns--n1"]],
    ["that are link-local: they need their NIC", "fe80::1%eth1", "", ["a--n1"]],
    [
      "before those of DHCP: they need its NIC",
      "10.0.0.53",
      "{name: eth9, ipv4: {enabled: true, dhcp: true, auto-dns: true}}",
      ["a--n1"],
    ],
  ])("sets DNS servers %s", async (_, server, nic, names) => {
    const policy = nicPolicyText("a").trimEnd();
    const more = nic === "" ? "" : `\n    - ${nic}`;
    const text = `${policy}${more}\n    dns-resolver: {config: {server: ["${server}"]}}\n`;
    const pools = poolText("  range: {cidr: 10.0.0.0/24}\n  gateway: 10.0.0.53");
    const made = [...(await policiesOf({ manifests: documentsOf(pools, text), nodes: "n1" })).values()];
    expect(made.map(({ metadata }) => metadata?.name)).toEqual(names);
    const resolver = { config: { server: [server.replace("{{ capture.p.gateway }}", "10.0.0.53")] } };
    expect(made.map(({ spec }) => spec.desiredState["dns-resolver"])).toEqual(
      names.length === 1 ? [resolver] : [undefined, resolver],
    );
    expect(made.at(-1)?.spec.nodeSelector).toEqual({ "kubernetes.io/hostname": "n1" });
  });

  it("leaves a policy that selects no node out, and its file with it", async () => {
    const manifests = { "a.yaml": workers(nicPolicyText("a")), "p.yaml": pool };
    expect(Object.keys(await rendered({ manifests, nodes: n2 as string }))).toEqual(["p.yaml"]);
  });

  it("says Plan for the pool, drops its status, and keeps its comments", async () => {
    const text = `# head\n${pool.replace("spec:", "spec: # the spec")}status: {allocated-offsets: [1]}\n# foot\n`;
    const { "f.yaml": made = "" } = await rendered({ manifests: text, nodes: "n1" });
    expect(parse(made)).toEqual({ ...parse(pool), spec: { ...parse(pool).spec, authority: "Plan" } });
    for (const comment of ["# head", "# the spec"]) expect(made).toContain(comment);
  });

  it.each([
    '  range: {cidr: 10.0.0.0/24, exclude: [10.0.0.4, "10.0.0.7"]}',
    '  range: { cidr: 10.0.0.0/24, exclude: [ 10.0.0.4, "10.0.0.7" ] }',
    "  range:\n    cidr: '10.0.0.0/24'\n    exclude: []\n  reservations: [{address: 10.0.0.9}]",
  ])("writes the rest of the pool as it was: %j", async (spec) => {
    const text = poolText(spec).replace("{name: p}", "\n  name: p").replace("metadata: ", "metadata:");
    for (const manifests of [text, `kind: List\nitems:\n- ${text.trimEnd().replaceAll("\n", "\n  ")}\n`]) {
      const { "f.yaml": made } = await rendered({ manifests, nodes: "n1" });
      expect(made).toBe(`${text}  authority: Plan\n`);
    }
  });

  it("keeps an authority Plan that is there, once", async () => {
    const { "f.yaml": made } = await rendered({
      manifests: poolText("  authority: Plan\n  range: {cidr: 10.0.0.0/24}"),
      nodes: "n1",
    });
    expect(made?.match(/authority/g)).toHaveLength(1);
  });

  it("does so for a pool in a List and in JSON too", async () => {
    const json = JSON.stringify(parse(pool));
    for (const manifests of [json, `{"kind": "List", "items": [${json}]}`])
      expect(objectsIn(await rendered({ manifests, nodes: "n1" }))[0]?.spec.authority).toBe("Plan");
  });

  it("keeps a .json file JSON, or gives it another name", async () => {
    const manifests = { "a.json": JSON.stringify(parse(nicPolicyText("a"))), "p.json": JSON.stringify(parse(pool)) };
    for (const [path, text] of Object.entries(await rendered({ manifests, nodes: "n1" })))
      if (path.endsWith(".json")) expect(() => JSON.parse(text), path).not.toThrow();
  });

  it("takes nothing from another set", async () => {
    const world = {
      manifests: documentsOf(pool, nicPolicyText("a")),
      nodes: "n1",
      record: ["10.0.0.1 Node/n9/a/p set=other", "10.0.0.7 Node/n1/a/p set=mine"],
    };
    const made = await policiesOf({ ...world, set: "mine" });
    expect(made.get("a--n1").spec.desiredState.interfaces[0].ipv4.address[0].ip).toBe("10.0.0.7");
  });

  it("is the same whatever order the nodes come in", async () => {
    const manifests = documentsOf(pool, nicPolicyText("a"));
    const record = ["10.0.0.1 Node/n1/a/p if=eth1", "10.0.0.2 Node/n2/a/p if=eth1"];
    expect(await rendered({ manifests, nodes: "n2\nn1", record })).toEqual(
      await rendered({ manifests, nodes: "n1\nn2", record }),
    );
  });
});

describe("render removes releasing addresses", () => {
  const a = nicPolicyText("a");

  it("from a NIC that its policy lets go, in the node's own policy", async () => {
    const made = await policiesOf({
      manifests: documentsOf(pool, a),
      nodes: "n1",
      record: ["10.0.0.7 Node/n1/a/old if=eth2 releasing"],
    });
    expect(made.get("a--n1").spec.desiredState.interfaces[1]).toEqual({ name: "eth2", ipv4: none4 });
  });

  it("of a node the policy selects no more, by a clean-up policy without its routes", async () => {
    const routes =
      "    routes: {config: [{destination: 0.0.0.0/0, next-hop-address: 10.0.0.254, next-hop-interface: eth1}]}\n";
    const made = await policiesOf({
      manifests: documentsOf(pool, workers(a) + routes),
      nodes: n2 as string,
      record: ["10.0.0.7 Node/n2/a/p if=eth1 releasing"],
    });
    expect([...made.keys()]).toEqual(["a--n2"]);
    expect(made.get("a--n2").spec).toEqual({
      nodeSelector: { "kubernetes.io/hostname": "n2" },
      desiredState: {
        interfaces: [{ name: "eth1", ipv4: none4 }],
        routes: { config: [{ destination: "0.0.0.0/0", "next-hop-interface": "eth1", state: "absent" }] },
      },
    });
  });

  it("of policies that are gone, in a file of its own, by name", async () => {
    const record = [
      "10.0.0.7 Node/n2/z/p if=eth4 releasing",
      "10.0.0.8 Node/n1/z/p if=eth1 releasing",
      "10.0.0.9 Node/n1/b/p if=eth3 releasing",
    ];
    const made = await rendered({ manifests: documentsOf(pool, a), nodes: "n1\nn2", record });
    const left = objectsIn({ file: made["nodeippool-releasing.yaml"] ?? "" });
    expect(left.map(({ metadata }) => metadata.name)).toEqual(["b--n1", "z--n2"]);
    expect(left[0].spec.desiredState).toEqual({ interfaces: [{ name: "eth3", ipv4: none4 }] });
  });

  it("not where a live address of that family has the NIC: its list replaces the old one", async () => {
    const made = await rendered({
      manifests: documentsOf(pool, a),
      nodes: "n1",
      record: ["10.0.0.7 Node/n1/z/p if=eth1 releasing"],
    });
    expect(made).not.toHaveProperty(["nodeippool-releasing.yaml"]);
  });

  it("nor where one of another set has it: an empty list would wipe that", async () => {
    const record = ["10.0.0.6 Node/n1/hand/made if=eth2 set=imported", "10.0.0.7 Node/n1/z/p if=eth2 releasing"];
    const made = await rendered({ manifests: documentsOf(pool, a), nodes: "n1", record });
    expect(made).not.toHaveProperty(["nodeippool-releasing.yaml"]);
  });

  it("but where it has another family, or the NIC of another node", async () => {
    const six = poolText("  range: {cidr: 2001:db8::/64}", "six");
    const record = ["2001:db8::7 Node/n1/z/six if=eth1 pool=six releasing", "10.0.0.7 Node/n2/z/p if=eth1 releasing"];
    const made = await rendered({ manifests: documentsOf(pool, six, workers(a)), nodes: `${n1}\n${n2}`, record });
    const left = objectsIn({ file: made["nodeippool-releasing.yaml"] ?? "" });
    expect(left.map(({ metadata }) => metadata.name)).toEqual(["z--n1", "z--n2"]);
  });

  it("with the routes of the rack that a node has left, in its policy of the new rack", async () => {
    const rack = (name: string, subnet: number, hop: string) =>
      documentsOf(
        poolText(`  range: {cidr: 10.${subnet}.0.0/24}\n  gateway: 10.${subnet}.0.254`, name),
        `${nicPolicyText(name, [name], "eth1", `  nodeSelector: {rack: ${name}}\n`)}    routes: {config: [{destination: 0.0.0.0/0, next-hop-address: ${hop}, next-hop-interface: eth1}]}\n`,
      );
    const made = await policiesOf({
      manifests: documentsOf(rack("a", 1, "10.1.0.1"), rack("b", 2, "10.2.0.1")),
      nodes: "n1 kubernetes.io/hostname=n1,rack=b",
      record: ["10.1.0.7 Node/n1/a/a if=eth1 pool=a releasing"],
    });
    expect([...made.keys()]).toEqual(["b--n1"]);
    const over = { "next-hop-interface": "eth1" };
    expect(made.get("b--n1").spec.desiredState.routes.config).toEqual([
      { destination: "0.0.0.0/0", ...over, "table-id": 254, state: "absent" },
      { ...over, "next-hop-address": "10.1.0.254", state: "absent" },
      { ...over, "next-hop-address": "10.1.0.1", state: "absent" },
      { destination: "0.0.0.0/0", ...over, "next-hop-address": "10.2.0.1", "table-id": 254 },
    ]);
  });

  it("never of a node that is not there, nor of another set", async () => {
    const record = ["10.0.0.7 Node/gone/z/p if=eth1 releasing", "10.0.0.8 Node/n1/z/p if=eth2 set=other releasing"];
    const made = await rendered({ manifests: documentsOf(pool, a), nodes: "n1", record });
    expect(Object.keys(made)).toEqual(["f.yaml"]);
  });
});

describe("a pool with a clusterRange", () => {
  const shared = poolText("  range: {cidr: 10.0.0.0/24}\n  clusterRange: {start: 10.0.0.1, end: 10.0.0.9}");
  const policy = nicPolicyText("a", ["p"], "eth1", "  nodeSelector: {role: worker}\n");

  it("parks the policy beside its children: as written, and matching no node", async () => {
    const made = await policiesOf({ manifests: documentsOf(shared, policy), nodes: n1 as string });
    expect([...made.keys()]).toEqual(["a--n1", "a"]);
    const { spec, ...rest } = parse(policy);
    expect(made.get("a")).toEqual({
      ...rest,
      spec: { ...spec, nodeSelector: { role: "worker", "nmstate.io/ippool-template": "parked" } },
    });
  });

  it("parks what the user says, and nothing that a cluster wrote into a dump of it", async () => {
    const live =
      "  uid: u\n  resourceVersion: '7'\n  annotations: {kubectl.kubernetes.io/last-applied-configuration: '{}', note: x}\n";
    const dump = `${policy.replace("metadata: {name: a}\n", `metadata:\n  name: a\n${live}`)}status: {conditions: []}\n`;
    const parked = (await policiesOf({ manifests: documentsOf(shared, dump), nodes: n1 as string })).get("a");
    expect(parked.metadata).toEqual({ name: "a", annotations: { note: "x" } });
    expect(parked).not.toHaveProperty("status");
  });

  it("parks it where no node is selected yet, and where it had no selector", async () => {
    const made = await policiesOf({
      manifests: documentsOf(shared, policy, nicPolicyText("b", ["p"], "eth2")),
      nodes: n2 as string,
    });
    expect([...made.keys()]).toEqual(["a", "b--n2", "b"]);
    expect(made.get("b").spec.nodeSelector).toEqual({ "nmstate.io/ippool-template": "parked" });
  });

  it("has that part allocated to nobody", async () => {
    const made = await policiesOf({ manifests: documentsOf(shared, policy), nodes: n1 as string });
    expect(made.get("a--n1").spec.desiredState.interfaces[0].ipv4.address[0].ip).toBe("10.0.0.10");
  });

  it("parks no policy of another pool", async () => {
    const other = documentsOf(
      poolText("  range: {cidr: 10.1.0.0/24}", "q"),
      policyText("  capture: {x: ippool.q.allocate}", "b"),
    );
    const made = await policiesOf({ manifests: documentsOf(shared, other), nodes: "n1" });
    expect([...made.keys()]).toEqual(["b--n1"]);
  });
});
