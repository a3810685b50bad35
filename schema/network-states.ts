import { byCodeUnit, IpamError, nodeNameOf, parseAddress } from "../core/index.ts";
import type { Findings } from "./findings.ts";
import { listedOwner } from "./listed-owner.ts";
import { asBag, type Bag, type LocatedObject } from "./objects.ts";
import { YamlDocument } from "./yaml.ts";

/*
 * The ConfigMap in which the clients of Metal3's IPAM study keep their network states: under the name of each network a
 * line `node: address` for each node. The study shows a mapping for a network, which no API server takes; as text it does.
 * A network is a pool of that name, and an owner that is no node is written Kind/name.
 */

/** Adds what the ConfigMap says. */
export function readNetworkStates({ object, at }: LocatedObject, found: Findings): void {
  const title = `ConfigMap ${asBag(object.metadata)?.name}`;
  for (const [pool, value] of Object.entries(asBag(object.data) ?? {})) {
    const place = at(["data", pool], typeof value === "string" ? value : pool);
    const refuse = (message: string) => {
      found.issues.push({ message: `${title}, ${pool}${message}`, at: place, hint });
    };
    found.speaks = true;
    const lines = typeof value === "string" ? linesOf(value) : asBag(value);
    if (lines === undefined) refuse(" is not text with a line `node: address` for each node");
    for (const [name, text] of Object.entries(lines ?? {})) {
      const [owner, address] = [listedOwner(name), parseAddress(text)];
      if (owner.issues !== undefined) refuse(`: ${owner.issues[0]?.message}`);
      else if (address.issues !== undefined) refuse(`, ${name}: ${address.issues[0]?.message}`);
      else found.uses.push({ address: address.value, owner: owner.value, pool, at: place });
    }
  }
}

const hint = "Give it that ConfigMap alone: kubectl get configmap NAME -o yaml.";

function linesOf(text: string): Bag | undefined {
  const { value, errors, traps } = new YamlDocument({ file: "", label: "", text, line: 1, column: 0 });
  return errors.length + traps.length > 0 ? undefined : asBag(value ?? {});
}

/** An address of a pool and its owner, as `formatOwner` writes it. */
export interface NetworkState {
  readonly pool: string;
  readonly owner: string;
  readonly address: string;
}

/** The ConfigMap, ready to be applied. Throws IpamError `invalid` where an owner has two addresses of one pool. */
export function networkStatesText(name: string, states: readonly NetworkState[]): string {
  const networks = [...Map.groupBy(states, ({ pool }) => pool)].sort(([a], [b]) => byCodeUnit(a, b));
  const data = networks.flatMap(([pool, list]) => [`  ${pool}: |`, ...networkLines(pool, list)]);
  const head = ["apiVersion: v1", "kind: ConfigMap", "metadata:", `  name: ${keyText(name)}`];
  return `${[...head, ...(data.length === 0 ? ["data: {}"] : ["data:", ...data])].join("\n")}\n`;
}

function networkLines(pool: string, states: readonly NetworkState[]): string[] {
  const sorted = [...states].sort((a, b) => byCodeUnit(a.owner, b.owner));
  return sorted.map(({ owner, address }, i) => {
    const other = sorted[i - 1];
    if (other?.owner === owner)
      throw new IpamError("invalid", `${owner} has ${other.address} and ${address} of pool ${pool}`, {
        hint: "This ConfigMap holds one for each node and network. Show another pool, or release one of them.",
      });
    return `    ${keyText(nodeNameOf(owner) ?? owner)}: ${address.includes(":") ? `"${address}"` : address}`;
  });
}

/** Quoted where a YAML parser, also an old one, would read a number or a truth. */
function keyText(text: string): string {
  const isWord = /^(?:y|yes|n|no|on|off|true|false|null)$/i.test(text);
  return /^[A-Za-z]/.test(text) && !isWord ? text : JSON.stringify(text);
}
