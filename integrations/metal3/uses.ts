import { parseAddress, parseOwner } from "../../core/index.ts";
import { type Findings, useOf } from "../../schema/findings.ts";
import { asBag, type Bag, type LocatedObject } from "../../schema/objects.ts";
import { YamlDocument } from "../../schema/yaml.ts";
import { ownerIn } from "./object-parts.ts";
import { asData, asNetworkData } from "./objects.ts";
import { lengthOfMask } from "./pool-objects.ts";

/** The kind of object that network data is in. */
export const networkDataKind = "Secret";

/** Adds each ip_address in the network data of a Secret, with its link, for the owner in its label; without an owner if it has no label. */
export function usesOfSecret({ object, at }: LocatedObject, found: Findings): void {
  const { field, raw, text } = networkDataOf(object) ?? {};
  if (field === undefined || raw === undefined || text === undefined) return;
  found.speaks = true;
  const whole = at([field, "networkData"], raw);
  const document = new YamlDocument({ file: whole.file, label: whole.file, text, line: 1, column: 0 });
  const labelled = ownerIn(object);
  const owner = labelled !== undefined && parseOwner(labelled).value !== undefined ? labelled : undefined;
  const issues = owner === undefined ? found.unreadable : found.issues;
  const data = asBag(document.value);
  if (data === undefined) issues.push({ message: "this network data cannot be read", at: whole });
  asNetworkData(data).networks.forEach((network, i) => {
    if (network.ip_address === undefined) return;
    const { line } = document.at(["networks", i, "ip_address"]);
    const place = at([field, "networkData", line - 1], "");
    const { value: address, issues: wrong = [] } = parseAddress(network.ip_address);
    issues.push(...wrong.map((issue) => ({ ...issue, at: place })));
    if (address === undefined) return;
    const { link, network_id, netmask } = network;
    found.uses.push({
      ...useOf(address, owner, typeof link === "string" ? link : undefined, place),
      ...(owner === undefined || typeof network_id !== "string" ? {} : { pool: network_id }),
      ...(parseAddress(netmask).value === undefined ? {} : { prefixLength: lengthOfMask(`${netmask}`) }),
    });
  });
}

/** Returns the network data of a Secret, from `stringData` in a manifest or from `data` of an API server. */
function networkDataOf(secret: Bag) {
  const { stringData, data } = asData(secret);
  const written = stringData.networkData;
  if (typeof written === "string") return { field: "stringData", raw: written, text: written };
  const encoded = data.networkData;
  if (typeof encoded !== "string") return undefined;
  return { field: "data", raw: encoded, text: Buffer.from(encoded, "base64").toString() };
}

/** Adds the addresses that a configuration (`infra`) names, as addresses that no owner has. */
export function usesOfInfra({ object }: LocatedObject, found: Findings): void {
  for (const text of textsIn(object.infra)) {
    const address = parseAddress(text).value;
    if (address !== undefined) found.idle.add(address);
  }
}

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
