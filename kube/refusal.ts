import { IpamError } from "../core/index.ts";
import { type ApiRequest, type Reply, Unanswered } from "./transport.ts";

/** What an API server answers instead of an object; the `cause` of an IpamError that came of it. */
export class Refusal extends Error {
  readonly status: number;
  /** Kubernetes' word, for example AlreadyExists and Conflict, which share a status; empty from anything else. */
  readonly reason: string;
  /** What it is about, if the server says so. */
  readonly about: { readonly kind?: string; readonly name?: string };
  /** How long the server wants to be left alone, in milliseconds. */
  readonly pause: number;

  constructor({ status, headers, body }: Reply) {
    const parsed = parseStatus(body);
    super(parsed.message ?? `HTTP ${status}: ${body.slice(0, 200).trim()}`);
    this.status = status;
    this.reason = parsed.reason ?? "";
    this.about = parsed.details ?? {};
    this.pause = 1000 * (Number(headers["retry-after"]) || 0);
  }
}

/** Why the server refused, if it was the server that did. */
export function refusalOf(error: unknown): Refusal | undefined {
  const cause = error instanceof IpamError ? error.cause : error;
  return cause instanceof Refusal ? cause : undefined;
}

function parseStatus(body: string): { message?: string; reason?: string; details?: Refusal["about"] } {
  try {
    const status = JSON.parse(body);
    return status?.kind === "Status" ? status : {};
  } catch {
    return {};
  }
}

/** How long to wait before the same request may be sent again; undefined if that cannot help, or could do it twice. */
export function pauseBeforeRepeat({ method }: ApiRequest, error: unknown): number | undefined {
  const isRead = method === "GET";
  if (error instanceof Unanswered)
    return (isRead || !error.isSent) && !isHopeless(error.cause.code ?? "") ? 0 : undefined;
  if (!(error instanceof Refusal)) return undefined;
  // A server that says 429 has not begun.
  return error.status === 429 || (isRead && error.status >= 500) ? error.pause : undefined;
}

/** No such host, a certificate that nobody trusts, or one of ours that is none. */
function isHopeless(code: string): boolean {
  return /^(ENOTFOUND|ERR_TLS_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_PROXY_|ERR_SSL_|ERR_OSSL_|ERR_INVALID_)/.test(
    code,
  );
}

export const JSON_PATCH = "application/json-patch+json";

/** What a request that did not succeed means for whoever wanted it. */
export function ipamError(request: ApiRequest, cause: unknown, server: string): unknown {
  const { method, path } = request;
  const isRead = method === "GET";
  const what = `${method} ${path.replace(/\?.*/, "")} at ${server}`;
  if (cause instanceof Unanswered) {
    const code = isRead || !cause.isSent ? "unavailable" : "unknown-outcome";
    return new IpamError(code, `${what}: ${cause.message}`, { cause });
  }
  if (!(cause instanceof Refusal)) return cause;
  const text = `${what}: ${cause.message}`;
  const { status } = cause;
  if (status === 409 || isGone(request, cause) || isUnfit(request, cause))
    return new IpamError("conflict", text, { cause });
  if (status === 429 || (status >= 500 && isRead)) return new IpamError("unavailable", text, { cause });
  if (status >= 500) return new IpamError("unknown-outcome", text, { cause });
  const hint = status === 403 && cause.reason === "" ? notServer : hints[status];
  return new IpamError("invalid", text, hint === undefined ? { cause } : { cause, hint });
}

const hints: Readonly<Record<number, string>> = {
  401: "the server does not accept these credentials; log in again, or choose another context",
  403: "ask an administrator of the cluster for this right",
  404: "the namespace or the kind does not exist there",
};

/** An API server says Forbidden in an object of its own; a proxy does not. */
const notServer =
  "this answer is not an API server's: look at the proxy in between (HTTPS_PROXY, NO_PROXY, or proxy-url)";

/** Whether there is no object of the name that was to be changed. */
function isGone({ method, name }: ApiRequest, { status, about }: Refusal): boolean {
  return status === 404 && (method === "PUT" || method === "PATCH") && name !== undefined && about.name === name;
}

/**
 * Whether a JSON patch does not fit the object that is there: a test failed, or a path leads nowhere. The server says
 * neither which nor of what; of a value that it does not take it gives the causes.
 */
function isUnfit({ contentType }: ApiRequest, { status, about }: Refusal): boolean {
  return status === 422 && contentType === JSON_PATCH && Object.keys(about).length === 0;
}
