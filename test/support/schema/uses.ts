import { expect } from "vitest";
import { formatAddress } from "../../../core/address.ts";
import { IpamError, type Place } from "../../../core/errors.ts";
import type { Use } from "../../../core/use.ts";

/** `line:column address owner NIC` */
export function shownUse({ address, owner, interface: nic, at }: Use): string {
  return [`${at.line}:${at.column}`, formatAddress(address), owner, nic].filter(Boolean).join(" ");
}

/** The word that stands at a place. */
function wordAt(text: string, at: Place | undefined): string | undefined {
  const line = text.split("\n")[(at?.line ?? 0) - 1] ?? "";
  return /^"?([^\s",]*)/.exec(line.slice((at?.column ?? 0) - 1))?.[1];
}

/** Uses, each of which must point to its address. */
export function pointed(text: string, uses: readonly Use[]): string[] {
  expect(uses.map(({ at }) => wordAt(text, at))).toEqual(uses.map(({ address }) => formatAddress(address)));
  return uses.map((use) => shownUse(use).replace(/^\S+ /, ""));
}

/** The issues of what is refused as invalid: `line:column message`. */
export function issuesOf(run: () => unknown): string[] {
  try {
    run();
    return [];
  } catch (error) {
    if (!(error instanceof IpamError)) throw error;
    expect(error.code).toBe("invalid");
    return error.issues.map(({ message, at }) => (at === undefined ? message : `${at.line}:${at.column} ${message}`));
  }
}

/** `eth1 10.0.0.1 10.0.0.2`: a NIC and its addresses. */
export function nicOf(text: string) {
  const [name, ...ips] = text.split(" ");
  const address = (wanted: boolean) => ({
    enabled: true,
    address: ips.filter((ip) => ip.includes(":") === wanted).map((ip) => ({ ip, "prefix-length": 24 })),
  });
  return { name, type: "ethernet", ipv4: address(false), ipv6: address(true) };
}

/** A NodeNetworkState of a node. */
export function stateOf(node: string, ...nics: string[]) {
  const currentState = { "dns-resolver": { running: { server: ["10.0.0.9"] } }, interfaces: nics.map(nicOf) };
  return {
    apiVersion: "nmstate.io/v1beta1",
    kind: "NodeNetworkState",
    metadata: { name: node },
    status: { currentState },
  };
}

/** A policy for these nodes, with literal addresses. */
export function policyOf(nodeSelector: Record<string, string> | undefined, ...nics: unknown[]) {
  const desiredState = { interfaces: nics.map((nic) => (typeof nic === "string" ? nicOf(nic) : nic)) };
  return {
    apiVersion: "nmstate.io/v1",
    kind: "NodeNetworkConfigurationPolicy",
    metadata: { name: "p" },
    spec: { ...(nodeSelector && { nodeSelector }), desiredState },
  };
}

export const list = (...items: unknown[]) => ({ apiVersion: "v1", kind: "List", items });
