import { describe, expect, it } from "vitest";
import { goneFromNodes } from "../../../integrations/nmstate/gone.ts";
import type { ClusterNode } from "../../../schema/node.ts";
import type { Bag } from "../../../schema/objects.ts";
import { tableOf } from "../../support/core/table.ts";
import { lineOf } from "../../support/core/text.ts";

const line = lineOf("10.0.0.4 Node/n/a/eth1 if=eth1");
const at = (second: string) => `2026-01-01T00:00:0${second}Z`;

/** What node n reports: `NIC ip` at that second. */
function report(text: string, second: string): Bag {
  const [name, ip] = text.split(" ");
  const address = ip === undefined ? [] : [{ ip, "prefix-length": 24 }];
  const nic = {
    name,
    type: "ethernet",
    state: "up",
    ipv4: { enabled: true, dhcp: false, address },
    ipv6: { enabled: false },
  };
  const status = { currentState: { interfaces: [nic] }, lastSuccessfulUpdateTime: at(second) };
  return { apiVersion: "nmstate.io/v1beta1", kind: "NodeNetworkState", metadata: { name: "n" }, status };
}

function enactment(condition: string, second: string, policyGeneration = 1): Bag {
  const conditions = [{ type: condition, status: "True", lastTransitionTime: at(second) }];
  return {
    apiVersion: "nmstate.io/v1beta1",
    kind: "NodeNetworkConfigurationEnactment",
    metadata: { name: "n.a--n" },
    status: { policyGeneration, conditions },
  };
}

/** Another policy of the node, and what the node says of it. */
function other(lists: string, condition: string): Bag[] {
  const [nic, ...addresses] = lists.split(" ");
  const metadata = { name: "b--n", generation: 1 };
  const made = enactment(condition, "4");
  return [
    { apiVersion: "nmstate.io/v1", kind: "NodeNetworkConfigurationPolicy", metadata, spec: giving(nic, addresses) },
    { ...made, metadata: { name: "n.b--n" } },
  ];
}

function giving(name: string | undefined, ips: readonly string[]): Bag {
  return { desiredState: { interfaces: [{ name, ipv4: { enabled: true, address: ips.map((ip) => ({ ip })) } }] } };
}

const child: Bag = {
  apiVersion: "nmstate.io/v1",
  kind: "NodeNetworkConfigurationPolicy",
  metadata: { name: "a--n", generation: 1 },
};

