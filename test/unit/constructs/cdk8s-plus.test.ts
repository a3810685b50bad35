import { Chart } from "cdk8s";
import { ConfigMap, Deployment, EnvValue, Service } from "cdk8s-plus-33";
import { expect, it } from "vitest";
import { NodeIPPool, NodeNetworkPolicy, Nodes } from "../../../constructs/index.ts";
import { nic, objectsOf } from "../../support/cli/constructs-app.ts";

it("cdk8s-plus constructs take addresses, in charts with a namespace and in others", async () => {
  const objects = await objectsOf((_, app) => {
    const network = new Chart(app, "net", { namespace: "apps" });
    const pool = new NodeIPPool(network, "p", { range: { cidr: "10.0.0.0/24" } });
    new NodeNetworkPolicy(network, "a", {
      nodes: Nodes.named("n1"),
      desiredState: nic("eth1", pool.claim("eth1")),
    });
    const apps = new Chart(app, "apps", { namespace: "apps" });
    const config = new ConfigMap(apps, "config", { data: { peer: `http://${pool.addressOf("n1")}:80` } });
    const deployment = new Deployment(apps, "web", {
      containers: [{ image: "web", envVariables: { PEER: EnvValue.fromValue(pool.addressOf("n1")) } }],
      podMetadata: { annotations: { "k8s.v1.cni.cncf.io/networks": `[{"ips":["${pool.addressOf("n1")}#cidr"]}]` } },
    });
    const service = new Service(apps, "svc", { ports: [{ port: 80 }], externalIPs: [pool.addressOf("n1")] });
    service.node.addDependency(config, deployment);
  });
  const kinds = objects.map(({ kind, metadata }) => [kind, metadata.namespace]);
  expect(kinds).toEqual([
    ["NodeIPPool", undefined],
    ["NodeNetworkConfigurationPolicy", undefined],
    ["ConfigMap", "apps"],
    ["Deployment", "apps"],
    ["Service", "apps"],
  ]);
  const [, , config, deployment, service] = objects;
  expect(config.data.peer).toBe("http://10.0.0.1:80");
  expect(deployment.spec.template.spec.containers[0].env).toEqual([{ name: "PEER", value: "10.0.0.1" }]);
  expect(deployment.spec.template.metadata.annotations["k8s.v1.cni.cncf.io/networks"]).toBe(
    '[{"ips":["10.0.0.1/24"]}]',
  );
  expect(service.spec.externalIPs).toEqual(["10.0.0.1"]);
});
