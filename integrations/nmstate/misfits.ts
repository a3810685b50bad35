import { bitsOf, contains, familyOf, type Issue, type Pool, parseAddress, whyNoHost } from "../../core/index.ts";
import { any, list, view } from "../../schema/shape.ts";
import { isInterfaceAddress, Reference, referencesIn } from "../../schema/template.ts";
import type { Path } from "../../schema/yaml.ts";
import { asDesiredState, asFamily, asListed, asNic } from "./objects.ts";
import type { Policy } from "./policy.ts";
import { portsIn } from "./ports.ts";
import { asNumber, asTruth } from "./truth.ts";

/**
 * What a policy asks of its pools that they cannot give (a gateway that a pool does not have, an address of the other
 * family), addresses that would come to nothing, and next hops that no host can have. The paths begin at the desired state.
 */
export function misfits(policy: Policy, pools: ReadonlyMap<string, Pool>): Issue[] {
  const poolOf = ({ capture }: Reference) => pools.get(policy.captures.get(capture)?.pool ?? "");
  const asked = [...policy.captures.values()].flatMap(({ pool }) => pools.get(pool) ?? []);
  const ofReferences = referencesIn(policy.desiredState).flatMap(({ reference, path }): Issue[] => {
    const pool = poolOf(reference);
    const issue = pool && (misfit(policy, pool, reference, path) ?? otherLength(policy, pool, reference, path, poolOf));
    return issue === undefined ? [] : [{ ...issue, path }];
  });
  return [...ofReferences, ...wrongHops(policy, asked)];
}

const asHop = view({ "next-hop-address": any });

/** Next hops that no host of a pool's subnet can have. */
function wrongHops({ name, desiredState }: Policy, pools: readonly Pool[]): Issue[] {
  return list(asHop)(asDesiredState(desiredState).routes.config).flatMap((route, i): Issue[] => {
    const hop = route["next-hop-address"];
    const address = typeof hop === "string" ? parseAddress(hop).value : undefined;
    if (address === undefined) return [];
    const subnets = pools.filter(({ prefix }) => contains([prefix], address));
    const [why, ...others] = subnets.map(({ prefix }) => whyNoHost(prefix, address));
    if (why === undefined || others.includes(undefined)) return [];
    const path = ["routes", "config", i, "next-hop-address"];
    return [{ message: `policy ${name}: next hop ${why}`, path, hint: "Write the address of the router." }];
  });
}

/** A prefix length, written out or of another pool, that is not the pool's. On `lo` an address may stand alone. */
function otherLength(
  { name, desiredState }: Policy,
  { name: pool, prefix }: Pool,
  { capture, field }: Reference,
  path: Path,
  poolOf: (reference: Reference) => Pool | undefined,
): Issue | undefined {
  if (!isInterfaceAddress(field, path)) return undefined;
  const { "prefix-length": written } = asListed(partOf(desiredState, path.slice(0, -1)));
  const { name: nic } = asNic(partOf(desiredState, path.slice(0, -4)));
  const given = written instanceof Reference ? poolOf(written)?.prefix.length : asNumber(written);
  const length = given ?? prefix.length;
  if (length === prefix.length || (nic === "lo" && length === bitsOf(familyOf(prefix.first)))) return undefined;
  return {
    message: `policy ${name} gives an address of pool ${pool} the prefix length ${length}, but the pool has /${prefix.length}`,
    hint: `Write prefix-length: "{{ capture.${capture}.prefix-length }}".`,
  };
}

function misfit(
  { name, desiredState }: Policy,
  pool: Pool,
  { capture, field }: Reference,
  path: Path,
): Issue | undefined {
  if (field === "gateway" && pool.gateway === undefined)
    return {
      message: `policy ${name} uses capture.${capture}.gateway, but pool ${pool.name} has no gateway`,
      hint: "Give the pool its gateway (spec.gateway), or write the address here.",
    };
  const family = familyOf(pool.prefix.first);
  const [outer, inner] = path.slice(-3);
  if (field === "ip" && inner === "address" && (outer === "ipv4" || outer === "ipv6"))
    return {
      message: `policy ${name}: address of ${outer} is a list, and capture.${capture} stands there without one`,
      hint: "Write - before ip: in YAML, and [ ] around it elsewhere.",
    };
  if (!isInterfaceAddress(field, path)) return undefined;
  const section = path.slice(0, -3).findLast((step) => typeof step === "string");
  if (path.at(-4) !== `ipv${family}`)
    return {
      message: `policy ${name} puts an address of pool ${pool.name} into ${section}, but the pool is IPv${family}`,
      hint: `Put it under ipv${family}, or take it from a pool of the other family.`,
    };
  const off = switchedOff(desiredState, path);
  if (off === undefined) return undefined;
  const message = `policy ${name} puts an address of pool ${pool.name} where nmstate ${off}`;
  const isOpen = off === withoutEnabled;
  return { message, hint: isOpen ? "Write enabled: true beside the list." : "Take one of them away." };
}

const withoutEnabled = "may ignore it: without enabled it keeps the NIC's own setting";

/** Returns what nmstate ignores in an address list, as measured with nmstatectl gc. Beside dhcp and autoconf a list is in force. */
function switchedOff(desiredState: unknown, path: Path): string | undefined {
  const { name, state, type } = asNic(partOf(desiredState, path.slice(0, -4)));
  if (state === "absent" || state === "ignore") return `ignores it: beside state: ${state}`;
  if (type === "ovs-bridge") return "ignores it: on type: ovs-bridge, not on its ovs-interface";
  if (typeof name === "string" && portsIn(desiredState).includes(name))
    return `refuses it: ${name} is a port of another interface there`;
  const { enabled } = asFamily(partOf(desiredState, path.slice(0, -3)));
  if (enabled === undefined || enabled === null) return withoutEnabled;
  return asTruth(enabled) === false ? "ignores it: beside enabled: false" : undefined;
}

function partOf(whole: unknown, path: Path): unknown {
  return path.reduce<unknown>((value, key) => Object(value)[key], whole);
}
