import { IpamError } from "../../core/index.ts";
import { refusalOf } from "../../kube/index.ts";
import { labelOf, unlabelled } from "./lost-maps.ts";

/** Reports whether the server refuses what an object is to be, and will refuse it until somebody changes something. */
export function isRefused(error: unknown): error is IpamError {
  const status = refusalOf(error)?.status ?? 0;
  return isTaken(error) || (status >= 400 && status < 500 && ![401, 404, 409, 429].includes(status));
}

/** Reports whether there is an object of that name that is not of the record. */
export function isTaken(error: unknown): error is IpamError {
  return refusalOf(error)?.reason === "AlreadyExists";
}

/** The error for an object of the record that the server does not take. */
export function refusedWrite(name: string, namespace: string, error: IpamError): IpamError {
  const { code, cause } = error;
  if (isTaken(error)) return unlabelled(name, namespace);
  const server = refusalOf(error)?.message;
  return new IpamError(code, `${labelOf(name, namespace)} cannot be written: ${server}`, {
    cause,
    hint: "Find what refuses it: a quota, an admission webhook or policy, a role, or `immutable: true`. Once it is allowed, it is written.",
  });
}
