import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { RequestOptions } from "node:https";
import { text } from "node:stream/consumers";
import { IpamError } from "../core/index.ts";
import type { Access, Exec } from "./access.ts";

/** What a request carries to say who sends it. */
export interface Credentials {
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly cert?: string;
  readonly key?: string;
}

export interface CredentialSource {
  get(): Promise<Credentials>;
  /** After a 401: forgets what a plugin said. Returns whether asking again can give something else. */
  refresh(): boolean;
}

/** An exec plugin's credentials are used for this much less than they live. */
const MARGIN = 10_000;

export function credentialsOf({ user }: Access): CredentialSource {
  const { exec, provider } = user;
  const executed = exec && new Shared(() => execute(exec));
  const official = provider && new Shared(() => officialClient(provider));
  const fresh = async (status: Shared<ExecStatus>): Promise<ExecStatus> => {
    const known = status.get();
    if ((await known).expires <= Date.now() + MARGIN) status.forget(known);
    return status.get();
  };
  return {
    async get() {
      const plugin = executed && (await fresh(executed));
      const provided = await (await official?.get())?.();
      const token = plugin?.token ?? (user.tokenFile ? readToken(user.tokenFile) : user.token);
      const { impersonate } = user;
      return {
        ...user.certificate,
        ...plugin?.certificate,
        headers: {
          ...provided,
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(impersonate && { "impersonate-user": impersonate.user, "impersonate-group": [...impersonate.groups] }),
        },
      };
    },
    refresh() {
      executed?.forget();
      return exec !== undefined || user.tokenFile !== undefined;
    },
  };
}

/** One answer for all who ask, also for those who ask while it is under way; a failure is not remembered. */
class Shared<T> {
  private readonly ask: () => Promise<T>;
  private answer: Promise<T> | undefined;

  constructor(ask: () => Promise<T>) {
    this.ask = ask;
  }

  get(): Promise<T> {
    if (this.answer !== undefined) return this.answer;
    const answer = this.ask();
    this.answer = answer;
    answer.catch(() => this.forget(answer));
    return answer;
  }

  /** Forgets this answer; not a newer one, which another waiter has asked for. */
  forget(answer: Promise<T> | undefined = this.answer): void {
    if (this.answer === answer) this.answer = undefined;
  }
}

function readToken(path: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch (error) {
    throw new IpamError("invalid", `cannot read the token: ${(error as Error).message}`);
  }
}

interface ExecStatus {
  readonly token?: string;
  readonly certificate?: { readonly cert: string; readonly key: string };
  readonly expires: number;
}

/** Runs the plugin; what it says to people on its error output reaches them. */
async function execute(exec: Exec): Promise<ExecStatus> {
  const interactive = exec.isInteractive && process.stdin.isTTY === true;
  const cluster = exec.cluster === undefined ? {} : { cluster: exec.cluster };
  const info = { apiVersion: exec.apiVersion, kind: "ExecCredential", spec: { interactive, ...cluster } };
  const child = spawn(exec.command, exec.args, {
    env: { ...process.env, ...exec.env, KUBERNETES_EXEC_INFO: JSON.stringify(info) },
    stdio: [interactive ? "inherit" : "ignore", "pipe", "inherit"],
    ...(interactive ? {} : { timeout: 60_000 }),
  });
  const failed = (why: string) =>
    new IpamError("invalid", `the credential plugin ${exec.command} ${why}`, exec.hint ? { hint: exec.hint } : {});
  const [printed, [code]] = await Promise.all([text(child.stdout), once(child, "close")]).catch((error) => {
    throw failed(`did not run: ${error.message}`);
  });
  if (code !== 0) throw failed(`ended with ${code ?? "a signal"}`);
  return execStatus(exec, printed, failed);
}

function execStatus(exec: Exec, printed: string, failed: (why: string) => IpamError): ExecStatus {
  let credential: { apiVersion?: unknown; status?: Record<string, unknown> };
  try {
    credential = JSON.parse(printed);
  } catch {
    throw failed("printed no JSON");
  }
  const { token, clientCertificateData: cert, clientKeyData: key, expirationTimestamp } = credential?.status ?? {};
  const hasCertificate = typeof cert === "string" && typeof key === "string";
  if (credential?.apiVersion !== exec.apiVersion) throw failed(`did not print a credential of ${exec.apiVersion}`);
  if (typeof token !== "string" && !hasCertificate) throw failed("printed neither a token nor a certificate");
  return {
    ...(typeof token === "string" ? { token } : {}),
    ...(hasCertificate ? { certificate: { cert, key } } : {}),
    expires: typeof expirationTimestamp === "string" ? Date.parse(expirationTimestamp) : Number.POSITIVE_INFINITY,
  };
}

/**
 * OIDC and the clouds' own ways: loaded where a kubeconfig asks for one of them, and nowhere else. It keeps what it was
 * given, and renews it.
 */
async function officialClient({ name, kubeconfig }: { readonly name: string; readonly kubeconfig: string }) {
  const client = await import("@kubernetes/client-node").catch((cause) => {
    throw new IpamError("invalid", `the auth-provider ${name} needs the package @kubernetes/client-node`, {
      hint: "npm install @kubernetes/client-node",
      cause,
    });
  });
  const config = new client.KubeConfig();
  config.loadFromString(kubeconfig);
  return async (): Promise<Record<string, string>> => {
    const options: RequestOptions = {};
    await config.applyToHTTPSOptions(options).catch((cause) => {
      throw new IpamError("invalid", `the auth-provider ${name} failed: ${cause.message}`, { cause });
    });
    return options.headers as Record<string, string>;
  };
}
