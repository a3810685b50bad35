/** Pool p, with more fields of its range. */
export const pool = (more = "") =>
  `apiVersion: nmstate.io/v1\nkind: NodeIPPool\nmetadata: {name: p}\nspec: {range: {cidr: 10.0.0.0/24${more}}}\n`;

/** Policy pol: one address of pool p on eth1 of every node. */
export const policy = `apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata: {name: pol}
spec:
  capture: {a: ippool.p.allocate}
  desiredState:
    interfaces:
      - {name: eth1, type: ethernet, ipv4: {enabled: true, address: [{ip: "{{ capture.a.ip }}", prefix-length: "{{ capture.a.prefix-length }}"}]}}
`;
