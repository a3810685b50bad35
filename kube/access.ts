import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { delimiter, dirname, isAbsolute, join, resolve } from "node:path";
import { IpamError } from "../core/index.ts";

/** How to reach one cluster as one user. */
export interface Access {
  /** For messages. */
  readonly name: string;
  readonly server: URL;
  /** The namespace that the context names, or `default`. */
  readonly namespace: string;
  /** PEM of the authorities that sign the server; the system's where absent. */
  readonly ca?: string | undefined;
  readonly tlsServerName?: string | undefined;
  readonly isInsecure?: boolean | undefined;
  readonly proxy?: string | undefined;
  readonly user: User;
}

/** How a user says who they are; any mixture. */
export interface User {
  readonly certificate?: { readonly cert: string; readonly key: string } | undefined;
  readonly token?: string | undefined;
  /** Read anew for every request, for it is rotated. */
  readonly tokenFile?: string | undefined;
  readonly exec?: Exec | undefined;
  /** What only the official client knows; `kubeconfig` is the whole context for it. */
  readonly provider?: { readonly name: string; readonly kubeconfig: string } | undefined;
  readonly impersonate?: { readonly user: string; readonly groups: readonly string[] } | undefined;
}

/** A command that prints an ExecCredential. */
export interface Exec {
  readonly apiVersion: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly isInteractive: boolean;
  readonly hint?: string | undefined;
  /** What the command is told of the cluster, if it wants to know. */
  readonly cluster?: unknown;
}

export interface AccessOptions {
  /** A kubeconfig; default is what KUBECONFIG lists, else ~/.kube/config, else the cluster that this process runs in. */
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
  readonly env?: NodeJS.ProcessEnv;
}

const SERVICE_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";

/** Reads kubeconfigs by kubectl's rules: of two entries with one name the first counts. Throws `invalid`. */
export function findAccess({ kubeconfig, context, env = process.env }: AccessOptions = {}): Access {
  const listed = (env.KUBECONFIG ?? "").split(delimiter).filter((path) => path !== "");
  const paths = listed.length > 0 ? listed : [join(env.HOME ?? homedir(), ".kube", "config")];
  const files = (kubeconfig === undefined ? paths.filter((path) => existsSync(path)) : [kubeconfig]).map(readConfig);
  if (files.length === 0 && context !== undefined)
    throw new IpamError("invalid", `no context ${JSON.stringify(context)}: there is no kubeconfig ${paths.join(", ")}`);
  const name = context ?? files.map((file) => file.text("current-context")).find((text) => text);
  if (name !== undefined) return contextAccess(files, name);
  if (files.length === 0 && env.KUBERNETES_SERVICE_HOST) return podAccess(env);
  const looked = kubeconfig === undefined ? paths : [kubeconfig];
  const found = looked.map((path) => `${path} ${existsSync(path) ? "names none" : "does not exist"}`);
  throw new IpamError("invalid", `no Kubernetes context: ${found.join(", ")}`, {
    hint: "name a context, or choose one with: kubectl config use-context NAME",
  });
}

/** The access of a pod, as its service account. */
export function podAccess(env: NodeJS.ProcessEnv, folder = SERVICE_ACCOUNT): Access {
  const host = env.KUBERNETES_SERVICE_HOST ?? "";
  const port = env.KUBERNETES_SERVICE_PORT ?? "443";
  return {
    name: "this pod's service account",
    server: new URL(`https://${host.includes(":") ? `[${host}]` : host}:${port}`),
    namespace: readText(join(folder, "namespace")).trim(),
    ca: readText(join(folder, "ca.crt")),
    user: { tokenFile: join(folder, "token") },
  };
}

function readConfig(path: string): Entry {
  // A pod has no kubeconfig, and does without the 12 MiB that this takes.
  const { LineCounter, parseDocument }: typeof import("yaml") = createRequire(import.meta.url)("yaml");
  const lines = new LineCounter();
  const document = parseDocument(readText(path), { prettyErrors: false, lineCounter: lines });
  const [error] = document.errors;
  if (error) {
    const { line, col } = lines.linePos(error.pos[0]);
    throw new IpamError("invalid", [{ message: error.message, at: { file: path, line, column: col } }]);
  }
  return new Entry(document.toJS() ?? {}, path, path);
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new IpamError("invalid", `cannot read ${path}: ${(error as Error).message}`);
  }
}

