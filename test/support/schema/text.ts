import { IpamError, type Issue } from "../../../core/errors.ts";
import { nmstate } from "../../../integrations/nmstate/plan.ts";
import type { Policy } from "../../../integrations/nmstate/policy.ts";
import { readFolder } from "../../../pipeline/folder.ts";
import type { Manifests } from "../../../schema/manifest-document.ts";
import type { ClusterNode } from "../../../schema/node.ts";
import { readNodes } from "../../../schema/read-nodes.ts";
import type { SourceFile } from "../../../schema/yaml.ts";

/** A NodeIPPool; its spec starts on line 5. */
export function poolText(spec = "  range: {cidr: 10.0.0.0/24}", name = "p"): string {
  return `apiVersion: nmstate.io/v1\nkind: NodeIPPool\nmetadata: {name: ${name}}\nspec:\n${spec}\n`;
}

/** A NodeNetworkConfigurationPolicy; its spec starts on line 5. */
export function policyText(spec: string, name = "a"): string {
  return `apiVersion: nmstate.io/v1\nkind: NodeNetworkConfigurationPolicy\nmetadata: {name: ${name}}\nspec:\n${spec}\n`;
}

/** A policy that gives eth1 (or another NIC) an address of each pool; pools of the name `six` are IPv6. */
export function nicPolicyText(name: string, pools: readonly string[] = ["p"], nic = "eth1", more = ""): string {
  const captures = pools.map((pool) => `    ${pool}: ippool.${pool}.allocate`);
  const section = (family: string, used: readonly string[]) =>
    used.length === 0
      ? ""
      : `\n      ${family}:\n        enabled: true\n        dhcp: false\n        address:${used.map(entry).join("")}`;
  const entry = (pool: string) =>
    `\n        - ip: "{{ capture.${pool}.ip }}"\n          prefix-length: "{{ capture.${pool}.prefix-length }}"`;
  const isSix = (pool: string) => pool === "six";
  return policyText(
    `${more}  capture:
${captures.join("\n")}
  desiredState:
    interfaces:
    - name: ${nic}
      type: ethernet
      state: up${section(
        "ipv4",
        pools.filter((pool) => !isSix(pool)),
      )}${section("ipv6", pools.filter(isSix))}`,
    name,
  );
}

export function documentsOf(...texts: readonly string[]): string {
  return texts.join("---\n");
}

/** Files by name, or one text. */
export type Texts = string | Readonly<Record<string, string>>;

export function sourcesOf(texts: Texts): SourceFile[] {
  const files = typeof texts === "string" ? { "f.yaml": texts } : texts;
  return Object.entries(files).map(([path, text]) => ({ path, text }));
}

/** A folder, and the policies in it that use pools. */
export function read(texts: Texts): Manifests & { readonly policies: readonly Policy[] } {
  const manifests = readFolder(sourcesOf(texts));
  const pools = new Map(manifests.pools.map((pool) => [pool.name, pool]));
  const { value, issues = [] } = nmstate.read(manifests);
  if (value === undefined || manifests.issues.length > 0)
    throw new IpamError("invalid", [...manifests.issues, ...issues]);
  nmstate.claims(value, { nodes: [], pools });
  return { ...manifests, policies: value.own.map(({ policy }) => policy) };
}

/** Nodes as any text that readNodes takes. */
export function nodesOf(text: string): ClusterNode[] {
  return readNodes({ path: "nodes", text });
}

/** What a call says is wrong: the issues of the IpamError it throws, `line:column message`; none if it returns. */
export function issuesIn(call: () => unknown, one = "f.yaml"): string[] {
  try {
    call();
    return [];
  } catch (error) {
    if (error instanceof IpamError && error.code === "invalid") return error.issues.map((issue) => shown(issue, one));
    throw error;
  }
}

/** `line:column message`, after the file's name where it is not the one file. */
export function issuesOf(texts: Texts): string[] {
  return issuesIn(() => read(texts));
}

function shown({ at, message }: Issue, one: string): string {
  if (at === undefined) return message;
  return `${at.file === one ? "" : `${at.file}:`}${at.line}:${at.column} ${message}`;
}
