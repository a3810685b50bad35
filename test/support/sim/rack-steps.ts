import { destinations, type Rack, type RackWorld } from "./rack-world.ts";

type Pick = (below: number) => number;

/** What people change, one at a time. `rack` is one of the racks. */
export const steps: Readonly<Record<string, (world: RackWorld, rack: Rack, pick: Pick) => unknown>> = {
  "moves to a rack": (world, rack) => {
    world.rack = rack.number;
  },
  "leaves its rack": (world) => {
    world.rack = 0;
  },
  "gets another route, or loses one": (_, rack, pick) => {
    const all = [...destinations.four, ...destinations.six];
    const destination = all[pick(all.length)] as string;
    const isThere = rack.routes[destination] !== undefined;
    rack.dropped = rack.dropped.filter((one) => one !== destination);
    if (isThere) rack.dropped.push(destination);
    if (isThere) delete rack.routes[destination];
    else rack.routes[destination] = "gateway";
  },
  "gets other next hops": (_, { routes }) => {
    for (const one of Object.keys(routes)) routes[one] = routes[one] === "gateway" ? "router" : "gateway";
  },
  "gets another gateway": (_, rack) => {
    rack.gateway = rack.gateway === 254 ? 253 : 254;
  },
  "gets another NIC": (_, rack, pick) => {
    const others = ["eth1", "eth2", "br1"].filter((nic) => nic !== rack.nic);
    rack.oldNic = rack.nic;
    rack.nic = others[pick(2)] as string;
  },
  "gets other families": (_, rack, pick) => {
    const others = [["four"], ["six"], ["four", "six"]] as const;
    rack.families = others.filter((one) => `${one}` !== `${rack.families}`)[pick(2)] ?? ["four"];
  },
  "gets another DNS server, or none": (_, rack, pick) => {
    rack.isDnsBeside = !rack.isDnsBeside;
    rack.dns = pick(3) === 0 ? [] : [`10.${rack.number}.0.${50 + pick(9)}`];
  },
  "has its policy renamed": (world, rack) =>
    world.rename(rack, rack.policy.endsWith("b") ? `rack-${rack.number}` : `rack-${rack.number}b`),
  "has its pool grown": (_, rack) => {
    rack.end += 1;
  },
  "has its subnet resized": (world, rack) => world.resize(rack),
};
