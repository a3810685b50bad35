import { asBag, asList, type Bag } from "../../../schema/objects.ts";

/** A pool of the addresses .1 to .`last` of 10.0.`net`.0/24. */
export function pool(name: string, net: number, last: number): Bag {
  const range = { cidr: `10.0.${net}.0/24`, start: `10.0.${net}.1`, end: `10.0.${net}.${last}` };
  return { apiVersion: "nmstate.io/v1", kind: "NodeIPPool", metadata: { name }, spec: { range } };
}

/** A policy that gives each worker an address of a pool on a NIC. */
export function policy(name: string, from: string, nic = "eth1", more: object = {}): Bag {
  const address = [{ ip: "{{ capture.address.ip }}", "prefix-length": "{{ capture.address.prefix-length }}" }];
  const ipv4 = { enabled: true, dhcp: false, address };
  return {
    apiVersion: "nmstate.io/v1",
    kind: "NodeNetworkConfigurationPolicy",
    metadata: { name },
    spec: {
      nodeSelector: { role: "worker" },
      capture: { address: `ippool.${from}.allocate` },
      desiredState: { interfaces: [{ name: nic, type: "ethernet", state: "up", ipv4 }] },
      ...more,
    },
  };
}

/** A policy that gives each worker an address of a first pool on one NIC, and one of a second pool on another NIC. */
export function policyOfTwo(name: string, first: string, second: string, [nic, next] = ["eth1", "eth2"]): Bag {
  const one = policy(name, first, nic);
  const spec = asBag(one.spec);
  const interfaces = asList(asBag(spec?.desiredState)?.interfaces);
  const address = [{ ip: "{{ capture.other.ip }}", "prefix-length": "{{ capture.other.prefix-length }}" }];
  const other = { name: next, type: "ethernet", state: "up", ipv4: { enabled: true, dhcp: false, address } };
  const capture = { ...asBag(spec?.capture), other: `ippool.${second}.allocate` };
  return { ...one, spec: { ...spec, capture, desiredState: { interfaces: [...interfaces, other] } } };
}
