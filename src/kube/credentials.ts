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
  let executed: Promise<ExecStatus> | undefined;
  let official: ReturnType<typeof officialClient> | undefined;
  const ask = async (exec: Exec): Promise<ExecStatus> => {
    executed ??= execute(exec);
    const status = await executed;
    if (status.expires > Date.now() + MARGIN) return status;
    executed = execute(exec);
    return executed;
  };
  return {
    async get() {
      const plugin = user.exec && (await ask(user.exec));
      official ??= user.provider && officialClient(user.provider);
      const provided = await (await official)?.();
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
      executed = undefined;
      return user.exec !== undefined || user.tokenFile !== undefined;
    },
  };
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
