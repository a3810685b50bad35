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
  const message = `there is no backend ${value}${didYouMean(value, backends)}; there are: ${backends.join(", ")}`;
  return [{ message, path }];
}

function contradiction({ lock, backend, context, namespace }: AddressValidationProps): Issue[] {
  if (backend === "kubernetes" && lock !== undefined)
    return [
      {
        message: `the record is in a cluster (backend: kubernetes), or in ${lock}, but not in both`,
        path: ["properties", "lock"],
        hint: "Leave out one of the two.",
      },
    ];
  const stray = context === undefined ? (namespace === undefined ? undefined : "namespace") : "context";
  if (backend === "kubernetes" || stray === undefined) return [];
  const message = `${stray} of the validation says where in a cluster the record is`;
  return [{ message, path: ["properties", stray], hint: "Add backend: kubernetes." }];
}
