import {
  type Allocation,
  familyOf,
  formatAddress,
  IpamError,
  type Issue,
  nodeOwner,
  ownerOfKey,
  policyOfKey,
} from "../../core/index.ts";
import { hasTemplate } from "../../schema/template.ts";
import { addressList, listOf } from "./address-list.ts";
import { internalPortsOf, portOf, type Saying, type Speaker, sayingsOf, speaksFor } from "./speakers.ts";

/**
 * Throws `invalid` for every policy that would wipe what these lines put on a NIC: nmstate replaces the addresses of a
 * family as a whole, so whichever policy is applied last wins.
 */
export function refuseWiping(lines: readonly Allocation[], speakers: readonly Speaker[]): void {
  const placed = lines.filter((line) => line.interface !== undefined);
  const held = Map.groupBy(placed, listOf);
  const issues = new Map<string, Issue>();
  const internal = internalPorts(speakers);
  for (const speaker of speakers) {
    const wiping = sayingsOf(speaker.desiredState).filter(
      ({ wipes, nic }) => wipes !== undefined && !(wipes === portOf && internal.has(nic)),
    );
    for (const { name } of wiping.length === 0 ? [] : speaker.nodes)
      for (const saying of wiping) {
        const place = addressList(saying.family, saying.nic, nodeOwner(name));
        const there = held.get(place) ?? [];
        const [line] = there;
        if (line === undefined || speaksFor(speaker, line) || isSame(saying, there)) continue;
        const policy = policyOfKey(line.claim);
        const pair = JSON.stringify([policy, speaker.name]);
        if (!issues.has(pair))
          issues.set(pair, {
            message: `policies ${policy} and ${speaker.name} (${whatOf(saying)}) both set the ${place}; nmstate replaces the whole list`,
            hint: "Say all of one NIC in one policy.",
          });
      }
  }
  if (issues.size > 0) throw new IpamError("invalid", [...issues.values()]);
}

function internalPorts(speakers: readonly Speaker[]): ReadonlySet<string> {
  return new Set(speakers.flatMap(({ desiredState }) => internalPortsOf(desiredState)));
}

/** Does somebody write out the very addresses that the record has there? */
function isSame({ addresses }: Saying, lines: readonly Allocation[]): boolean {
  const given = new Set(addresses);
  return given.size === lines.length && lines.every(({ address }) => given.has(address));
}

function whatOf({ wipes, addresses }: Saying): string {
  const [first] = addresses ?? [];
  return first === undefined ? `${wipes}` : `address: ${formatAddress(first)}`;
}

/** What other policies set on the NICs of a node: clean-up leaves that to them. */
export class Neighbours {
  private readonly byNode = new Map<string, { readonly speaker: Speaker; readonly sayings: readonly Saying[] }[]>();

  constructor(speakers: readonly Speaker[]) {
    const internal = internalPorts(speakers);
    for (const speaker of speakers) {
      // Who turns a family or a NIC off wants what clean-up wants; IPv4 of a port may be turned off, too.
      const sayings = sayingsOf(speaker.desiredState).filter(
        ({ wipes, family, nic }) =>
          wipes !== "enabled: false" &&
          wipes !== "state: down" &&
          !(wipes === portOf && (family === 4 || internal.has(nic))),
      );
      for (const { name } of sayings.length === 0 ? [] : speaker.nodes) {
        const owner = nodeOwner(name);
        const there = this.byNode.get(owner) ?? [];
        there.push({ speaker, sayings });
        this.byNode.set(owner, there);
      }
    }
  }

  /** Why a releasing address is theirs to take off, if it is: by turning its family off, clean-up would wipe what they set. */
  whyLeft(line: Allocation): string | undefined {
    const { interface: nic } = line;
    if (nic === undefined) return undefined;
    const family = familyOf(line.address);
    const others = (this.byNode.get(ownerOfKey(line.claim)) ?? []).filter(({ speaker }) => !speaksFor(speaker, line));
    const said = others.flatMap(({ speaker: { name }, sayings }) =>
      sayings.filter((saying) => saying.family === family).map((saying) => ({ name, ...saying })),
    );
    const setter = said.find((one) => one.nic === nic);
    if (setter?.wipes === portOf) return `policy ${setter.name} makes ${nic} ${portOf}`;
    if (setter !== undefined) return `policy ${setter.name} sets the IPv${family} addresses of ${nic}`;
    const unsure = said.find((one) => hasTemplate(one.nic));
    return unsure === undefined
      ? undefined
      : `its NIC ${nic} may be the one that policy ${unsure.name} calls ${unsure.nic}`;
  }
}
