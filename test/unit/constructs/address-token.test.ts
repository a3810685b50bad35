import { ApiObject, type App, Chart, Lazy } from "cdk8s";
import { describe, expect, it } from "vitest";
import { AddressPlan, NodeIPPool, NodeNetworkPolicy, Nodes } from "../../../constructs/index.ts";
import { appOf, nic, objectsByName, refusal, synthesised } from "../../support/cli/constructs-app.ts";
import { poolOf, recordOf } from "../../support/core/text.ts";

const record = recordOf(
  [
    "10.0.0.1 Node/n1/a/eth1",
    "10.0.0.2 Node/n1/a/eth1-vip",
    "10.0.0.3 Node/n2/a/eth1",
    "10.0.0.4 Node/n3.lan/b/eth1",
    "10.0.0.5 VirtualMachine/apps:db/net0",
    "10.0.0.6 Printer/lobby/lan",
    "fd00::1 Node/n1/a/eth1-v6 pool=q",
  ],
  [poolOf("p", "10.0.0.0/24"), poolOf("q", "fd00::/64")],
);

function configMap(chart: Chart, data: object, name = "c"): ApiObject {
  return new ApiObject(chart, name, { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, ...{ data } });
}

/** What a text becomes in a ConfigMap of an app that has nothing but the record. */
function looked(text: unknown): unknown {
  const app = appOf((chart) => configMap(chart, { text }), { record });
  return synthesised(app)[0].data.text;
}

