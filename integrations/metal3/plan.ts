import { type Claim, claimKey, IpamError, type Issue, type Place } from "../../core/index.ts";
import type { SourceObject } from "../../schema/manifest-document.ts";
import { issueIn } from "../../schema/objects.ts";
import type { Holdings, Integration, Left, Rendered } from "../contract/integration.ts";
import { type ReadObject, readEach } from "../contract/read-each.ts";
import { infraClaims } from "./claims.ts";
import { isInexpressible } from "./inexpressible.ts";
import { aliasesOfHost, hostOfClaim, hostPath, type Infra, networkPath } from "./infra.ts";
import { infraObjects } from "./infra-objects.ts";
import { nameConflicts } from "./name-conflicts.ts";
import { osNetConfigFiles } from "./os-net-config-files.ts";
import { noCluster } from "./parse-cluster.ts";
import { parseInfra } from "./parse-infra.ts";
import { quoteInfra } from "./quote-infra.ts";
import { networkDataKind, usesOfInfra, usesOfSecret } from "./uses.ts";

/** Configurations of bare-metal clusters, each with the document that it was read from. */
export type Metal3Model = readonly ReadObject<Infra>[];

/** Metal3: each host of a configuration gets its addresses, and its network configuration with them. */
export const metal3: Integration<Metal3Model> = {
  name: "metal3",
  reads: [
    {
      group: "",
      kind: "Infra",
      plural: "",
      owns: ({ kind, apiVersion }) => kind === "Infra" && apiVersion === undefined,
      mark: /(?!)/,
      nameless: { field: "infra", quote: quoteInfra },
    },
  ],
  read: ({ owned }) => readEach(owned, ({ kind: _, ...document }) => parseInfra(document)),
  pools: (model) =>
    model.flatMap(({ value, source }) =>
      [...value.networks].map(([name, { pool, spec }]) => ({
        pool,
        spec,
        at: source.at(networkPath(name), name, "key"),
      })),
    ),
  claims: (model) =>
    model.flatMap(({ value, source }) =>
      infraClaims(value).map((claim) => ({ ...claim, at: () => placeOfHost(source, claim) })),
    ),
  isClaim: (claim) => claim.startsWith("Host/"),
  render: renderInfra,
  uses: [
    { kind: networkDataKind, marks: ["networkData"], reader: () => usesOfSecret },
    { kind: "Infra", marks: [], reader: () => usesOfInfra },
  ],
  conflicts: (model, _, __, holdings) => nameConflicts(model, holdings),
  formats: [
    {
      name: "os-net-config",
      files: (model, holdings) => model.flatMap(({ value }) => osNetConfigFiles(value, holdings)),
    },
  ],
  aliases: (owner) => ({ names: aliasesOfHost(owner) }),
  explain: { freeOnce: "its host is deprovisioned (kubectl get bmh -A), or off for good" },
};

function placeOfHost({ at }: SourceObject, { owner, name }: Claim): Place {
  const { unit = "", host = "" } = hostOfClaim(claimKey(owner, name)) ?? {};
  return at(hostPath(unit, host), host, "key");
}

/**
 * Renders the objects of each configuration in its place. A configuration without `cluster`, which selects these objects, may be for
 * the files of os-net-config alone.
 */
function renderInfra(model: Metal3Model, _: unknown, holdings: Holdings): Rendered {
  const issues: Issue[] = [];
  const inexpressible: Issue[] = [];
  const instead = new Map(
    model.map(({ value: infra, source }) => {
      const { value = [], issues: found = [] } = infraObjects(infra, holdings);
      const mayBeFiles = infra.cluster === noCluster && found.every(isInexpressible);
      (mayBeFiles ? inexpressible : issues).push(...found.map((issue) => issueIn(source, issue)));
      return [source, value] as const;
    }),
  );
  if (issues.length > 0) throw new IpamError("invalid", issues);
  const { snapshot, set } = holdings;
  const left = snapshot.releasing.filter((line) => line.set === set).map((line): Left => ({ line, why: noHost }));
  return { instead, added: [], left, inexpressible };
}

const noHost = "nothing is written for it any more";
