// The configuration in a program: one plan, one commit, and the objects to apply.
import { isNoop, lockfile, plan, unwrap } from "nodeippool";
import { type InfraSpec, infraClaims, infraObjects, parseInfra, poolsOf } from "nodeippool/metal3";

const spec: InfraSpec = {
  infra: { networks: { lan: { netmask: 24, addresses: ["10.20.0.10", "10.20.0.12"], gateway: "10.20.0.1" } } },
  controllers: {
    replicas: 1,
    hostSelector: { role: "controller" },
    networkConfig: [{ type: "interface", name: "em0", addresses: [{ ip_netmask: "{{ ip['lan'] }}" }] }],
    macMapping: { "node-0": { em0: "00:c8:7c:e6:f0:2e" } },
  },
};

const infra = unwrap(parseInfra(spec));
const state = lockfile("hosts.lock");
const made = plan({ pools: poolsOf(infra), claims: infraClaims(infra), snapshot: await state.read() });
const [open] = made.pending;
if (open !== undefined) throw new Error(`${open.claim}: ${open.message}`);
if (!isNoop(made)) await state.commit(made);

const objects = unwrap(infraObjects(infra, { snapshot: await state.read(), set: "default" }));
for (const { kind, metadata } of objects) console.log(`${kind} ${metadata.name}`);
