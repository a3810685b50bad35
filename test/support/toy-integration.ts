import { formatAddress, type Issue, parseAddress, unwrap } from "../../core/index.ts";
import type { Integration } from "../../integrations/integration.ts";
import { issueIn } from "../../schema/manifests.ts";
import { asBag, type LocatedObject } from "../../schema/objects.ts";

interface Printer {
  readonly name: string;
  readonly pool: string;
  readonly source: LocatedObject;
}

/** A foreign system in one file: each Printer gets an address of a pool, and a ConfigMap that says which. */
export const toy: Integration<readonly Printer[]> = {
  name: "toy",
  reads: [
    { group: "toys.example.org", kind: "Printer", plural: "printers", owns: () => true, mark: /\bpool\b/ },
    { group: "toys.example.org", kind: "Scanner", plural: "scanners", owns: () => false, mark: /(?!)/ },
  ],
  usedIn: ["Scanner"],
  read: ({ owned }) => {
    const issues: Issue[] = [];
    const value = owned.map((source): Printer => {
      const { metadata, spec } = source.object;
      const pool = asBag(spec)?.pool;
      if (typeof pool !== "string") issues.push(issueIn(source, { message: "a printer needs a pool", path: ["spec"] }));
      return { name: `${asBag(metadata)?.name}`, pool: `${pool}`, source };
    });
    return issues.length > 0 ? { issues } : { value };
  },
  claims: (printers) => printers.map(({ name, pool }) => ({ owner: { kind: "Printer", name }, name: "lan", pool })),
  render: (printers, _, { snapshot }) => ({
    instead: new Map(
      printers.map(({ name, source }) => {
        const line = snapshot.allocations.find(({ claim }) => claim === `Printer/${name}/lan`);
        const data = { address: line === undefined ? "none" : formatAddress(line.address) };
        return [source, [{ apiVersion: "v1", kind: "ConfigMap", metadata: { name: `printer-${name}` }, data }]];
      }),
    ),
    added: [],
    left: [],
  }),
  uses: () => (scanner, found) => {
    const { kind, metadata, spec } = scanner.object;
    const ip = asBag(spec)?.ip;
    if (kind !== "Scanner" || typeof ip !== "string") return;
    const owner = `Scanner/${asBag(metadata)?.name}`;
    found.uses.push({ address: unwrap(parseAddress(ip)), owner, at: scanner.at(["spec", "ip"], ip) });
  },
};

/** Objects of its kinds, and a pool. */
export const toyObjects = {
  pool: {
    apiVersion: "nmstate.io/v1",
    kind: "NodeIPPool",
    metadata: { name: "office" },
    spec: { range: { cidr: "10.0.0.0/29" } },
  },
  printer: (name: string) => ({
    apiVersion: "toys.example.org/v1",
    kind: "Printer",
    metadata: { name },
    spec: { pool: "office" },
  }),
  scanner: (ip: string) => ({
    apiVersion: "toys.example.org/v1",
    kind: "Scanner",
    metadata: { name: "s" },
    spec: { ip },
  }),
};
