import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { emptySnapshot, parsePool, plan, unwrap } from "../../../src/core/index.ts";
import { AddressValidation, type AddressValidationProps } from "../../../src/index.ts";
import { parkKey } from "../../../src/nmstate/select.ts";
import { offerPlan, offerVariable } from "../../../src/state/offer.ts";
import { folderOf, lockText } from "../../support/schema-cli.ts";
import { documentsOf, nicPolicyText, policyText, poolText } from "../../support/schema-text.ts";

const pool = poolText("  range: {cidr: 10.0.0.0/29}");

/** A policy that anybody might have written, for one node. */
function literal(node: string, ip: string, nic = "eth1"): string {
  const selector = `  nodeSelector: {kubernetes.io/hostname: ${node}}\n`;
  const address = `ipv4: {enabled: true, address: [{ip: ${ip}, prefix-length: 29}]}`;
  return policyText(`${selector}  desiredState: {interfaces: [{name: ${nic}, ${address}}]}`, `a--${node}-${nic}`);
}

/** What the plugin reports of these manifests. */
async function reported(files: Record<string, string>, props: AddressValidationProps = {}) {
  const folder = folderOf(files);
  const here = (path: string | undefined) => (path === undefined ? {} : { path: join(folder, path) });
  const { path: lock } = here(props.lock ?? "nodeippool.lock");
  const { path: pools } = here(props.pools) as { path?: string };
  const { path: nodes } = here(props.nodes) as { path?: string };
  const violations: string[] = [];
  const submitted: unknown[] = [];
  const validation = new AddressValidation({
    ...(lock === undefined ? {} : { lock }),
    ...(pools === undefined ? {} : { pools }),
    ...(nodes === undefined ? {} : { nodes }),
  });
  await validation.validate({
    manifests: Object.keys(files)
      .filter((name) => name.endsWith(".k8s.yaml"))
      .map((name) => join(folder, name)),
    report: {
      addViolation: ({ ruleName, recommendation, fix, violatingResources }) => {
        expect(fix).not.toBe("");
        const [{ resourceName, locations, manifestPath } = {} as never] = violatingResources;
        violations.push(
          `${manifestPath.slice(folder.length + 1)} ${resourceName} ${locations}: ${ruleName}: ${recommendation}`,
        );
      },
      submit: (...args) => submitted.push(args),
    },
  });
  return { violations, submitted };
}

afterEach(() => vi.unstubAllEnvs());

describe("AddressValidation", () => {
  it("is content with what is recorded, and says how much it looked at", async () => {
    const files = {
      "a.k8s.yaml": documentsOf(pool, literal("n1", "10.0.0.1"), literal("n2", "10.0.0.2")),
      "nodeippool.lock": lockText("10.0.0.1 Node/n1/a/p", "10.0.0.2 Node/n2/a/p"),
    };
    expect(await reported(files)).toEqual({ violations: [], submitted: [["success", { "addresses checked": "2" }]] });
  });

  it("finds an address that two nodes have, in any files, without a lock and without our constructs", async () => {
    const { violations, submitted } = await reported({
      "pools.k8s.yaml": pool,
      "a.k8s.yaml": literal("n1", "10.0.0.1"),
      "b.k8s.yaml": documentsOf("kind: ConfigMap\n", literal("n2", "10.0.0.1")),
    });
    expect(violations).toEqual([
      "b.k8s.yaml a--n2-eth1 line 8, column 81: duplicate: 10.0.0.1 is configured on Node/n1 eth1 and on Node/n2 eth1",
    ]);
    expect(submitted).toEqual([["failure", { "addresses checked": "1" }]]);
  });

  it("finds an address that the pool hands out to nobody", async () => {
    const bounded = poolText("  range: {cidr: 10.0.0.0/29, exclude: [10.0.0.5]}");
    const { violations } = await reported({ "a.k8s.yaml": documentsOf(bounded, literal("n1", "10.0.0.5")) });
    expect(violations).toEqual([
      expect.stringContaining("a.k8s.yaml a--n1-eth1 line 12, column 81: excluded: 10.0.0.5"),
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

  it("finds an address that nobody recorded, where there is a record", async () => {
    const manifest = documentsOf(pool, literal("n1", "10.0.0.1"), literal("n2", "10.0.0.2"));
    const recorded = { "a.k8s.yaml": manifest, "nodeippool.lock": lockText("10.0.0.1 Node/n1/a/p") };
    expect((await reported(recorded)).violations).toEqual([expect.stringContaining("stranger: 10.0.0.2")]);
    expect((await reported({ "a.k8s.yaml": manifest })).violations).toEqual([]);
  });

  it("says nothing of what is recorded and in no manifest: other apps may have it", async () => {
    const files = { "a.k8s.yaml": pool, "nodeippool.lock": lockText("10.0.0.1 Node/n1/a/p") };
    expect((await reported(files)).violations).toEqual([]);
  });

  it("finds tokens that nothing looked up", async () => {
    const map = 'kind: ConfigMap\nmetadata: {name: late}\ndata:\n  a: ippool://p/n1\n  b: "{{ ippool.p.eth1.ip }}"\n';
    const { violations, submitted } = await reported({ "a.k8s.yaml": documentsOf(pool, map) });
    expect(violations).toEqual([
      "a.k8s.yaml late line 10, column 6: unresolved: ippool://p/n1 is not an address yet",
      "a.k8s.yaml late line 11, column 7: unresolved: {{ ippool.p.eth1.ip }} is not an address yet",
    ]);
    expect(submitted).toEqual([["failure", { "addresses checked": "0" }]]);
  });

  it("finds policies that ask a pool for addresses, but not parked ones", async () => {
    const files = {
      "a.k8s.yaml": documentsOf(pool, nicPolicyText("late")),
      "b.k8s.yaml": nicPolicyText("parked", ["p"], "eth1", `  nodeSelector: {${parkKey}: parked}\n`),
      "c.k8s.yaml": policyText("  capture: {nics: interfaces.type}\n  desiredState: {interfaces: []}", "other"),
    };
    const { violations, submitted } = await reported(files);
    expect(violations).toEqual([
      "a.k8s.yaml late line 9, column 18: unexpanded: policy late asks a pool for addresses, and no handler can run that",
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
    vi.unstubAllEnvs();
    expect((await reported(files)).violations).toEqual([expect.stringContaining("stranger: 10.0.0.1")]);
  });

  it("takes pools from a file of their own", async () => {
    const files = { "a.k8s.yaml": documentsOf(literal("n1", "10.0.0.1"), literal("n2", "10.0.0.1")) };
    await expect(reported(files)).rejects.toThrow(/no NodeIPPool is among the manifests[\s\S]*properties\.pools/);
    const { violations } = await reported({ ...files, "pools.yaml": pool }, { pools: "pools.yaml" });
    expect(violations).toEqual([expect.stringContaining("duplicate")]);
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

  it("names a file that is not there", async () => {
    await expect(reported({ "a.k8s.yaml": pool }, { pools: "none.yaml" })).rejects.toThrow(
      /none\.yaml cannot be read: ENOENT/,
    );
  });
});
