import { readFileSync } from "node:fs";
import { join } from "node:path";
import { claimKey } from "../../../core/claim.ts";
import { type Address, emptySnapshot, formatIssue, plan, unwrap } from "../../../core/index.ts";
import { infraClaims, poolsOf } from "../../../integrations/metal3/claims.ts";
import { claimOn, type Infra, type Unit } from "../../../integrations/metal3/infra.ts";
import { parseInfra } from "../../../integrations/metal3/parse-infra.ts";
import { quoteInfra } from "../../../integrations/metal3/quote-infra.ts";
import { networksOf } from "../../../integrations/metal3/template.ts";
import { YamlDocument } from "../../../schema/yaml.ts";

/** A configuration of examples/metal3. */
export function exampleText(name: string): string {
  return readFileSync(join(import.meta.dirname, "../../../examples/metal3", name), "utf8");
}

/** Text as it stands in a file, as data. */
export function dataOf(text: string): unknown {
  return documentOf(text).value;
}

export function infraOf(text: string): Infra {
  return unwrap(parseInfra(dataOf(text)));
}

/** Everything that is wrong, with its place. */
export function issuesIn(text: string): string[] {
  const document = documentOf(text);
  return [...document.errors, ...(parseInfra(document.value).issues ?? [])].map((issue) =>
    formatIssue({ at: document.at(issue.path ?? []), ...issue }),
  );
}

function documentOf(text: string): YamlDocument {
  return new YamlDocument({ file: "f", label: "f", text, line: 1, column: 0 }, quoteInfra(text));
}

/** What an empty record gives each claim. */
export function allocated(infra: Infra): ReadonlyMap<string, Address> {
  const planned = plan({ pools: poolsOf(infra), claims: infraClaims(infra), snapshot: emptySnapshot });
  if (planned.pending.length > 0) throw new Error(`${planned.pending.length} claims got nothing`);
  return new Map(planned.assign.map(({ claim, address }) => [claim, address]));
}

/** The addresses of a host, by network. */
export function addressesOf(
  infra: Infra,
  unit: Unit,
  host: string,
  all = allocated(infra),
): ReadonlyMap<string, Address> {
  return new Map(
    networksOf(unit.networkConfig).map((network) => {
      const { owner, name } = claimOn(network, unit.name, host);
      return [network, all.get(claimKey(owner, name)) as Address];
    }),
  );
}
