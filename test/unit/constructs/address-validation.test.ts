import { afterEach, describe, expect, it, vi } from "vitest";
import { emptySnapshot, parsePool, plan, unwrap } from "../../../core/index.ts";
import { AddressValidation, type AddressValidationProps } from "../../../index.ts";
import { parkKey } from "../../../integrations/nmstate/select.ts";
import { markedText } from "../../../state/mark.ts";
import { offerPlan, offerVariable } from "../../../state/offer.ts";
import { folderOf, lockText } from "../../support/schema/cli.ts";
import { documentsOf, nicPolicyText, policyText, poolText } from "../../support/schema/text.ts";

const pool = poolText("  range: {cidr: 10.0.0.0/29}");

/** A policy that anybody might have written, for one node. */
function literal(node: string, ip: string, nic = "eth1"): string {
  const selector = `  nodeSelector: {kubernetes.io/hostname: ${node}}\n`;
  const address = `ipv4: {enabled: true, address: [{ip: ${ip}, prefix-length: 29}]}`;
  return policyText(`${selector}  desiredState: {interfaces: [{name: ${nic}, ${address}}]}`, `a--${node}-${nic}`);
}

/** What the plugin reports of these manifests, in a folder of their own. */
async function reported(files: Record<string, string>, props: object = {}) {
  const before = process.cwd();
  const violations: string[] = [];
  const fixes: string[] = [];
  const submitted: unknown[] = [];
  process.chdir(folderOf(files));
  try {
    await new AddressValidation(props as AddressValidationProps).validate({
      manifests: Object.keys(files).filter((name) => name.endsWith(".k8s.yaml")),
      report: {
        addViolation: ({ ruleName, recommendation, fix, violatingResources }) => {
          expect(fix).not.toBe("");
          fixes.push(fix);
          const [{ resourceName, locations, manifestPath } = {} as never] = violatingResources;
          violations.push(`${manifestPath} ${resourceName} ${locations}: ${ruleName}: ${recommendation}`);
        },
        submit: (...args) => submitted.push(args),
      },
    });
  } finally {
    process.chdir(before);
  }
  return { violations, fixes, submitted };
}

afterEach(() => vi.unstubAllEnvs());

