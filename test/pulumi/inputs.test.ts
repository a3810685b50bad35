import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { dataOf, exampleText } from "../support/cli/metal3-infra.ts";
import { root } from "../support/console.ts";
import { PulumiProject, setText, short } from "../support/pulumi/engine.ts";
import { BUILD_TIMEOUT } from "../support/tools/tools.ts";
import { toyObjects } from "../support/toy-integration.ts";

/** A resource whose `name` is not known before the update. */
const late = `class Late extends pulumi.dynamic.Resource {
  constructor(name, value) {
    super({ async create() { return { id: "1", outs: { name: value } }; } }, name, { name: undefined });
  }
}`;

describe("what a set may be given", () => {
  let project: PulumiProject;
  beforeEach(async () => {
    project = await PulumiProject.create("");
  }, BUILD_TIMEOUT);
  afterEach(() => project?.remove());

  /** What an update prints that is held to its preview: in the preview, and after it. */
  async function strictUp(): Promise<[preview: string, update: string]> {
    const text = await project.ok("up", "--yes", "--strict");
    const begin = text.indexOf("Updating (dev)");
    return [text.slice(0, begin), text.slice(begin)];
  }

  it("may be in a component beside another set, and beside what uses its addresses", async () => {
    const set = (name: string, net: string) => `new AllocationSet("${name}", {
        pools: { ${name}: { range: { cidr: "10.0.${net}.0/24" } } },
        claims: [{ owner: { kind: "Node", name: "a" }, name: "eth1", pool: "${name}" }],
      }, { parent: this })`;
    project.program(`class User extends pulumi.dynamic.Resource {
        constructor(name, ip, opts) { super({ async create(inputs) { return { id: "1", outs: inputs }; } }, name, { ip }, opts); }
      }
      class Net extends pulumi.ComponentResource {
        constructor() {
          super("test:index:Net", "net");
          const [lan, wan] = [${set("lan", "0")}, ${set("wan", "1")}];
          this.ip = new User("user", pulumi.interpolate\`\${lan.address("Node/a/eth1")} \${wan.address("Node/a/eth1")}\`, { parent: this }).ip;
          this.registerOutputs({});
        }
      }
      export const ip = new Net().ip;`);
    expect(await project.ok("up", "--yes", "--strict")).toContain("10.0.0.1 10.0.1.1");
  });

  it("may be a folder's objects, of an integration of one's own too", async () => {
    const policy = (name: string, nic: string) => ({
      apiVersion: "nmstate.io/v1",
      kind: "NodeNetworkConfigurationPolicy",
      metadata: { name },
      spec: {
        capture: { x: "ippool.office.allocate" },
        desiredState: {
          interfaces: [
            { name: nic, ipv4: { enabled: true, address: [{ ip: "{{ capture.x.ip }}", "prefix-length": 29 }] } },
          ],
        },
      },
    });
    const program = (...objects: object[]) => `import { integrations } from "nodeippool/pipeline";
import { toy } from ${JSON.stringify(join(root, "test/support/toy-integration.ts"))};
integrations.push(toy);
const net = new Manifests("net", { objects: ${JSON.stringify(objects)}, nodes: ["n1"] });
export const objects = net.objects.apply((all) => all.map((one) =>
  [one.metadata.name, one.data?.address ?? one.spec?.desiredState?.interfaces?.[0].ipv4.address[0].ip ?? ""].join(" ")).join(", "));`;
    const { pool, printer, scanner } = toyObjects;
    const other = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "other" } };
    project.program(program(pool, policy("a", "eth1"), printer("lobby"), other));
    const expected = "office , a--n1 10.0.0.1, printer-lobby 10.0.0.2, other ";
    expect(await strictUp()).toEqual([expect.stringContaining(expected), expect.stringContaining(expected)]);
    // An address that somebody else has, and two policies for one NIC, end with the preview.
    for (const [object, refusal] of [
      [scanner("10.0.0.1"), "10.0.0.1 is used by Scanner/s, but recorded for Node/n1/a/x"],
      [policy("b", "eth1"), "policies a and b both set the IPv4 addresses of eth1 on Node/n1"],
    ] as const) {
      project.program(program(pool, policy("a", "eth1"), printer("lobby"), object));
      const { status, text } = await project.run("preview");
      expect(text).toContain(refusal);
      expect(status).not.toBe(0);
    }
  });

  it("may be the configuration of bare-metal hosts: preview shows their addresses, and up gives them", async () => {
    const { nodepools, ...seed } = dataOf(exampleText("seed.yaml")) as { nodepools: object };
    const program = (infra: object) =>
      project.program(`const net = new Manifests("net", { objects: [${JSON.stringify(infra)}] });
export const hosts = net.objects.apply((all) => all.filter(({ kind }) => kind === "Secret")
  .map(({ metadata, stringData }) => [metadata.name, ...stringData.networkData.match(/(?<=ip_address: ).*/g)].join(" ")).join(", "));
export const releasing = pulumi.jsonStringify(net.allocations.releasing);`);
    const controllers = "controllers-node-0 192.168.0.10 192.168.1.10";
    const workers = "nodepool1-node-0 192.168.0.11 192.168.1.11";
    program({ ...seed, nodepools });
    const both = expect.stringContaining(`${controllers}, ${workers}`);
    expect(await strictUp()).toEqual([both, both]);
    program(seed);
    expect(await project.up()).toContain(`"${controllers}"`);
    expect(await project.ok("stack", "output", "releasing")).toContain('"Host/nodepool1.node-0/net0":"192.168.0.11"');
  });

  it("shows in preview what is releasing, and that nothing is, also to other resources", async () => {
    const program = (...nodes: string[]) =>
      project.program(`${setText(nodes)}
      class User extends pulumi.dynamic.Resource {
        constructor(name, text) { super({ async create(inputs) { return { id: "1", outs: inputs }; }, async update(id, olds, news) { return { outs: news }; } }, name, { text }); }
      }
      export const text = new User("user", pulumi.jsonStringify(ips.releasing)).text;`);
    program("a", "b");
    expect(await project.up("--diff")).toMatch(/text\s*: \(json\) \{\}/);
    program("b");
    const gone = '{"lan":{"Node/a/eth1":"10.0.0.1"}}';
    expect(await project.up("--diff")).not.toContain("unknown");
    expect(await project.ok("stack", "output", "text")).toBe(`${gone}\n`);
  });

  it("plans nodes whose names are not known yet by their ids, and up commits that", async () => {
    const program = (vm: string, name: string) => `${late}
      const node = new Late("${vm}", "${name}");
      const claims = [
        { owner: { kind: "Node", name: "node01" }, name: "eth1", pool: "lan" },
        { owner: { kind: "Node", name: "node02" }, name: "eth1", pool: "lan" },
        { id: "Node/worker-1", owner: { kind: "Node", name: node.name }, name: "eth1", pool: "lan" },
      ];
      const ips = new AllocationSet("ips", { pools: { lan: { range: { cidr: "10.0.0.0/24" } } }, claims });
      export const worker = ips.address("Node/worker-1/eth1");
      export const entry = ips.claim("worker-1", "eth1");
      const more = new AllocationSet("more", {
        pools: { wan: { range: { cidr: "10.1.0.0/24" } } },
        claims: node.name.apply((name) => [{ owner: { kind: "Node", name }, name: "eth2", pool: "wan" }]),
      });
      export const late = more.address("Node/${name}/eth2");`;
    project.program(program("vm", "node015"));
    expect((await strictUp())[0]).toMatch(/worker *: "10\.0\.0\.3"/);
    expect(short(project.sets().ips?.addresses)).toBe("node01=1 node02=2 worker-1=3");
    // Preview could not know that it is none.
    expect(project.sets().ips?.owners).toHaveProperty("ciphertext");
    expect(project.sets().more?.addresses).toEqual({ wan: { "Node/node015/eth2": "10.1.0.1" } });
    // What a list that preview does not know gives up, preview cannot know.
    project.program(program("vm-2", "node016"));
    await project.up();
    expect(project.sets().more).toMatchObject({
      addresses: { wan: { "Node/node016/eth2": "10.1.0.2" } },
      releasing: { wan: { "Node/node015/eth2": "10.1.0.1" } },
    });
  });

  it("keeps what is secret out of the state and of everything that is printed", async () => {
    const secret = (names: string, rest = "") => `const names = pulumi.secret(${names});
      const ips = new AllocationSet("ips", { pools: { lan: { range: { cidr: "10.0.0.0/24" } } }, ${rest}
        claims: names.apply((list) => list.map((name) => ({ owner: { kind: "Node", name }, name: "eth1", pool: "lan" }))) });
      export const addresses = ips.addresses;
      const more = new AllocationSet("more", { pools: { dmz: { range: { cidr: "10.2.0.0/24" } } }, claims: [
        { id: "Node/n1", owner: { kind: "Node", name: pulumi.secret("kestrel") }, name: "eth2", pool: "dmz" },
        { owner: { kind: "Node", name: "n2" }, name: "eth2", pool: "dmz" } ] });
      export const n1 = more.address("Node/n1/eth2");`;
    const printed: string[] = [];
    project.program(secret('["osprey", "heron"]'));
    printed.push(await project.ok("up", "--yes", "--diff"));
    expect(project.sets().ips?.addresses).toHaveProperty("ciphertext");
    expect(project.sets().more?.addresses).toEqual({ dmz: { "Node/n1/eth2": "10.2.0.1", "Node/n2/eth2": "10.2.0.2" } });
    expect(project.sets().more?.owners).toHaveProperty("ciphertext");
    // A claim that is gone is no longer in the program, but was a secret when it was.
    project.program(secret('["heron"]'));
    printed.push(await project.ok("up", "--yes", "--diff"), project.checkpoint());
    project.program(setText(["plain"]));
    printed.push(await project.ok("up", "--yes", "--diff"), project.checkpoint());
    project.program(secret('["heron", "heron"]', 'release: ["Node/osprey"],'));
    const { status, text } = await project.run("preview", "--diff");
    expect(status).not.toBe(0);
    expect(text).toContain("invalid: claims[1]: this is not valid, or two claims ask for the same");
    expect([...printed, text].join("\n")).not.toMatch(/osprey|heron|kestrel/);
    expect(await project.ok("stack", "output", "addresses", "--show-secrets")).toContain("Node/plain/eth1");
  });

  it("keeps all addresses secret once one was", async () => {
    const program = (...claims: string[]) =>
      project.program(`${late}
      const claim = (name, rest) => ({ owner: { kind: "Node", name }, name: "eth1", pool: "lan", ...rest });
      const ips = new AllocationSet("ips", { pools: { lan: { range: { cidr: "10.0.0.0/24" } } }, claims: [${claims}] });
      export const addresses = ips.addresses;`);
    const begun = ['claim("a", { address: pulumi.secret("10.0.0.77") })', 'claim("b")'];
    // As docs/pulumi.md says of nodes that have addresses: with them for the first update, without them after that.
    const steps = [begun, ['claim("a")', 'claim("b")'], ['claim("b")']];
    const printed: string[] = [];
    for (const claims of steps) {
      program(...claims);
      printed.push(await project.up("--diff"), project.checkpoint());
    }
    await project.ok("refresh", "--yes", "--expect-no-changes");
    program('claim("a")', 'claim("b", { address: "10.0.0.2" })');
    const { status, text } = await project.run("preview");
    expect([status, text]).toEqual([1, expect.stringContaining("in-use: claims[1]: ")]);
    expect([...printed, text].join("\n")).not.toContain("10.0.0.77");
    program('claim("a", { address: "10.0.0.77" })', 'claim("b")');
    await project.up();
    expect(project.sets().ips?.addresses).toHaveProperty("ciphertext");
  });

  it("previews secrets that only the update knows, and up commits that", async () => {
    project.program(`${late}
    const hidden = pulumi.secret(new Late("made", "77").name);
    const known = pulumi.secret("10.0.0.77");
    const set = (name, net, claims) => new AllocationSet(name, { pools: { [name]: { range: { cidr: net + ".0/24" } } }, claims });
    const claim = (pool, name, rest) => ({ owner: { kind: "Node", name }, name: "eth1", pool, ...rest });
    set("one", "10.0.0", [claim("one", "a", { address: known }), claim("one", "b")]);
    class Told extends pulumi.dynamic.Resource {
      constructor() { super({ async create() { return { id: "1", outs: { name: "kestrel" } }; } }, "told", { name: undefined }, { additionalSecretOutputs: ["name"] }); }
    }
    set("named", "10.0.2", [{ ...claim("named", new Told().name), id: "Node/w1" }]);
    set("list", "10.0.1", hidden.apply((end) => [claim("list", "a", { id: "Node/x", address: "10.0.1." + end })]));`);
    expect(await project.ok("up", "--yes", "--diff", "--strict")).not.toMatch(/10\.0\.[01]\.77|kestrel/);
    expect(project.sets().named?.addresses).toEqual({ named: { "Node/w1/eth1": "10.0.2.1" } });
    expect(project.sets().named?.owners).toHaveProperty("ciphertext");
    const { one, list } = project.sets();
    expect([one?.addresses, list?.addresses]).toEqual(
      Array(2).fill(expect.objectContaining({ ciphertext: expect.anything() })),
    );
    await project.preview("--expect-no-changes");
  });

  it("drops a pool while preview does not know the claims, and refuses an address that is not known", async () => {
    const program = (nics: string[], name: string, rest = "") =>
      project.program(`${late}
      const made = new Late("vm-${name}", "${name}");
      const all = { lan: { range: { cidr: "10.0.0.0/24" } }, wan: { range: { cidr: "10.0.1.0/24" } } };
      const claim = (pool, name) => ({ owner: { kind: "Node", name }, name: "eth1", pool });
      new AllocationSet("late", { confirmRelease: true, pools: Object.fromEntries(${JSON.stringify(nics)}.map((name) => [name, all[name]])),
        claims: made.name.apply((name) => ${JSON.stringify(nics)}.map((pool) => claim(pool, name))) });
      ${rest}`);
    program(["lan", "wan"], "a");
    await project.up();
    program(["lan"], "b");
    await project.up();
    expect(project.sets().late).toMatchObject({
      addresses: { lan: { "Node/b/eth1": "10.0.0.2" } },
      releasing: { lan: { "Node/a/eth1": "10.0.0.1" }, wan: { "Node/a/eth1": "10.0.1.1" } },
    });
    const wish = `{ ...claim("dmz", "x"), address: made.name.apply(() => "10.0.2.9") }`;
    program(
      ["lan"],
      "c",
      `new AllocationSet("wishing", { pools: { dmz: { range: { cidr: "10.0.2.0/24" } } }, claims: [${wish}] });`,
    );
    const { status, text } = await project.run("preview");
    expect([status, text]).toEqual([1, expect.stringContaining("the address that it asks for is not known yet")]);
  });

  it("gives no address of a new claim to what is a target without its set", async () => {
    const program = (...nodes: string[]) =>
      project.program(`class User extends pulumi.dynamic.Resource {
        constructor(name, props) { super({ async create(inputs) { return { id: "1", outs: inputs }; } }, name, props); }
      }
      ${setText(nodes)}
      ${nodes.map((node) => `new User("${node}", { at: ips.address("Node/${node}/eth1"), ...ips.claim("${node}", "eth1") });`).join("\n")}`);
    program("a");
    await project.up();
    program("a", "b");
    await project.ok("preview", "--target", "**b");
    const { status, text } = await project.run("up", "--yes", "--skip-preview", "--target", "**b");
    expect(status).not.toBe(0);
    expect(text).toContain(
      "Node/b/eth1 has no address: it is new, and the set ips is not a target of this update; name it, too",
    );
    await project.ok("up", "--yes", "--strict", "--target", "**b", "--target", "**ips");
    expect(project.resources().find(({ urn }) => urn.endsWith("::b"))?.outputs).toMatchObject({ at: "10.0.0.2" });
    await project.ok("destroy", "--yes", "--skip-preview", "--run-program");
  });
});
