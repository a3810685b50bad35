import { type Issue, listed, type Parsed } from "../../core/index.ts";
import { didYouMean } from "../../schema/nearest.ts";
import { asBag, type Bag } from "../../schema/objects.ts";
import type { Path } from "../../schema/yaml.ts";
import type { ClusterApiVersion } from "../contract/cluster-api.ts";
import type { Cluster } from "./cluster.ts";
import { labelIssue } from "./parse-unit.ts";

/** What a configuration without a cluster section means. */
export const noCluster: Cluster = { mode: "hosts", apiVersion: "v1beta2" };

/**
 * Reads the cluster section. All issues, with their paths inside it.
 *
 *  field                                   | hosts | machines | pools
 *  ----------------------------------------+-------+----------+------
 *  name                                    | may   | must     | must
 *  namespace                               | may   | may      | may
 *  apiVersion                              | may   | may      | never
 *  image                                   | never | must     | never
 *  version, network, kubeadmConfig         | never | may      | never
 */
export function parseCluster(value: unknown): Parsed<Cluster> {
  const reader = new ClusterReader();
  const cluster = reader.cluster(asBag(value));
  return reader.issues.length > 0 ? { issues: reader.issues } : { value: cluster };
}

const common = ["mode", "name", "namespace"];
const machineFields = ["image", "version", "network", "kubeadmConfig"];
const fieldsOf = {
  hosts: [...common, "apiVersion"],
  machines: [...common, "apiVersion", ...machineFields],
  pools: common,
};
const needed = { hosts: [], machines: ["name", "image"], pools: ["name"] };
const modes = ["hosts", "machines", "pools"] as const;

class ClusterReader {
  readonly issues: Issue[] = [];

  cluster(bag: Bag | undefined): Cluster {
    if (bag === undefined) {
      this.fail(`cluster has the fields ${fieldsOf.machines.join(", ")}`, []);
      return noCluster;
    }
    const mode = this.oneOf(bag, "mode", modes);
    for (const field of Object.keys(bag)) this.checkField(field, mode);
    for (const field of mode === undefined ? [] : needed[mode])
      if (bag[field] === undefined) this.fail(`${field} is missing: mode ${mode} needs it`, []);
    const apiVersion = this.oneOf(bag, "apiVersion", ["v1beta2", "v1beta1"]) ?? "v1beta2";
    const [clusterName, namespace] = [this.label(bag, "name"), this.label(bag, "namespace")];
    const network = this.oneOf(bag, "network", ["network-data", "os-net-config"]) ?? "network-data";
    const image = this.image(bag.image, apiVersion);
    const version = this.version(bag.version);
    const kubeadmConfig = this.kubeadmConfig(bag.kubeadmConfig);
    const inNamespace = namespace === undefined ? {} : { namespace };
    if (mode === "pools") return { mode, clusterName: clusterName ?? "", ...inNamespace };
    if (mode !== "machines")
      return { mode: "hosts", apiVersion, ...(clusterName === undefined ? {} : { clusterName }), ...inNamespace };
    const given = {
      ...(version === undefined ? {} : { version }),
      ...(kubeadmConfig === undefined ? {} : { kubeadmConfig }),
    };
    return { mode, apiVersion, clusterName: clusterName ?? "", ...inNamespace, network, image, ...given };
  }

  /** Refuses an unknown field, and a field of another mode, whose message names the modes that have it. */
  private checkField(field: string, mode: Cluster["mode"] | undefined): void {
    const known = mode === undefined ? fieldsOf.machines : fieldsOf[mode];
    if (known.includes(field)) return;
    const others = modes.filter((one) => fieldsOf[one].includes(field));
    if (others.length === 0) this.fail(`unknown field ${field}${didYouMean(field, known)}`, [field]);
    else if (field === "apiVersion") this.fail(onlyV1beta1, [field], "Leave it out.");
    else this.fail(`${field} is for mode ${listed(others)}, and this one is ${mode}`, [field]);
  }

  /** The default is the first one; undefined for what is none of them. */
  private oneOf<T extends string>(bag: Bag, field: string, choices: readonly T[]): T | undefined {
    const value = bag[field];
    const chosen = value === undefined ? choices[0] : choices.find((one) => one === value);
    if (chosen === undefined)
      this.fail(`${field} is one of ${listed(choices)}${didYouMean(`${value}`, choices)}`, [field]);
    return chosen;
  }

  private label(bag: Bag, field: string): string | undefined {
    const value = bag[field];
    if (value === undefined) return undefined;
    const issue = typeof value === "string" ? labelIssue(value) : `${field} must be text`;
    if (issue !== undefined) this.fail(issue, [field]);
    return `${value}`;
  }

  /** What Metal3's provider admits; it takes no machine without one. */
  private image(value: unknown, apiVersion: ClusterApiVersion): Bag {
    if (value === undefined) return {};
    const format = { v1beta1: "format", v1beta2: "diskFormat" };
    const known = ["url", "checksum", "checksumType", format[apiVersion]];
    const bag = asBag(value);
    if (bag === undefined) this.fail(`image has the fields ${known.join(", ")}`, ["image"]);
    for (const [field, text] of Object.entries(bag ?? {}))
      if (Object.values(format).includes(field) && !known.includes(field))
        this.fail(`${apiVersion} calls ${field} ${format[apiVersion]}`, ["image", field]);
      else if (!known.includes(field)) this.fail(`unknown field ${field}${didYouMean(field, known)}`, ["image", field]);
      else if (typeof text !== "string") this.fail(`${field} must be text`, ["image", field]);
    for (const field of ["url", "checksum"])
      if (bag !== undefined && bag[field] === undefined) this.fail(`${field} is missing`, ["image"]);
    return bag ?? {};
  }

  private version(value: unknown): string | undefined {
    if (value === undefined) return undefined;
    if (typeof value === "string" && /^v\d+\.\d+\.\d+([-+][\w.+-]+)?$/.test(value)) return value;
    return this.fail("version is that of Kubernetes: v1.36.3", ["version"]);
  }

  private kubeadmConfig(value: unknown): Bag | undefined {
    if (value === undefined) return undefined;
    const bag = asBag(value);
    if (bag === undefined) return this.fail("kubeadmConfig is the spec of a KubeadmConfig", ["kubeadmConfig"]);
    for (const field of ["files", "preKubeadmCommands"])
      if (bag[field] !== undefined && !Array.isArray(bag[field]))
        this.fail(`${field} must be a list`, ["kubeadmConfig", field]);
    return bag;
  }

  private fail(message: string, path: Path, hint?: string): undefined {
    this.issues.push({ message, path, ...(hint === undefined ? {} : { hint }) });
  }
}

/** The bonds of v1beta2 must have parameters, and those may be no texts. */
const onlyV1beta1 = "the template of mode pools is of v1beta1 always, which newer releases serve too";
