import { familyOf, type Issue, type Pool } from "../core/index.ts";
import { asBag } from "./objects.ts";
import type { Policy } from "./policy.ts";
import { isInterfaceAddress, type Reference, referencesIn } from "./template.ts";
import { asTruth } from "./truth.ts";
import type { Path } from "./yaml.ts";

/**
 * What a policy asks of its pools that they cannot give (a gateway that a pool does not have, an address of the other
 * family), and addresses that would come to nothing. The paths begin at the desired state.
 */
export function misfits(policy: Policy, pools: ReadonlyMap<string, Pool>): Issue[] {
  return referencesIn(policy.desiredState).flatMap(({ reference, path }): Issue[] => {
    const pool = pools.get(policy.captures.get(reference.capture)?.pool ?? "");
    const issue = pool === undefined ? undefined : misfit(policy, pool, reference, path);
    return issue === undefined ? [] : [{ ...issue, path }];
  });
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
  const [section] = path.slice(-4);
  if (section !== `ipv${family}`)
    return {
      message: `policy ${name} puts an address of pool ${pool.name} into ${section}, but the pool is IPv${family}`,
      hint: `Put it under ipv${family}, or take it from a pool of the other family.`,
    };
  const off = switchedOff(desiredState, path);
  return off === undefined
    ? undefined
    : {
        message: `policy ${name} puts an address of pool ${pool.name} where nmstate ignores it: beside ${off}`,
        hint: "Take one of them away.",
      };
}

/** What makes nmstate pass over an address list: measured with nmstatectl gc. Beside dhcp and autoconf it is in force. */
function switchedOff(desiredState: unknown, path: Path): string | undefined {
  const at = (path: Path) =>
    path.reduce<unknown>((value, key) => (value as Record<string | number, unknown>)[key], desiredState);
  if (asBag(at(path.slice(0, -4)))?.state === "absent") return "state: absent";
  return asTruth(asBag(at(path.slice(0, -3)))?.enabled) === false ? "enabled: false" : undefined;
}