describe("AddressValidation", () => {
  it("is content with what is recorded, and says how much it looked at", async () => {
    const files = {
      "a.k8s.yaml": documentsOf(pool, literal("n1", "10.0.0.1"), literal("n2", "10.0.0.2")),
      "nodeippool.lock": lockText("10.0.0.1 Node/n1/a/p", "10.0.0.2 Node/n2/a/p"),
    };
    expect(await reported(files)).toMatchObject({
      violations: [],
      submitted: [["success", { "addresses checked": "2" }]],
    });
  });

  it("finds an address that two nodes have, in any files, without our constructs", async () => {
    const { violations, submitted } = await reported({
      "pools.k8s.yaml": pool,
      "a.k8s.yaml": literal("n1", "10.0.0.1"),
      "b.k8s.yaml": documentsOf("kind: ConfigMap\n", literal("n2", "10.0.0.1")),
    });
    expect(violations).toEqual([
      expect.stringContaining("nodeippool.lock  : no-record: nodeippool.lock does not exist"),
      "b.k8s.yaml a--n2-eth1 line 8, column 81: duplicate: 10.0.0.1 is configured on Node/n1 eth1 and on Node/n2 eth1",
    ]);
    expect(submitted).toEqual([["failure", { "addresses checked": "1" }]]);
  });

  it.each([
    ["excluded", "  range: {cidr: 10.0.0.0/29, exclude: [10.0.0.5]}"],
    ["the gateway, outside the range", "  gateway: 10.0.0.5\n  range: {cidr: 10.0.0.0/29, end: 10.0.0.4}"],
  ])("finds an address that the pool hands out to nobody: %s", async (_, spec) => {
    const { violations } = await reported({
      "a.k8s.yaml": documentsOf(poolText(spec), literal("n1", "10.0.0.5")),
      "nodeippool.lock": lockText(),
    });
    expect(violations).toEqual([
      expect.stringMatching(/a\.k8s\.yaml a--n1-eth1 line 1[23], column 81: excluded: 10\.0\.0\.5/),
    ]);
  });

  it("finds what is recorded outside a pool, or where the pool hands out nothing", async () => {
    const shrunk = poolText("  range: {cidr: 10.0.0.0/29, end: 10.0.0.3, exclude: [10.0.0.2]}");
    const { violations, submitted } = await reported({
      "a.k8s.yaml": shrunk,
      "nodeippool.lock": lockText("10.0.0.1 Node/n1/a/p", "10.0.0.2 Node/n2/a/p", "10.0.0.4 Node/n3/a/p"),
    });
    expect(violations).toEqual([
      expect.stringContaining("nodeippool.lock Node/n2/a/p : excluded: 10.0.0.2"),
      expect.stringContaining("nodeippool.lock Node/n3/a/p : out-of-pool: 10.0.0.4"),
    ]);
    expect(submitted).toEqual([["failure", { "addresses checked": "0" }]]);
  });

  it("finds an address that the record knows as somebody else's", async () => {
    const { violations } = await reported({
      "a.k8s.yaml": documentsOf(pool, literal("n2", "10.0.0.1")),
      "nodeippool.lock": lockText("10.0.0.1 Node/n1/a/p"),
    });
    expect(violations).toEqual([expect.stringContaining("wrong-owner: 10.0.0.1 is used by Node/n2")]);
  });

  it("finds an address that nobody recorded", async () => {
    const manifest = documentsOf(pool, literal("n1", "10.0.0.1"), literal("n2", "10.0.0.2"));
    const recorded = { "a.k8s.yaml": manifest, "nodeippool.lock": lockText("10.0.0.1 Node/n1/a/p") };
    expect((await reported(recorded)).violations).toEqual([expect.stringContaining("stranger: 10.0.0.2")]);
  });

  it("fails where the record is not there, but for those who have nothing to record", async () => {
    const files = { "a.k8s.yaml": documentsOf(pool, literal("n1", "10.0.0.1")), "nodeippool.lock": lockText() };
    const { violations, fixes, submitted } = await reported(files, { lock: "nodeipool.lock" });
    expect(violations).toEqual([expect.stringContaining("no-record: nodeipool.lock does not exist")]);
    expect(fixes).toEqual([expect.stringContaining("backend: kubernetes")]);
    expect(submitted).toEqual([["failure", { "addresses checked": "1" }]]);
    expect((await reported({ "a.k8s.yaml": pool }, { lock: "nodeipool.lock" })).violations).toHaveLength(1);
    expect((await reported({ "a.k8s.yaml": pool })).violations).toEqual([]);
  });

  it.each([
    [{ lok: "a.lock" }, "lok: invalid: the validation has no property lok; did you mean lock?"],
    [{ lock: 5 }, "lock: invalid: lock of the validation must be text"],
    [{ backend: "kubernets" }, "backend: invalid: there is no backend kubernets; did you mean kubernetes?"],
    [{ backend: "kubernetes", lock: "a.lock" }, "lock: invalid: lock is not for the backend kubernetes"],
    [{ namespace: "network" }, "namespace: invalid: namespace is not for the backend lockfile"],
  ])("refuses the properties %j", async (props, expected) => {
    const { violations, submitted } = await reported({ "a.k8s.yaml": pool }, props);
    expect(violations).toEqual([expect.stringContaining(`cdk8s.yaml AddressValidation properties.${expected}`)]);
    expect(submitted).toEqual([["failure"]]);
  });

  it("says nothing of what is recorded and in no manifest: other apps may have it", async () => {
    const files = { "a.k8s.yaml": pool, "nodeippool.lock": lockText("10.0.0.1 Node/n1/a/p") };
    expect((await reported(files)).violations).toEqual([]);
  });

  it("finds tokens that nothing looked up", async () => {
    const map =
      'kind: ConfigMap\nmetadata: {name: late}\ndata:\n  a: ippool://p/n1\n  b: "{{ ippool.p.eth1.ip }}"\n  c: ippool:/p/n1\n';
    const { violations, submitted } = await reported({ "a.k8s.yaml": documentsOf(pool, map) });
    expect(violations).toEqual([
      "a.k8s.yaml late line 10, column 6: unresolved: ippool://p/n1 is not an address yet",
      "a.k8s.yaml late line 11, column 7: unresolved: {{ ippool.p.eth1.ip }} is not an address yet",
      "a.k8s.yaml late line 12, column 6: unresolved: ippool:/p/n1 is not an address yet",
    ]);
    expect(submitted).toEqual([["failure", { "addresses checked": "0" }]]);
  });

  it("finds them in address lists, too", async () => {
    const { violations } = await reported({ "a.k8s.yaml": documentsOf(pool, literal("n1", "ippool://p/n1")) });
    expect(violations).toEqual([
      expect.stringMatching(/^a\.k8s\.yaml a--n1-eth1 line \d+, column \d+: unresolved: ippool:\/\/p\/n1 /),
    ]);
  });

  it("finds policies that ask a pool for addresses, but not parked ones", async () => {
    const files = {
      "a.k8s.yaml": documentsOf(pool, nicPolicyText("late")),
      "b.k8s.yaml": nicPolicyText("parked", ["p"], "eth1", `  nodeSelector: {${parkKey}: parked}\n`),
      "c.k8s.yaml": policyText("  capture: {nics: interfaces.type}\n  desiredState: {interfaces: []}", "other"),
      "d.k8s.yaml": `kind: Policy\nspec:\n  of:\n    ${nicPolicyText("inner").trimEnd().replaceAll("\n", "\n    ")}\n`,
    };
    const { violations, submitted } = await reported(files);
    expect(violations).toEqual([
      "a.k8s.yaml late line 9, column 18: unexpanded: policy late asks a pool for addresses, and no handler can run that",
      "d.k8s.yaml inner line 6, column 22: unexpanded: policy inner asks a pool for addresses, and no handler can run that",
    ]);
    expect(submitted).toEqual([["failure", { "addresses checked": "0" }]]);
  });

  it("leaves pools alone that the controller allocates from", async () => {
    const theirs = poolText("  authority: Cluster\n  range: {cidr: 10.0.0.0/29}");
    const files = { "a.k8s.yaml": documentsOf(theirs, literal("n1", "10.0.0.1")), "nodeippool.lock": lockText() };
    expect((await reported(files)).violations).toEqual([]);
  });

  it("knows what the app is about to record, under nodeippool allocate", async () => {
    vi.stubEnv(offerVariable, folderOf({}));
    const defined = unwrap(parsePool("p", { range: { cidr: "10.0.0.0/29" } }));
    const claims = [{ owner: { kind: "Node", name: "n1" }, name: "a/eth1", pool: "p", interface: "eth1" }];
    offerPlan(plan({ pools: [defined], claims, snapshot: emptySnapshot }));
    const files = { "a.k8s.yaml": documentsOf(pool, literal("n1", "10.0.0.1")), "nodeippool.lock": lockText() };
    expect((await reported(files)).violations).toEqual([]);
    expect((await reported({ "a.k8s.yaml": files["a.k8s.yaml"] })).violations).toEqual([]);
    vi.unstubAllEnvs();
    expect((await reported(files)).violations).toEqual([expect.stringContaining("stranger: 10.0.0.1")]);
  });

  it("says where a record that has moved is to be named", async () => {
    const mark = { state: "left", id: "1", other: "namespace network of context test" } as const;
    const files = { "a.k8s.yaml": pool, "nodeippool.lock": markedText(mark, lockText()) };
    const { violations, fixes } = await reported(files);
    expect(violations).toEqual([expect.stringContaining("has moved to namespace network of context test")]);
    expect(fixes).toEqual([
      "Use it there: state in AddressPlan.configure, or backend, context and namespace in the validation",
    ]);
  });

  it("takes pools from a file of their own", async () => {
    const files = { "a.k8s.yaml": documentsOf(literal("n1", "10.0.0.1"), literal("n2", "10.0.0.1")) };
    const { violations: without, fixes } = await reported(files);
    expect(without).toEqual([expect.stringContaining("invalid: no NodeIPPool is among the manifests")]);
    expect(fixes).toEqual([expect.stringContaining("properties.pools")]);
    const { violations } = await reported({ ...files, "pools.yaml": pool }, { pools: "pools.yaml" });
    expect(violations).toEqual([expect.stringContaining("no-record"), expect.stringContaining("duplicate")]);
  });

  it("takes hostname labels for node names, unless a file of nodes says otherwise", async () => {
    const files = {
      "a.k8s.yaml": documentsOf(pool, literal("n1.lan", "10.0.0.1")),
      "nodeippool.lock": lockText("10.0.0.1 Node/n1/a/p"),
      "nodes.yaml": "- {name: n1, labels: {kubernetes.io/hostname: n1.lan}}\n",
    };
    expect((await reported(files)).violations).toEqual([expect.stringContaining("wrong-owner")]);
    expect((await reported(files, { nodes: "nodes.yaml" })).violations).toEqual([]);
  });

  it("names a file that is not there, and the property that names it", async () => {
    expect((await reported({ "a.k8s.yaml": pool }, { pools: "none.yaml" })).violations).toEqual([
      "cdk8s.yaml AddressValidation properties.pools: invalid: pools: none.yaml of the validation in cdk8s.yaml does not exist",
    ]);
  });
});
