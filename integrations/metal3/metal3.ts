import { type Address, claimKey, IpamError, type Issue, type Snapshot } from "../../core/index.ts";
import type { SourceObject } from "../../schema/manifest-document.ts";
import { issueIn } from "../../schema/objects.ts";
import type { Holdings, Integration, Left, Rendered, RenderedObject } from "../integration.ts";
import { type ReadObject, readEach } from "../read-each.ts";
import { infraClaims, poolsOf } from "./claims.ts";
import { hostObjects } from "./host-objects.ts";
import { claimOn, type Host, type Infra, titleOfHost, type Unit } from "./infra.ts";
import { parseInfra } from "./parse-infra.ts";
import { quoteInfra } from "./quote-infra.ts";
import { networksOf } from "./template.ts";

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
      nameless: { like: /^infra:/m, quote: (text) => quoteInfra(text).text },
    },
  ],
  usedIn: [],
  read: ({ owned }) => readEach(owned, ({ kind: _, ...document }) => parseInfra(document)),
  pools: (model) => model.flatMap(({ value }) => poolsOf(value)),
  claims: (model) => model.flatMap(({ value }) => infraClaims(value)),
  isClaim: (claim) => claim.startsWith("Host/"),
  render: renderHosts,
  uses: () => () => {},
};

/** For each host a Secret with its network data, and what its BareMetalHost has of it. */
function renderHosts(model: Metal3Model, _: unknown, { snapshot, set }: Holdings): Rendered {
  const lines = addressesOf(snapshot, set);
  const issues: Issue[] = [];
  const objectsOf = (infra: Infra, unit: Unit, host: Host, source: SourceObject): RenderedObject[] => {
    const { value = [], issues: found = [] } = hostObjects(infra, unit, host, held(unit, host, lines), {});
    issues.push(...found.map((issue) => issueIn(source, issue)));
    return value;
  };
  const instead = new Map(
    model.map(({ value: infra, source }) => [
      source,
      infra.units.flatMap((unit) => unit.hosts.flatMap((host) => objectsOf(infra, unit, host, source))),
    ]),
  );
  if (issues.length > 0) throw new IpamError("invalid", issues);
  const left = snapshot.releasing.filter((line) => line.set === set).map((line): Left => ({ line, why: noHost }));
  return { instead, added: [], left };
}

const noHost = "nothing is written for it any more";

/** The address of each claim of a set, by its key. */
function addressesOf({ allocations }: Snapshot, set: string): ReadonlyMap<string, Address> {
  return new Map(allocations.filter((line) => line.set === set).map(({ claim, address }) => [claim, address]));
}

/** The addresses of a host, by network. Throws `stale` if the record lacks one. */
function held({ name: unit, networkConfig }: Unit, { name: host }: Host, lines: ReadonlyMap<string, Address>) {
  return new Map(
    networksOf(networkConfig).map((network) => {
      const { owner, name } = claimOn(network, unit, host);
      const address = lines.get(claimKey(owner, name));
      if (address === undefined)
        throw new IpamError("stale", `no address is recorded for ${titleOfHost(unit, host)} in network ${network}`);
      return [network, address] as const;
    }),
  );
}
