import { claimKey, formatAddress, type Issue, type Owner, parseAddress, unwrap } from "../../core/index.ts";
import type { Integration } from "../../integrations/contract/integration.ts";
import { asBag, type Bag, issueIn, type LocatedObject } from "../../schema/objects.ts";

interface Printer {
  readonly owner: Owner;
  readonly pool: string;
  readonly source: LocatedObject;
}

/** Is it an object of its kinds? */
export function isToy({ apiVersion }: Bag): boolean {
  return apiVersion === "toys.example.org/v1";
}

/** A foreign system in one file: each Printer gets an address of a pool, and a ConfigMap that says which. */
export const toy: Integration<readonly Printer[]> = {
  name: "toy",
  reads: [
    { group: "toys.example.org", kind: "Printer", plural: "printers", owns: isToy, mark: /\bpool\b/ },
    { group: "toys.example.org", kind: "Scanner", plural: "scanners", owns: () => false, mark: /(?!)/ },
  ],
  read: ({ owned }) => {
    const issues: Issue[] = [];
    const value = owned.map((source): Printer => {
      const { metadata, spec } = source.object;
      const { name, namespace } = asBag(metadata) ?? {};
      const owner = {
        kind: "Printer",
        name: `${name}`,
        ...(namespace === undefined ? {} : { namespace: `${namespace}` }),
      };
      const pool = asBag(spec)?.pool;
      if (typeof pool !== "string") issues.push(issueIn(source, { message: "a printer needs a pool", path: ["spec"] }));
      return { owner, pool: `${pool}`, source };
    });
    return issues.length > 0 ? { issues } : { value };
  },
  claims: (printers) => printers.map(({ owner, pool }) => ({ owner, name: "lan", pool })),
  isClaim: (claim) => claim.startsWith("Printer/"),
  render: (printers, _, { snapshot }) => ({
    instead: new Map(
      printers.map(({ owner: { kind: _, ...metadata }, owner, source }) => {
        const line = snapshot.allocations.find(({ claim }) => claim === claimKey(owner, "lan"));
        const data = { address: line === undefined ? "none" : formatAddress(line.address) };
        return [
          source,
          [{ apiVersion: "v1", kind: "ConfigMap", metadata: { ...metadata, name: `printer-${metadata.name}` }, data }],
        ];
      }),
    ),
    added: [],
    left: [],
  }),
  uses: [
    {
      kind: "Scanner",
      reader: () => (scanner, found) => {
        const { metadata, spec } = scanner.object;
        const ip = asBag(spec)?.ip;
        if (typeof ip !== "string") return;
        const owner = `Scanner/${asBag(metadata)?.name}`;
        found.uses.push({ address: unwrap(parseAddress(ip)), owner, at: scanner.at(["spec", "ip"], ip) });
      },
    },
  ],
};

/** Objects of its kinds, and a pool. */
export const toyObjects = {
  pool: {
    apiVersion: "nmstate.io/v1",
    kind: "NodeIPPool",
    metadata: { name: "office" },
    spec: { range: { cidr: "10.0.0.0/29" } },
  },
  printer: (name: string, namespace?: string) => ({
    apiVersion: "toys.example.org/v1",
    kind: "Printer",
    metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
    spec: { pool: "office" },
  }),
  scanner: (ip: string) => ({
    apiVersion: "toys.example.org/v1",
    kind: "Scanner",
    metadata: { name: "s" },
    spec: { ip },
  }),
};
