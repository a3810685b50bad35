import type { ClientRequest, IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from "node:http";
import https from "node:https";
import type { Socket } from "node:net";
import { text } from "node:stream/consumers";
import type { TLSSocket } from "node:tls";
import type { Access } from "./access.ts";
import { credentialsOf } from "./credentials.ts";
import { proxyFor } from "./proxy.ts";

/** An import would load all of it, the client of WebSockets too: 13 MiB, and a tenth of a start. */
const http = process.getBuiltinModule("node:http");

export interface ApiRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** From the root of the server, with the query. */
  readonly path: string;
  readonly body?: string;
  readonly contentType?: string;
  /** The object that is to be changed. */
  readonly name?: string;
}

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A reply whose body is still to come; whoever asked for it reads it to its end, or leaves the loop that reads it. */
export interface Streamed {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Throws Unanswered where the connection is lost. */
  readonly body: AsyncIterable<Uint8Array>;
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
  /** The same for a reply that is read while it comes. Nothing but the signal limits how long it takes. */
  stream(request: ApiRequest, signal: AbortSignal): Promise<Streamed>;
  close(): void;
}

/** Idle connections are closed by us before a load balancer does it, since a request sent at that moment has an unknown end. */
const IDLE = 20_000;

/** Told of every request that was sent: by what verb, and its status; 0 without an answer. */
export type Sent = (verb: string, status: number) => void;

export function transport(access: Access, timeout: number, told: Sent = () => {}): Transport {
  const { Agent } = access.server.protocol === "https:" ? https : http;
  const proxy = access.proxy ?? proxyFor(access.server, process.env);
  const proxyEnv = proxy === undefined ? {} : { HTTP_PROXY: proxy, HTTPS_PROXY: proxy };
  const agent = new Agent({ keepAlive: true, timeout: IDLE, proxyEnv });
  const tls = {
    ...(access.ca === undefined ? {} : { ca: access.ca }),
    ...(access.tlsServerName === undefined ? {} : { servername: access.tlsServerName }),
    rejectUnauthorized: !access.isInsecure,
  };
  const credentials = credentialsOf(access);
  const begin = async (request: ApiRequest, verb: string, limits: () => Limits) => {
    const once = async () => {
      const { headers, ...certificate } = await credentials.get();
      const options = { agent, headers, ...tls, ...certificate, ...limits() };
      const reply = await open(access.server, request, options).catch((error) => {
        told(verb, 0);
        throw error;
      });
      told(verb, reply.status);
      return reply;
    };
    const reply = await once();
    if (reply.status !== 401 || !credentials.refresh()) return reply;
    await text(reply.body); // which frees the connection
    return once();
  };
  return {
    async send(request) {
      const limits = () => ({ timeout, signal: AbortSignal.timeout(timeout) });
      const reply = await begin(request, request.method.toLowerCase(), limits);
      return { status: reply.status, headers: reply.headers, body: await text(reply.body) };
    },
    stream: (request, signal) => begin(request, "watch", () => ({ signal })),
    close: () => agent.destroy(),
  };
}

interface Limits {
  readonly signal: AbortSignal;
  readonly timeout?: number;
}

async function open(
  server: URL,
  request: ApiRequest,
  { signal, ...options }: https.RequestOptions & Limits,
): Promise<Streamed> {
  const url = new URL(server.pathname.replace(/\/$/, "") + request.path, server);
  const headers = { ...headersOf(request), ...(options.headers as object) };
  let isSent = false;
  let current: ClientRequest | IncomingMessage | undefined;
  // Without an error: of a reply that has just come to its end, Node would emit it where nobody listens.
  const stop = () => void current?.destroy();
  const unanswered = (error: unknown) => {
    const isLate = signal.aborted && options.timeout !== undefined;
    const late = new Error(`no answer within ${(options.timeout ?? 0) / 1000} seconds`);
    return new Unanswered(isSent, isLate ? late : (error as NodeJS.ErrnoException));
  };
  try {
    signal.throwIfAborted();
    signal.addEventListener("abort", stop);
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const { method, body } = request;
    const sent = (url.protocol === "https:" ? https : http).request(url, { ...options, method, headers });
    current = sent;
    sent.on("error", reject).on("response", (response) => {
      current = response;
      resolve(response);
    });
    sent.on("socket", (socket) => onceConnected(socket, sent.reusedSocket, () => (isSent = true)));
    sent.end(body);
    const response = await promise;
    const end = () => signal.removeEventListener("abort", stop);
    return { status: response.statusCode as number, headers: response.headers, body: bytes(response, unanswered, end) };
  } catch (error) {
    signal.removeEventListener("abort", stop);
    throw unanswered(error);
  }
}

function headersOf({ body, contentType }: ApiRequest): OutgoingHttpHeaders {
  const common = { accept: "application/json", "user-agent": "nodeippool" };
  if (body === undefined) return common;
  // Node would send the body of a DELETE without saying that there is one, and the preconditions in it would be lost.
  const length = { "content-length": Buffer.byteLength(body) };
  return { ...common, "content-type": contentType ?? "application/json", ...length };
}

async function* bytes(
  response: IncomingMessage,
  unanswered: (error: unknown) => Unanswered,
  end: () => void,
): AsyncGenerator<Uint8Array> {
  try {
    yield* response as AsyncIterable<Uint8Array>;
  } catch (error) {
    throw unanswered(error);
  } finally {
    end();
  }
}

/** Nothing of a request is written before its connection stands. */
function onceConnected(socket: Socket, isReused: boolean, then: () => void): void {
  const isSecure = "secureConnecting" in socket && (socket as TLSSocket & { secureConnecting: boolean });
  if (isReused || !(isSecure ? isSecure.secureConnecting : socket.connecting)) then();
  else socket.once(isSecure ? "secureConnect" : "connect", then);
}