describe("ippool:// tokens", () => {
  it.each([
    ["ippool://p/n2", "10.0.0.3"],
    ["ippool://p/n2/a/eth1", "10.0.0.3"],
    ["ippool://p/n2/a", "10.0.0.3"],
    ["ippool://p/n1/a/eth1", "10.0.0.1"],
    ["ippool://p/Node/n2", "10.0.0.3"],
    ["ippool://p/n3.lan", "10.0.0.4"],
    ["ippool://p/VirtualMachine/apps:db", "10.0.0.5"],
    ["ippool://p/VirtualMachine/apps:db/net0", "10.0.0.5"],
    ["ippool://p/Printer/lobby", "10.0.0.6"],
    ["ippool://q/n1", "fd00::1"],
    ["ippool://p/n2#ip", "10.0.0.3"],
    ["ippool://p/n2#cidr", "10.0.0.3/24"],
    ["ippool://q/n1#cidr", "fd00::1/64"],
  ])("%s is %s", (token, address) => {
    expect(looked(token)).toBe(address);
  });

  it.each([
    ["http://ippool://p/n2:8080/x", "http://10.0.0.3:8080/x"],
    ["[ippool://q/n1]:443", "[fd00::1]:443"],
    ["ippool://p/n1/a/eth1,ippool://p/n2;", "10.0.0.1,10.0.0.3;"],
    ["ippool://p/n2.", "10.0.0.3."],
    ["ippool://p/n2#ip.nip.io", "10.0.0.3.nip.io"],
    ["ippool://p/n2#ip-x", "10.0.0.3-x"],
    ["http://ippool://p/n2#ip/api", "http://10.0.0.3/api"],
    ['{"ips": ["ippool://p/n2#cidr"]}', '{"ips": ["10.0.0.3/24"]}'],
    ["line one\npeer ippool://p/n2\n", "line one\npeer 10.0.0.3\n"],
    ["nothing of ours: pool://p/n2", "nothing of ours: pool://p/n2"],
  ])("inside text: %j", (text, expected) => {
    expect(looked(text)).toBe(expected);
  });

  it("come from other resolvers too, and stand in lists and annotations", () => {
    const app = appOf(
      (chart) => {
        const map = configMap(chart, { late: Lazy.any({ produce: () => "ippool://p/n2" }), list: ["ippool://p/n2"] });
        map.metadata.addAnnotation("k8s.v1.cni.cncf.io/networks", '[{"ips":["ippool://p/n2#cidr"]}]');
      },
      { record },
    );
    const [{ data, metadata }] = synthesised(app);
    expect(data).toEqual({ late: "10.0.0.3", list: ["10.0.0.3"] });
    expect(metadata.annotations).toEqual({ "k8s.v1.cni.cncf.io/networks": '[{"ips":["10.0.0.3/24"]}]' });
  });

  it.each([
    ["ippool://p/n4", "node n4 holds no address of p; did you mean Node/n1?"],
    ["ippool://p/n2/a/eht1", "Node/n2 has no claim a/eht1 on p; did you mean Node/n2/a/eth1?"],
    ["ippool://p/Printer/loby", "Printer/loby holds no address of p; did you mean Printer/lobby?"],
    ["ippool://traffic/n1", "no address of a pool traffic is recorded"],
    ["ippool://pp/n1", "no address of a pool pp is recorded; did you mean p?"],
    ["ippool://p/n1", "ippool://p/n1: 2 claims of Node/n1 fit\n  Write one of them: a/eth1, a/eth1-vip."],
    ["ippool://p/n2#mac", "ippool://p/n2#mac: an address has the forms #ip and #cidr, not #mac"],
    ["ippool://p/n2#ip8080", "No letter, digit or _ can follow #ip or #cidr."],
    ["http://ippool://p/n2/api/v1", "Where text follows that is no part of it, end it with #ip: ippool://p/NODE#ip."],
    ["ippool://p/n2-x", "Where text follows that is no part of it, end it with #ip: ippool://p/NODE#ip."],
    ["ippool://p/n3.lan.nip.io", "Where text follows that is no part of it, end it with #ip: ippool://p/NODE#ip."],
    ["ippool://p/n1/a/eth1/api", "Where text follows that is no part of it, end it with #ip: ippool://p/NODE#ip."],
    ["ippool://p/", "holds an address token that cannot be read"],
    ["ippool://P/n1", "cannot be read"],
    ["ippool:///n1", "cannot be read"],
    ["ippool://q/n1:80", "that would be one IPv6 address with what follows\n  Write [ippool://q/n1]:80."],
    ["x ippool://p/n2 ippool://", "cannot be read\n  Write ippool://POOL/NODE"],
  ])("%s is refused", (text, message) => {
    expect(refusal(() => looked(text))).toContain(message);
  });

  it("are looked up in keys too", () => {
    const app = appOf((chart) => configMap(chart, { "ippool://p/n2": { "at ippool://q/n1": 1 } }), { record });
    expect(synthesised(app)[0].data).toEqual({ "10.0.0.3": { "at fd00::1": 1 } });
  });

  it("name the object that holds what cannot be looked up", () => {
    expect(refusal(() => looked("ippool://p/n4"))).toContain("'network/c' with name 'c'");
  });

  it("see what the app itself claims, whatever is made first", async () => {
    const build = (chart: Chart, app: App) => {
      const other = new Chart(app, "other");
      configMap(other, { first: "ippool://p/n1", second: "ippool://p/n2/a/eth1" });
      const pool = new NodeIPPool(chart, "p", { range: { cidr: "10.0.0.0/24" } });
      const nodes = Nodes.named("n1", "n2");
      new NodeNetworkPolicy(chart, "a", { nodes, desiredState: nic("eth1", pool.claim("eth1")) });
      configMap(chart, { by: pool.addressOf("n2"), claim: pool.addressOf("n2", "a/eth1") }, "d");
    };
    const objects = await objectsByName(build);
    expect(objects["ConfigMap/c"].data).toEqual({ first: "10.0.0.1", second: "10.0.0.2" });
    expect(objects["ConfigMap/d"].data).toEqual({ by: "10.0.0.2", claim: "10.0.0.2" });
  });

  it("say of a pool that the cluster allocates from that it does", () => {
    const app = appOf(
      (chart) => {
        const pool = new NodeIPPool(chart, "k", { range: { cidr: "10.5.0.0/24" }, authority: "Cluster" });
        configMap(chart, { text: pool.addressOf("n1") });
      },
      { record: recordOf([], []) },
    );
    expect(refusal(() => app.synthYaml())).toContain(
      "ippool://k/n1: the cluster allocates from pool k (authority Cluster), so that no address of it is known here",
    );
  });

  it("do not see addresses that are releasing", () => {
    const leaving = recordOf(["10.0.0.1 Node/n1/a/eth1 releasing"], [poolOf("p", "10.0.0.0/24")]);
    const app = appOf((chart) => configMap(chart, { text: "ippool://p/n1" }), { record: leaving });
    expect(refusal(() => app.synthYaml())).toContain("node n1 holds no address of p");
  });

  it("are left alone in an app that nothing of ours is in", () => {
    const { App: Plain } = { App: Object.getPrototypeOf(appOf(() => {})).constructor as typeof App };
    const app = new Plain();
    configMap(new Chart(app, "network"), { text: "ippool://p/n1" });
    expect(app.synthYaml()).toContain("ippool://p/n1");
    AddressPlan.configure(app, { state: { name: "memory", snapshot: record } });
    expect(refusal(() => app.synthYaml())).toContain("2 claims of Node/n1 fit");
  });
});
