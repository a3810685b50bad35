import { App, Chart } from "cdk8s";
import { Construct } from "constructs";
import { claimKey, IpamError, type Issue, unwrap } from "../core/index.ts";
import { infraClaims } from "../integrations/metal3/claims.ts";
import { claimOn } from "../integrations/metal3/infra.ts";
import type { InfraSpec } from "../integrations/metal3/infra-spec.ts";
import { parseInfra } from "../integrations/metal3/parse-infra.ts";
import { didYouMean } from "../schema/nearest.ts";
import type { Bag } from "../schema/objects.ts";
import { AddressPlan } from "./address-plan.ts";
import { scheme } from "./address-token.ts";

/**
 * The bare-metal hosts of a configuration, as docs/bare-metal.md has it. Its networks are pools of the app's plan, and
 * each host claims its addresses; in the manifests are the objects that its `cluster` section asks for, in the namespace of
 * the chart where it names none.
 */
export class BareMetalHosts extends Construct {
  /** @internal */
  readonly object: Bag;
  private readonly claims: ReadonlySet<string>;

  /** Throws IpamError `invalid` with everything that is wrong with the configuration. */
  constructor(scope: Construct, id: string, spec: InfraSpec) {
    super(scope, id);
    const { path, scopes } = this.node;
    if (!scopes.some((one) => Chart.isChart(one)))
      throw new IpamError("invalid", `${path} must be in a chart: its hosts are objects of that`);
    const plan = AddressPlan.of(this);
    const other = App.of(this).node.findAll().find(isOther(this));
    if (other !== undefined)
      throw new IpamError("invalid", `${path}: ${other.node.path} has the bare-metal hosts of this app already`, {
        hint: "Put all networks and hosts into one, or into an App of its own with a claim set of its own.",
      });
    const document = inNamespace(JSON.parse(JSON.stringify(spec)), Chart.of(this).namespace);
    const { value, issues = [] } = parseInfra(document);
    const infra = unwrap(value === undefined ? { issues: issues.map((issue) => told(path, issue)) } : { value });
    this.claims = new Set(infraClaims(infra).map(({ owner, name }) => claimKey(owner, name)));
    this.object = { kind: "Infra", ...document };
    plan.addObject(this);
  }

  /**
   * A text that becomes the address of a host in a network, in any object of the app; with `#cidr` after it, the prefix
   * length stands behind it. The unit is `controllers`, or the name of a node pool. Throws IpamError `invalid` if the host
   * has none there.
   */
  addressOf(unit: string, host: string, network: string): string {
    const { owner, name } = claimOn(network, unit, host);
    const key = claimKey(owner, name);
    if (!this.claims.has(key))
      throw new IpamError("invalid", `${key} is no address of ${this.node.path}${didYouMean(key, this.claims)}`);
    return `${scheme}${network}/${key}`;
  }
}

function isOther(one: BareMetalHosts): (other: Construct) => boolean {
  return (other) => other instanceof BareMetalHosts && other !== one;
}

/** With the namespace of the chart, unless it says one itself. */
function inNamespace(document: { readonly cluster?: object }, namespace: string | undefined): Bag {
  return namespace === undefined ? document : { ...document, cluster: { namespace, ...document.cluster } };
}

/** An app has no places in files to tell: the construct, and the field. */
function told(construct: string, issue: Issue): Issue {
  const { path = [], message } = issue;
  return { ...issue, message: [construct, path.join("."), message].filter((part) => part !== "").join(": ") };
}
