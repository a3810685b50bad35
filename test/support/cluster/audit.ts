import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A request that wrote something, as the API server logged it. */
export interface AuditedWrite {
  readonly time: Date;
  readonly verb: string;
  /** For example `nodenetworkconfigurationpolicies/status static-ip`. */
  readonly object: string;
}

interface Entry {
  readonly requestReceivedTimestamp: string;
  readonly verb: string;
  readonly user: { readonly username: string };
  readonly objectRef?: { readonly resource: string; readonly subresource?: string; readonly name?: string };
}

const verbs = new Set(["create", "update", "patch", "delete", "deletecollection"]);

/** Flags of an API server that logs its requests into this folder. */
export function auditFlags(folder: string): string[] {
  const policy = join(folder, "audit-policy.json");
  const rules = [{ level: "Metadata", verbs: [...verbs] }, { level: "None" }];
  const omitStages = ["RequestReceived"];
  writeFileSync(policy, JSON.stringify({ apiVersion: "audit.k8s.io/v1", kind: "Policy", omitStages, rules }));
  return [`--audit-policy-file=${policy}`, `--audit-log-path=${logIn(folder)}`];
}

/** What a user wrote so far. */
export function writesOf(user: string, folder: string): AuditedWrite[] {
  const lines = existsSync(logIn(folder)) ? readFileSync(logIn(folder), "utf8").trim().split("\n") : [];
  return lines
    .map((line): Entry => JSON.parse(line))
    .filter((entry) => entry.user.username === user && verbs.has(entry.verb))
    .map(({ requestReceivedTimestamp, verb, objectRef: { resource, subresource, name } = { resource: "" } }) => ({
      time: new Date(requestReceivedTimestamp),
      verb,
      object: `${[resource, subresource].filter(Boolean).join("/")} ${name ?? ""}`,
    }));
}

function logIn(folder: string): string {
  return join(folder, "audit.log");
}
