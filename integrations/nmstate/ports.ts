import { asBag, asList, type Bag } from "../../schema/objects.ts";

/**
 * The interfaces that a desired state makes ports of a bond, a bridge or a pair: those have no addresses of their own, and
 * in one state nmstate refuses both (nmstatectl gc). What is in a VRF keeps its addresses, so that a controller counts
 * only where the state says what it is; and so does an internal port of Open vSwitch.
 */
export function portsIn(desiredState: unknown): string[] {
  const entries = asList(asBag(desiredState)?.interfaces)
    .map(asBag)
    .filter((entry) => entry !== undefined);
  const namesOf = (isOfType: (type: unknown) => boolean) =>
    new Set(entries.filter(({ type }) => isOfType(type)).map(({ name }) => name));
  // A bridge of Open vSwitch and its internal port may have one name.
  const internal = namesOf((type) => type === "ovs-interface");
  const controllers = namesOf((type) => type !== undefined && type !== "vrf");
  return entries
    .flatMap((entry): unknown[] => {
      const { name, controller, hsr, state } = entry;
      if (state === "absent" || state === "ignore" || state === "down") return [];
      const { port1, port2 } = asBag(hsr) ?? {};
      return [...(controllers.has(controller) ? [name] : []), ...portsOf(entry), port1, port2];
    })
    .filter((name) => typeof name === "string")
    .filter((name) => !internal.has(name));
}

function portsOf(entry: Bag): unknown[] {
  const bridged = listOf(entry.bridge).map(asBag);
  return [
    ...bondedBy(entry),
    // A bond inside of a bridge of Open vSwitch is one of its ports.
    ...bridged.flatMap((port) => [port?.name, ...(port === undefined ? [] : bondedBy(port))]),
  ];
}

/** nmstate takes either name. */
function bondedBy(entry: Bag): unknown[] {
  const bond = entry["link-aggregation"] ?? entry.bond;
  const named = [...listOf(bond), ...asList(asBag(bond)?.["ports-config"])];
  return named.map((port) => asBag(port)?.name ?? port);
}

/** Both words for it are nmstate's. */
function listOf(section: unknown): unknown[] {
  const { port, ports } = asBag(section) ?? {};
  return [...asList(port), ...asList(ports)];
}
