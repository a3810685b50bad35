import { advised, IpamError, type Issue, type Place } from "../core/index.ts";
import type { ManifestFinding } from "./audit-manifests.ts";
import { howToExpand } from "./unexpanded.ts";
import type { AddressValidationProps } from "./validation-props.ts";

/** The part of cdk8s-cli's `ValidationContext` that is used. */
export interface ValidationContext {
  readonly manifests: readonly string[];
  readonly report: {
    addViolation(violation: {
      ruleName: string;
      recommendation: string;
      fix: string;
      violatingResources: readonly { resourceName: string; locations: readonly string[]; manifestPath: string }[];
    }): void;
    submit(status: "success" | "failure", metadata?: { readonly [key: string]: string }): void;
  };
}

/**
 * A validation plugin for cdk8s.yaml: finds addresses in the synthesised manifests, whoever made them, that two
 * owners have, that their pool hands out to nobody, or that the record knows as somebody else's or not at all;
 * tokens that are no addresses yet, and policies that ask for some; and what the record has outside the pools.
 */
export class AddressValidation {
  private readonly props: AddressValidationProps;

  constructor(props: AddressValidationProps = {}) {
    this.props = props;
  }

  async validate({ manifests, report }: ValidationContext): Promise<void> {
    // Not at the top: whoever imports the package for something else does not pay for parsers.
    const { auditManifests } = await import("./audit-manifests.ts");
    try {
      const { checked, findings } = await auditManifests(manifests, this.props);
      reportFindings(findings, checked, report);
    } catch (error) {
      // cdk8s prints what is thrown with its stack, and no other report.
      if (!(error instanceof IpamError)) throw error;
      reportIssues(error, report);
    }
  }
}

function reportFindings(
  findings: readonly ManifestFinding[],
  checked: number,
  report: ValidationContext["report"],
): void {
  for (const { rule, message, at, manifest, resource } of findings)
    report.addViolation({
      ruleName: rule,
      recommendation: message,
      fix: fixes[rule],
      violatingResources: [{ resourceName: resource, locations: placesOf(at), manifestPath: manifest }],
    });
  report.submit(findings.length === 0 ? "success" : "failure", { "addresses checked": `${checked}` });
}

/** Why the manifests could not be looked at. */
function reportIssues({ code, issues }: IpamError, report: ValidationContext["report"]): void {
  for (const issue of issues)
    report.addViolation({
      ruleName: code,
      recommendation: issue.message,
      fix: advised(issue, "cdk8s").hint ?? "Mend it, and synthesise anew.",
      violatingResources: [resourceOf(issue)],
    });
  report.submit("failure");
}

function resourceOf({ at, path = [] }: Issue) {
  if (at !== undefined) return { resourceName: "", locations: placesOf(at), manifestPath: at.file };
  return {
    resourceName: "AddressValidation",
    locations: path.length === 0 ? [] : [path.join(".")],
    manifestPath: "cdk8s.yaml",
  };
}

const fixes: Readonly<Record<ManifestFinding["rule"], string>> = {
  duplicate: "Give one of them another address, or take both from a pool.",
  "out-of-pool": "Widen the pool's range, or give the claim another address.",
  excluded: "Take another address, or let the pool hand this one out.",
  leaked: "Release it: nodeippool release.",
  "unknown-owner": "Release it: nodeippool release.",
  stranger: "Take it from the pool with a claim, or keep it away from others: a reservation, or exclude.",
  "wrong-owner": "Write ippool://POOL/OWNER instead of the address, or run nodeippool allocate and synthesise anew.",
  unresolved:
    "Put the token into the object itself, not into a patch; call AddressPlan.configure(app) in an app that has no pool.",
  unexpanded: howToExpand,
  "wrong-interface": "Give it to the interface that the record says, or run nodeippool allocate and synthesise anew.",
  "no-record":
    "Correct lock in the properties of the validation, or record what the app claims; for a record in a cluster, say backend: kubernetes.",
  "wrong-prefix": "Write the prefix length of the pool.",
};

function placesOf(at: Place | undefined): string[] {
  return at === undefined ? [] : [`line ${at.line}, column ${at.column}`];
}
