import { asDesiredState, asPort, asPorts, type Nic } from "./objects.ts";

/**
 * The interfaces that a desired state makes ports of a bond, a bridge or a pair: those have no addresses of their own, and
 * in one state nmstate refuses both (nmstatectl gc). What is in a VRF keeps its addresses, so that a controller counts
 * only where the state says what it is; and so does an internal port of Open vSwitch.
 */
export function portsIn(desiredState: unknown): string[] {
  const entries = asDesiredState(desiredState).interfaces;
  const namesOf = (isOfType: (type: unknown) => boolean) =>
    new Set(entries.filter(({ type }) => isOfType(type)).map(({ name }) => name));
  // A bridge of Open vSwitch and its internal port may have one name.
  const internal = namesOf((type) => type === "ovs-interface");
  const controllers = namesOf((type) => type !== undefined && type !== "vrf");
  return entries
    .flatMap((entry): unknown[] => {
      const { name, controller, hsr, state } = entry;
      if (state === "absent" || state === "ignore" || state === "down") return [];
      return [...(controllers.has(controller) ? [name] : []), ...portsOf(entry), hsr.port1, hsr.port2];
    })
    .filter((name) => typeof name === "string")
    .filter((name) => !internal.has(name));
}

function portsOf(entry: Nic): unknown[] {
  const { port, ports } = entry.bridge;
  const bridged = [...port, ...ports].map((one) => asPort(one));
  // A bond inside of a bridge of Open vSwitch is one of its ports.
  return [...bondedBy(entry), ...bridged.flatMap((one) => [one.name, ...bondedBy(one)])];
}

/** nmstate takes either name. */
function bondedBy(entry: Pick<Nic, "link-aggregation" | "bond">): unknown[] {
  const { port, ports, "ports-config": configured } = asPorts(entry["link-aggregation"] ?? entry.bond);
  return [...port, ...ports, ...configured].map((one) => asPort(one).name ?? one);
}
