import { describe, expect, it } from "vitest";
import { exampleText, infraOf, issuesIn } from "../../support/cli/metal3-infra.ts";

const seed = exampleText("seed.yaml");
const withCluster = (section: string) => `cluster: ${section}\n${seed}`;
const clusterOf = (section: string) => infraOf(withCluster(section)).cluster;
const image = "{url: http://i, checksum: http://c}";

describe("the cluster section", () => {
  it("left out, as in the study: hosts, and no template", () => {
    expect(infraOf(seed).cluster).toEqual({ mode: "hosts", apiVersion: "v1beta2" });
  });

  it.each([
    ["{name: blue}", { mode: "hosts", apiVersion: "v1beta2", clusterName: "blue" }],
    ["{namespace: metal, apiVersion: v1beta1}", { mode: "hosts", apiVersion: "v1beta1", namespace: "metal" }],
    ["{mode: pools, name: blue}", { mode: "pools", clusterName: "blue" }],
    [
      `{mode: machines, name: blue, image: ${image}}`,
      {
        mode: "machines",
        apiVersion: "v1beta2",
        clusterName: "blue",
        network: "network-data",
        image: { url: "http://i", checksum: "http://c" },
      },
    ],
    [
      `{mode: machines, name: blue, namespace: m, network: os-net-config, version: v1.36.3, apiVersion: v1beta1, image: {url: u, checksum: c, format: raw}, kubeadmConfig: {files: [], users: [{name: a}]}}`,
      {
        mode: "machines",
        apiVersion: "v1beta1",
        clusterName: "blue",
        namespace: "m",
        network: "os-net-config",
        version: "v1.36.3",
        image: { url: "u", checksum: "c", format: "raw" },
        kubeadmConfig: { files: [], users: [{ name: "a" }] },
      },
    ],
  ])("%s", (section, expected) => {
    expect(clusterOf(section)).toEqual(expected);
  });

  it.each([
    ["", ["f:1:10: cluster has the fields mode, name, namespace, apiVersion, image, version, network, kubeadmConfig"]],
    ["{nam: blue}", ["f:1:16: unknown field nam; did you mean name?"]],
    [
      "{mode: machine, image: 1}",
      [
        "f:1:17: mode is one of hosts, machines, pools; did you mean machines?",
        "f:1:33: image has the fields url, checksum, checksumType, diskFormat",
      ],
    ],
    [
      "{mode: machines}",
      ["f:1:10: name is missing: mode machines needs it", "f:1:10: image is missing: mode machines needs it"],
    ],
    ["{mode: pools}", ["f:1:10: name is missing: mode pools needs it"]],
    ["{version: v1.36.3}", ["f:1:20: version is for mode machines, and this one is hosts"]],
    [
      "{mode: pools, name: blue, apiVersion: v1beta2}",
      ["f:1:48: the template of mode pools is of v1beta1 always, which newer releases serve too\n  Leave it out."],
    ],
    ["{apiVersion: v1beta3}", ["f:1:23: apiVersion is one of v1beta2, v1beta1; did you mean v1beta2?"]],
    [
      "{name: Blue, namespace: 7}",
      ['f:1:17: "Blue" is no name: at most 63 lower case letters, digits and -', "f:1:34: namespace must be text"],
    ],
    [
      `{mode: machines, name: b, version: 1.36, network: netplan, kubeadmConfig: {files: {}}, image: {url: u, format: raw}}`,
      [
        "f:1:60: network is one of network-data, os-net-config",
        "f:1:121: v1beta2 calls format diskFormat",
        "f:1:104: checksum is missing",
        "f:1:45: version is that of Kubernetes: v1.36.3",
        "f:1:92: files must be a list",
      ],
    ],
  ])("%s: says what is wrong, and where", (section, expected) => {
    expect(issuesIn(withCluster(section))).toEqual(expected);
  });

  it("beside what is wrong elsewhere", () => {
    const text = withCluster("{nam: b}").replace("netmask: 24", "netmask: 240");
    expect(issuesIn(text)).toHaveLength(2);
  });
});
