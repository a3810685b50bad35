// What the seed proposal (nmstate/kubernetes-nmstate, design-proposals/discarded/host-ip-pool.md) shows, word for word.

export const seedPools = `apiVersion: nmstate.io/v1
kind: NodeIPPool
metadata:
  name: traffic-1
spec:
  range:
    cidr: 10.10.10.0/24
    start: 10.10.10.1
    end: 10.10.10.10
    exclude: ["10.10.10.4", "10.10.10.7"]
status:
  allocated-offsets: [0, 1, 2, 4, 5, 7]
  conditions:
  - type: Available
    status: True
    reason: ReconciledPool
    message: The pool is up to date
apiVersion: nmstate.io/v1
kind: NodeIPPool
metadata:
  name: traffic-2
spec:
  range:
    cidr: 10.10.11.0/24
    start: 10.10.11.1
    end: 10.10.10.11.10
    exclude: ["10.10.11.4", "10.10.11.7"]
status:
  allocated-offsets: [0, 1, 2, 4, 5, 7]
  conditions:
  - type: Available
    status: True
    reason: ReconciledPool
    message: The pool is up to date
`;

export const seedPolicy = `apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata:
  name: static-ip
capture:
    address-from-traffic-1: ippool.traffic-1.allocate
    address-from-traffic-2: ippool.traffic-2.allocate
desiredState:
    interfaces:
    - name: eth1
      type: ethernet
      state: up
      ipv4:
        address:
        - ip: "{{ capture.address-from-traffic-1.ip }}"
          prefix-length: "{{ capture.address-from-traffic-1.prefix-length }}"
        dhcp: false
        enabled: true
    - name: eth2
      type: ethernet
      state: up
      ipv4:
        address:
        - ip: "{{ capture.address-from-traffic-2.ip }}"
          prefix-length: "{{ capture.address-from-traffic-2.prefix-length }}"
        dhcp: false
        enabled: true
`;

export const seedEnactment = `apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationEnactment
metadata:
  name: static-ip.node01
status:
  desiredState:
    interfaces:
    - name: eth1
      type: ethernet
      state: up
      ipv4:
        address:
        - ip: 10.10.10.8
          prefix-length: 24
        dhcp: false
        enabled: true
    - name: eth2
      type: ethernet
      state: up
      ipv4:
        address:
        - ip: 10.10.11.9
          prefix-length: 24
        dhcp: false
        enabled: true
  capturedStates:
    address-from-traffic-1:
      ip: 10.10.10.8
      prefix-length: 24
    address-from-traffic-1:
      ip: 10.10.11.9
      prefix-length: 24
  ippool:
    traffic-1:
      allocated:
      - 10.10.10.8
    traffic-2:
      allocated:
      - 10.10.11.9
`;
