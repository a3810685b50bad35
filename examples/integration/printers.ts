// An integration of one's own: each Printer of a folder gets an address of a pool, and a ConfigMap that has it.
import { readFileSync } from "node:fs";
import { formatAddress, lockfile } from "nodeippool";
import { type Integration, readDesired, readFolder, renderFolder, runOnce } from "nodeippool/pipeline";
import type { SourceObject } from "nodeippool/schema";

type Printers = readonly { readonly name: string; readonly pool: string; readonly source: SourceObject }[];

const printers: Integration<Printers> = {
  name: "printers",
  reads: [{ group: "example.org", kind: "Printer", plural: "printers", owns: () => true, mark: /kind: Printer/ }],
  read: ({ owned }) => ({
    value: owned.map((source) => {
      const { metadata, spec } = source.object as { metadata: { name: string }; spec: { pool: string } };
      return { name: metadata.name, pool: spec.pool, source };
    }),
  }),
  claims: (model) => model.map(({ name, pool }) => ({ owner: { kind: "Printer", name }, name: "lan", pool })),
  isClaim: (claim) => claim.startsWith("Printer/"),
  render: (model, _, { snapshot }) => ({
    instead: new Map(
      model.map(({ name, source }) => {
        const line = snapshot.allocations.find(({ claim }) => claim === `Printer/${name}/lan`);
        const data = { address: line ? formatAddress(line.address) : "" };
        return [source, [{ apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data }]];
      }),
    ),
    added: [],
    left: [],
  }),
  uses: [],
};

const path = "manifests/printers.yaml";
const files = [{ path, text: readFileSync(path, "utf8") }];
const manifests = readFolder(files, [printers]);
const read = () => readDesired(manifests, [printers]);
const { rendered } = await runOnce(read, lockfile("nodeippool.lock"), { set: "printers" });
for (const { text } of renderFolder(files, manifests, rendered())) console.log(text);