describe("goneFromNodes", () => {
  it.each(
    tableOf(`
      node  | report        | at | child | enacted       | at2 | gone
      gone  |               |    | no    |               |     | yes
      gone  |               |    | yes   | Available     | 1   | no
      gone  | eth1          | 5  | no    |               |     | no
      gone  | eth1 10.0.0.4 | 5  | no    |               |     | no
      there |               |    | yes   | Available     | 1   | no
      there | eth1          | 5  | yes   | Available     | 4   | yes
      there | eth1          | 5  | yes   | Available     | 5   | no
      there | eth1          | 5  | yes   | Available     | 6   | no
      there | eth1          | 5  | yes   | Failing       | 4   | no
      there | eth1          | 5  | yes   | Progressing   | 4   | no
      there | eth1          | 5  | yes   | older         | 4   | no
      there | eth1          | 5  | yes   |               |     | no
      there | eth1          | 5  | no    | Available     | 4   | no
      there | eth1          | 5  | no    |               |     | yes
      there | eth1 10.0.0.9 | 5  | yes   | Available     | 4   | yes
      there | eth1 10.0.0.4 | 5  | yes   | Available     | 4   | no
      there | eth9          | 5  | yes   | Available     | 4   | no
    `),
  )("$title", ({ cell }) => {
    const [shows] = cell("report");
    const [enacted] = cell("enacted");
    const nodes: ClusterNode[] = cell("node")[0] === "there" ? [{ name: "n", labels: new Map(), bare: false }] : [];
    const made = enacted === "older" ? enactment("Available", "4", 0) : enactment(`${enacted}`, `${cell("at2")[0]}`);
    const objects = [
      ...(shows === undefined ? [] : [report(shows, `${cell("at")[0]}`)]),
      ...(cell("child")[0] === "yes" ? [child] : []),
      ...(enacted === undefined ? [] : [made]),
    ];
    const gone = goneFromNodes(objects, { nodes, pools: new Map() }, [line]);
    expect(gone).toEqual(cell("gone")[0] === "yes" ? [line] : []);
  });

  it.each(
    tableOf(`
      child | enacted   | the other gives | it        | gone
      no    |           | eth1 10.0.0.9   | Available | yes
      no    |           | eth1            | Available | yes
      no    |           | eth1 10.0.0.9   | Failing   | yes
      no    |           | eth1 10.0.0.4   | Available | no
      no    |           | eth1 10.0.0.4   | Failing   | no
      no    |           | eth2 10.0.0.9   | Available | yes
      no    | Available | eth1 10.0.0.9   | Available | no
      yes   |           | eth1 10.0.0.9   | Available | no
      yes   | Failing   | eth1 10.0.0.9   | Available | no
    `),
  )("beside another policy: $title", ({ cell }) => {
    const nodes: ClusterNode[] = [{ name: "n", labels: new Map(), bare: false }];
    const [enacted] = cell("enacted");
    const objects = [
      report("eth1 10.0.0.9", "4"),
      ...other(`${cell("the other gives")[0]}`, `${cell("it")[0]}`),
      ...(cell("child")[0] === "yes" ? [child] : []),
      ...(enacted === undefined ? [] : [enactment(enacted, "1")]),
    ];
    const gone = goneFromNodes(objects, { nodes, pools: new Map() }, [line]);
    expect(gone).toEqual(cell("gone")[0] === "yes" ? [line] : []);
  });

  it.each(
    tableOf(`
      report        | child | enacted     | it says      | gone | in a reset
      eth0          | yes   | Failing     | no eth1      | no   | yes
      eth0          | yes   | Retrying    | no eth1      | no   | no
      eth0          | yes   | older       | no eth1      | no   | no
      eth0          | yes   | Available   |              | no   | yes
      eth0          | yes   |             |              | no   | no
      eth0          | no    |             |              | no   | yes
      eth0          | no    | Failing     | no eth1      | no   | yes
      eth0 10.0.0.4 | yes   | Failing     | no eth1      | no   | no
      eth1          | yes   | Failing     | no eth1      | no   | yes
                    | yes   | Failing     | no eth1      | no   | no
    `),
  )("where the node has no such NIC: $title", ({ cell }) => {
    const nodes: ClusterNode[] = [{ name: "n", labels: new Map(), bare: false }];
    const [shows] = cell("report");
    const [enacted] = cell("enacted");
    const text = cell("it says")
      .join(" ")
      .replace(/^no /, "NmstateError: InvalidArgument: Failed to find unknown type interface ");
    const conditions = [
      {
        type: enacted === "Available" ? "Available" : "Failing",
        status: "True",
        message: text,
        lastTransitionTime: at("4"),
      },
      ...(enacted === "Retrying" ? [{ type: "Progressing", status: "True" }] : []),
    ];
    const made = { ...enactment("", "4"), status: { policyGeneration: enacted === "older" ? 0 : 1, conditions } };
    const objects = [
      ...(shows === undefined ? [] : [report(cell("report").join(" "), "5")]),
      ...(cell("child")[0] === "yes" ? [child] : []),
      ...(enacted === undefined ? [] : [made]),
    ];
    const gone = (isReset: boolean) =>
      goneFromNodes(objects, { nodes, pools: new Map() }, [line], { isReset }).length > 0;
    expect([gone(false), gone(true)]).toEqual([cell("gone")[0] === "yes", cell("in a reset")[0] === "yes"]);
  });

  // The reports are those of kubernetes-nmstate 0.86 with NetworkManager 1.42: see the table at the head of gone.ts.
  it.each(
    tableOf(`
      state  | family   | cleaned up | gone | in a reset
      up     | off      | no         | yes  | yes
      up     | on []    | no         | yes  | yes
      up     | dhcp     | no         | yes  | yes
      up     | on       | no         | no   | no
      up     | on       | yes        | yes  | no
      down   | on       | no         | no   | no
      down   | off      | no         | no   | no
      down   | on       | yes        | yes  | no
      ignore | off      | no         | no   | no
    `),
  )("where the NIC is reported, but the address may come back: $title", ({ cell }) => {
    const nodes: ClusterNode[] = [{ name: "n", labels: new Map(), bare: false }];
    const [state] = cell("state");
    const families: Record<string, Bag> = {
      off: { enabled: false },
      on: { enabled: true, dhcp: false },
      "on []": { enabled: true, dhcp: false, address: [] },
      dhcp: { enabled: true, dhcp: true },
    };
    const ipv4 = families[cell("family").join(" ")];
    const status = { currentState: { interfaces: [{ name: "eth1", state, ipv4 }] } };
    const isCleanedUp = cell("cleaned up")[0] === "yes";
    const objects = [
      { apiVersion: "nmstate.io/v1beta1", kind: "NodeNetworkState", metadata: { name: "n" }, status },
      ...(isCleanedUp ? [{ ...child, spec: giving("eth1", []) }, enactment("Available", "4")] : []),
    ];
    const gone = (isReset: boolean) =>
      goneFromNodes(objects, { nodes, pools: new Map() }, [line], { isReset }).length > 0;
    expect([gone(false), gone(true)]).toEqual([cell("gone")[0] === "yes", cell("in a reset")[0] === "yes"]);
  });

  it.each([false, true])("not while its own policy gives it: a handler may try again (in a reset: %s)", (isReset) => {
    const nodes: ClusterNode[] = [{ name: "n", labels: new Map(), bare: false }];
    const gives = (...ips: string[]) => ({ ...child, spec: giving("eth1", ips) });
    const gone = (policy: Bag, condition: string) =>
      goneFromNodes([report("eth1", "5"), policy, enactment(condition, "4")], { nodes, pools: new Map() }, [line], {
        isReset,
      });
    expect(gone(gives("10.0.0.4"), "Available")).toEqual([]);
    expect(gone(gives("10.0.0.4"), "Failing")).toEqual([]);
    expect(gone(gives(), "Available")).toEqual([line]);
  });
});