function contextAccess(files: readonly Entry[], name: string): Access {
  const context = named(files, "contexts", name, "context");
  const cluster = named(files, "clusters", context.text("cluster") ?? "", "cluster");
  const userName = context.text("user");
  const user = userName === undefined ? undefined : named(files, "users", userName, "user");
  const server = cluster.text("server");
  if (server === undefined || !/^https?:\/\//.test(server) || !URL.canParse(server)) throw cluster.wrong("server");
  const proxy = cluster.text("proxy-url");
  if (proxy !== undefined && !/^https?:\/\//.test(proxy)) throw cluster.wrong("proxy-url");
  return {
    name: `context ${name}`,
    server: new URL(server),
    namespace: context.text("namespace") ?? "default",
    ca: cluster.pem("certificate-authority"),
    tlsServerName: cluster.text("tls-server-name"),
    isInsecure: cluster.value["insecure-skip-tls-verify"] === true,
    proxy,
    user: user === undefined ? {} : userOf(user, cluster),
  };
}

function userOf(user: Entry, cluster: Entry): User {
  const cert = user.pem("client-certificate");
  const key = user.pem("client-key");
  const exec = user.entry("exec");
  const impersonated = user.text("as");
  return {
    certificate: cert !== undefined && key !== undefined ? { cert, key } : undefined,
    tokenFile: user.path("tokenFile"),
    token: user.text("token")?.trim(),
    exec: exec && execOf(exec, cluster),
    impersonate: impersonated === undefined ? undefined : { user: impersonated, groups: user.texts("as-groups") },
    provider: providerOf(user, cluster),
  };
}

function execOf(exec: Entry, cluster: Entry): Exec {
  const apiVersion = exec.text("apiVersion") ?? "";
  if (!/^client\.authentication\.k8s\.io\/v1(beta1)?$/.test(apiVersion)) throw exec.wrong("apiVersion");
  const command = exec.text("command");
  if (command === undefined) throw exec.wrong("command");
  const pairs = exec.entries("env").map((pair) => [pair.text("name") ?? "", pair.text("value") ?? ""]);
  return {
    apiVersion,
    command: command.includes("/") ? (exec.path("command") as string) : command,
    args: exec.texts("args"),
    env: Object.fromEntries(pairs),
    isInteractive: exec.text("interactiveMode") !== "Never",
    hint: exec.text("installHint"),
    cluster: exec.value.provideClusterInfo === true ? clusterInfo(cluster) : undefined,
  };
}

function clusterInfo(cluster: Entry): unknown {
  const ca = cluster.pem("certificate-authority");
  return {
    server: cluster.text("server"),
    "tls-server-name": cluster.text("tls-server-name"),
    "insecure-skip-tls-verify": cluster.value["insecure-skip-tls-verify"],
    "certificate-authority-data": ca === undefined ? undefined : Buffer.from(ca).toString("base64"),
    "proxy-url": cluster.text("proxy-url"),
  };
}

/** No more than the official client needs to ask that provider. */
function providerOf(user: Entry, cluster: Entry): User["provider"] {
  const name = user.entry("auth-provider")?.text("name");
  if (name === undefined) return undefined;
  const one = (kind: string, value: unknown) => [{ name: "one", [kind]: value }];
  const kubeconfig = JSON.stringify({
    clusters: one("cluster", { server: cluster.text("server") }),
    users: one("user", { "auth-provider": user.value["auth-provider"] }),
    contexts: one("context", { cluster: "one", user: "one" }),
    "current-context": "one",
  });
  return { name, kubeconfig };
}

function named(files: readonly Entry[], list: string, name: string, field: string): Entry {
  for (const file of files) {
    const found = file.entries(list).find((entry) => entry.text("name") === name);
    if (found !== undefined) return found.entry(field) ?? new Entry({}, found.file, `${found.file}: ${field} ${name}`);
  }
  const all = files.flatMap((file) => file.entries(list).map((entry) => entry.text("name")));
  throw new IpamError("invalid", `${files.map(({ file }) => file).join(", ")}: no ${field} ${JSON.stringify(name)}`, {
    hint: `there are: ${all.join(", ")}`,
  });
}

/** A map in a kubeconfig; whatever in it has another type than it must have is `invalid`. Empty texts count as absent. */
class Entry {
  readonly value: Readonly<Record<string, unknown>>;
  readonly file: string;
  private readonly place: string;

  constructor(value: unknown, file: string, place: string) {
    this.file = file;
    this.place = place;
    if (typeof value !== "object" || value === null || Array.isArray(value)) throw this.wrong();
    this.value = value as Record<string, unknown>;
  }

  wrong(key?: string): IpamError {
    return new IpamError("invalid", `${this.place}${key === undefined ? "" : `: ${key}`} is not what a kubeconfig has`);
  }

  text(key: string): string | undefined {
    const value = this.value[key] ?? "";
    if (typeof value !== "string") throw this.wrong(key);
    return value === "" ? undefined : value;
  }

  texts(key: string): string[] {
    const value = this.value[key] ?? [];
    if (!Array.isArray(value) || value.some((one) => typeof one !== "string")) throw this.wrong(key);
    return value;
  }

  entry(key: string): Entry | undefined {
    const value = this.value[key] ?? undefined;
    return value === undefined ? undefined : new Entry(value, this.file, `${this.place}: ${key}`);
  }

  entries(key: string): Entry[] {
    const value = this.value[key] ?? [];
    if (!Array.isArray(value)) throw this.wrong(key);
    return value.map((one, index) => new Entry(one, this.file, `${this.place}: ${key}[${index}]`));
  }

  /** A path, which is relative to the file it stands in. */
  path(key: string): string | undefined {
    const text = this.text(key);
    return text === undefined || isAbsolute(text) ? text : resolve(dirname(this.file), text);
  }

  /** `key-data` in base64, or the content of the file that `key` names. */
  pem(key: string): string | undefined {
    const data = this.text(`${key}-data`);
    if (data !== undefined) return Buffer.from(data, "base64").toString();
    const path = this.path(key);
    return path === undefined ? undefined : readText(path);
  }
}
