import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import https from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import type { Cluster } from "./cluster.ts";

/** What goes wrong with a request. */
export type Fault =
  /** It arrives later, by milliseconds. */
  | { readonly delay: number }
  /** It arrives once this is settled. */
  | { readonly until: Promise<unknown> }
  /** The connection is cut before the server gets it. */
  | { readonly cut: "request" }
  /** The server has done it, and then the connection is cut. */
  | { readonly cut: "reply" }
  /** The server never gets it; this is the answer. */
  | { readonly status: number; readonly reason?: string; readonly retryAfter?: number; readonly body?: string }
  /** The reply begins, and after so many milliseconds nothing more of it comes, while the connection stays. */
  | { readonly freeze: number }
  /** Of the reply of a watch, lines with this word never come. */
  | { readonly swallow: string };

export interface Which {
  /** An HTTP method, or WATCH, which GET does not include. */
  readonly verb?: string;
  /** Of the path with its query. */
  readonly path?: RegExp;
  /** How often it happens; without end by default. */
  readonly times?: number;
  /** Asked for each request that is meant: false lets it pass. */
  readonly when?: () => boolean;
}

export interface Planted {
  /** How often it has happened. */
  readonly count: number;
  stop(): void;
}

/** Stands between clients and the API server. Clients with certificates are strangers to the server behind it. */
export interface FaultProxy {
  readonly server: string;
  /** The path of a kubeconfig of the administrator that leads here. */
  readonly kubeconfig: string;
  /** The first that is planted for a request is what happens to it. */
  plant(which: Which, fault: Fault): Planted;
  /** Every request so far, faulty or not: `VERB /path?query`. */
  readonly requests: readonly string[];
  /** What each of them says of who sends it. */
  readonly authorizations: readonly string[];
  /** Cuts every connection that is open. */
  cutAll(): void;
  /** How many connections clients have opened so far. */
  readonly connections: number;
  close(): Promise<void>;
}

interface Rule extends Which {
  readonly fault: Fault;
  count: number;
}

export async function startFaultProxy(cluster: Cluster): Promise<FaultProxy> {
  const rules: Rule[] = [];
  const requests: string[] = [];
  const authorizations: string[] = [];
  const read = (path: string) => readFileSync(path, "utf8");
  const { authority, server: pair } = cluster.certificates;
  const agent = new https.Agent({ keepAlive: true, ca: read(authority.certificate) });
  const listener = https.createServer({ cert: read(pair.certificate), key: read(pair.key) }, (request, response) => {
    const verb = /[?&]watch=(1|true)\b/.test(request.url ?? "") ? "WATCH" : (request.method as string);
    requests.push(`${verb} ${request.url}`);
    authorizations.push(request.headers.authorization ?? "");
    const rule = rules.find((one) => isMeant(one, verb, request.url as string));
    if (rule) rule.count++;
    serve(rule?.fault, request, response, new URL(request.url as string, cluster.server), agent).catch(() =>
      request.socket.destroy(),
    );
  });
  let connections = 0;
  listener.on("secureConnection", () => connections++);
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  const { port } = listener.address() as AddressInfo;
  const server = `https://127.0.0.1:${port}`;
  const kubeconfig = join(cluster.folder, `kubeconfig-${port}`);
  writeFileSync(kubeconfig, read(cluster.kubeconfig).replaceAll(cluster.server, server));
  return {
    server,
    kubeconfig,
    requests,
    authorizations,
    cutAll: () => listener.closeAllConnections(),
    get connections() {
      return connections;
    },
    plant(which, fault) {
      const rule: Rule = { ...which, fault, count: 0 };
      rules.push(rule);
      const stop = () => void rules.splice(rules.indexOf(rule), rules.includes(rule) ? 1 : 0);
      return {
        stop,
        get count() {
          return rule.count;
        },
      };
    },
    async close() {
      listener.closeAllConnections();
      listener.close();
      agent.destroy();
      await once(listener, "close");
    },
  };
}

function isMeant({ verb, path, times = Number.POSITIVE_INFINITY, when, count }: Rule, actual: string, url: string) {
  return (
    (verb ?? actual) === actual && (path?.test(url) ?? true) && count < times && (when === undefined || when() === true)
  );
}

async function serve(
  fault: Fault | undefined,
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
  agent: https.Agent,
): Promise<void> {
  const body = await buffer(request);
  if (fault && "status" in fault) return refuse(fault, response);
  if (fault && "delay" in fault) await sleep(fault.delay);
  if (fault && "until" in fault) await fault.until;
  if (fault && "cut" in fault && fault.cut === "request") throw new Error("cut");

  const { method, headers } = request;
  const forwarded = https.request(url, { method: method as string, headers, agent });
  response.on("close", () => forwarded.destroy());
  forwarded.end(body);
  const [reply]: IncomingMessage[] = await once(forwarded, "response");
  if (reply === undefined) throw new Error("no reply");
  if (fault && "cut" in fault) {
    await buffer(reply);
    throw new Error("cut");
  }
  response.writeHead(reply.statusCode as number, reply.headers);
  response.flushHeaders();
  reply.on("error", () => response.destroy());
  if (fault && "swallow" in fault) return swallow(reply, response, fault.swallow);
  if (!fault || !("freeze" in fault) || fault.freeze > 0) reply.pipe(response);
  if (fault && "freeze" in fault) setTimeout(() => reply.unpipe(response), fault.freeze);
}

async function swallow(reply: IncomingMessage, response: ServerResponse, word: string): Promise<void> {
  for await (const line of createInterface(reply)) if (!line.includes(word)) response.write(`${line}\n`);
  response.end();
}

function refuse(fault: Extract<Fault, { status: number }>, response: ServerResponse): void {
  const { status, reason = "", retryAfter, body } = fault;
  const message = `planted ${status}`;
  const answer = { kind: "Status", apiVersion: "v1", status: "Failure", code: status, reason, message };
  const after = retryAfter === undefined ? {} : { "retry-after": String(retryAfter) };
  response.writeHead(status, { "content-type": body === undefined ? "application/json" : "text/plain", ...after });
  response.end(body ?? JSON.stringify(answer));
}
