import { BlockList, isIP } from "node:net";
import { IpamError } from "../core/index.ts";

/** What the environment says of proxies: HTTPS_PROXY, HTTP_PROXY and NO_PROXY, or in small letters. */
type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns the proxy to a server, as kubectl reads the environment (golang.org/x/net/http/httpproxy), or nothing:
 *
 *  of NO_PROXY       | goes without a proxy
 *  ------------------|-------------------------------------------
 *  *                 | everything
 *  10.0.0.0/8        | addresses in it
 *  10.0.0.1          | the address
 *  example.net       | the host, and hosts of that domain
 *  .example.net      | hosts of that domain
 *  each with :6443   | on that port alone
 *
 * This machine is always met without one. A proxy without a scheme is an HTTP proxy. Throws IpamError `invalid` for SOCKS.
 */
export function proxyFor(server: URL, env: Environment): string | undefined {
  const [host, port] = [hostOf(server.hostname), server.port || (server.protocol === "https:" ? "443" : "80")];
  const text = read(env, server.protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY");
  if (text === "" || isThisMachine(host)) return undefined;
  const entries = read(env, "NO_PROXY").split(",");
  if (entries.some((entry) => isMeant(entry.trim().toLowerCase(), host, port))) return undefined;
  const proxy = /^[a-z0-9]+:\/\//i.test(text) ? text : `http://${text}`;
  if (/^https?:/i.test(proxy)) return proxy;
  // Without the password that may be in it.
  const named = proxy.replace(/\/\/.*@/, "//");
  throw new IpamError("invalid", `the proxy ${named} is not an HTTP proxy`, {
    hint: `Name an HTTP proxy in HTTPS_PROXY, or ${host} in NO_PROXY.`,
  });
}

function read(env: Environment, name: string): string {
  return env[name] || env[name.toLowerCase()] || "";
}

function hostOf(hostname: string): string {
  return hostname
    .toLowerCase()
    .replace(/^\[(.*)\]$/, "$1")
    .replace(/\.$/, "");
}

function isThisMachine(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}

function isMeant(entry: string, host: string, port: string): boolean {
  if (entry === "*") return true;
  const [, cidr, length] = /^(.+)\/(\d+)$/.exec(entry) ?? [];
  if (cidr !== undefined) return isIn(host, cidr, Number(length));
  const [, name = "", only] =
    /^(?:\[(?=.*\]))?(.*?)\]?(?::(\d+))?$/.exec(isIP(entry) === 6 ? `[${entry}]` : entry) ?? [];
  if (name === "" || (only !== undefined && only !== port)) return false;
  if (isIP(name) !== 0) return isIn(host, name, isIP(name) === 4 ? 32 : 128);
  const domain = name.replace(/^\*\./, ".");
  return host.endsWith(domain.startsWith(".") ? domain : `.${domain}`) || host === domain;
}

function isIn(host: string, network: string, length: number): boolean {
  const [family, of] = [isIP(host), isIP(network)];
  if (family === 0 || family !== of || length > (of === 4 ? 32 : 128)) return false;
  const list = new BlockList();
  list.addSubnet(network, length, of === 4 ? "ipv4" : "ipv6");
  return list.check(host, family === 4 ? "ipv4" : "ipv6");
}
