import http from "node:http";
import https from "node:https";
import type { Socket } from "node:net";
import { text } from "node:stream/consumers";
import type { TLSSocket } from "node:tls";
import type { Access } from "./access.ts";
import { credentialsOf } from "./credentials.ts";

export interface ApiRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** From the root of the server, with the query. */
  readonly path: string;
  readonly body?: string;
  readonly contentType?: string;
}

export interface Reply {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
}

/** No reply, or half of one. */
export class Unanswered extends Error {
  /** Whether the server may have got the request. */
  readonly isSent: boolean;
  override readonly cause: NodeJS.ErrnoException;

  constructor(isSent: boolean, cause: NodeJS.ErrnoException) {
    super(cause.message);
    this.isSent = isSent;
    this.cause = cause;
  }
}

export interface Transport {
  /** Sends a request once; a second time after a 401 where credentials can be renewed. Throws Unanswered. */
  send(request: ApiRequest): Promise<Reply>;
  close(): void;
}

/** Idle connections are closed by us before a load balancer does it, since a request sent at that moment has an unknown end. */
const IDLE = 20_000;

export function transport(access: Access, timeout: number): Transport {
  const { protocol, hostname } = access.server;
  const { Agent } = protocol === "https:" ? https : http;
  const isLocal = /^(localhost|127\..*|\[::1\])$/.test(hostname);
  const proxyEnv = access.proxy ? { HTTP_PROXY: access.proxy, HTTPS_PROXY: access.proxy } : isLocal ? {} : process.env;
  const agent = new Agent({ keepAlive: true, timeout: IDLE, proxyEnv });
  const tls = {
    ...(access.ca === undefined ? {} : { ca: access.ca }),
    ...(access.tlsServerName === undefined ? {} : { servername: access.tlsServerName }),
    rejectUnauthorized: !access.isInsecure,
  };
  const credentials = credentialsOf(access);
  const once = async (request: ApiRequest) => {
    const { headers, ...certificate } = await credentials.get();
    return exchange(access.server, request, { agent, headers, timeout, ...tls, ...certificate });
  };
  return {
    async send(request) {
      const reply = await once(request);
      return reply.status === 401 && credentials.refresh() ? once(request) : reply;
    },
    close: () => agent.destroy(),
  };
}

async function exchange(server: URL, { method, path, body, contentType }: ApiRequest, options: https.RequestOptions) {
  const headers = {
    accept: "application/json",
    "user-agent": "nodeippool",
    ...(body === undefined ? {} : { "content-type": contentType ?? "application/json" }),
    // Node would send the body of a DELETE without saying that there is one, and the preconditions in it would be lost.
    ...(body === undefined ? {} : { "content-length": Buffer.byteLength(body) }),
    ...(options.headers as object),
  };
  const url = new URL(server.pathname.replace(/\/$/, "") + path, server);
  let isSent = false;
  const signal = AbortSignal.timeout(options.timeout as number);
  try {
    const { promise, resolve, reject } = Promise.withResolvers<http.IncomingMessage>();
    const request = (url.protocol === "https:" ? https : http).request(url, { ...options, method, headers, signal });
    request.on("response", resolve).on("error", reject);
    request.on("socket", (socket) => onceConnected(socket, request.reusedSocket, () => (isSent = true)));
    request.end(body);
    const response = await promise;
    return { status: response.statusCode as number, headers: response.headers, body: await text(response) };
  } catch (error) {
    const late = new Error(`no answer within ${(options.timeout as number) / 1000} seconds`);
    throw new Unanswered(isSent, signal.aborted ? late : (error as NodeJS.ErrnoException));
  }
}

/** Nothing of a request is written before its connection stands. */
function onceConnected(socket: Socket, isReused: boolean, then: () => void): void {
  const isSecure = "secureConnecting" in socket && (socket as TLSSocket & { secureConnecting: boolean });
  if (isReused || !(isSecure ? isSecure.secureConnecting : socket.connecting)) then();
  else socket.once(isSecure ? "secureConnect" : "connect", then);
}
