import { IpamError, type Issue } from "../core/index.ts";
import { didYouMean } from "../schema/nearest.ts";

/** What `properties` of a validation in cdk8s.yaml may say. */
export interface AddressValidationProps {
  /**
   * Path of the lockfile.
   *
   * @default "nodeippool.lock"
   */
  readonly lock?: string;

  /**
   * Where the record is. With `kubernetes` there is no `lock`.
   *
   * @default "lockfile"
   */
  readonly backend?: "lockfile" | "kubernetes";

  /**
   * With the backend `kubernetes`: the context of the kubeconfig.
   *
   * @default - its current one
   */
  readonly context?: string;

  /**
   * With the backend `kubernetes`: the namespace of the record.
   *
   * @default - that of the context
   */
  readonly namespace?: string;

  /**
   * A file with NodeIPPool documents.
   *
   * @default - the pools among the manifests
   */
  readonly pools?: string;

  /**
   * A file with the nodes, as `kubectl get nodes` prints them; for clusters whose hostname labels are not node names.
   *
   * @default - a hostname label is taken for the name
   */
  readonly nodes?: string;
}

const names = [
  "lock",
  "backend",
  "context",
  "namespace",
  "pools",
  "nodes",
] as const satisfies readonly (keyof AddressValidationProps)[];
const backends = ["lockfile", "kubernetes"];

/** Throws IpamError `invalid` with all that cdk8s.yaml says and cannot mean; nothing else has looked at it. */
export function refuseProps(props: AddressValidationProps): void {
  const issues = [...Object.entries(props).flatMap(refusedEntry), ...contradiction(props)];
  if (issues.length > 0) throw new IpamError("invalid", issues);
}

function refusedEntry([name, value]: [string, unknown]): Issue[] {
  const path = ["properties", name];
  if (!names.some((known) => known === name))
    return [{ message: `the validation has no property ${name}${didYouMean(name, names)}`, path }];
  if (typeof value !== "string" || value === "") return [{ message: `${name} of the validation must be text`, path }];
  if (name !== "backend" || backends.includes(value)) return [];
  return [{ message: `there is no backend ${value}${didYouMean(value, backends)}`, path }];
}

/** `lock` is for the backend `lockfile`, `context` and `namespace` are for `kubernetes`. */
function contradiction({ backend = "lockfile", ...props }: AddressValidationProps): Issue[] {
  const others = backend === "kubernetes" ? (["lock"] as const) : (["context", "namespace"] as const);
  const hint = backend === "kubernetes" ? "Leave out one of the two." : "Add backend: kubernetes.";
  return others
    .filter((name) => props[name] !== undefined)
    .map((name) => ({ message: `${name} is not for the backend ${backend}`, path: ["properties", name], hint }));
}
