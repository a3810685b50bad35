import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished, vi } from "vitest";
import type { Access } from "../../../kube/access.ts";
import type { Stored } from "../../../kube/index.ts";
import { transport } from "../../../kube/transport.ts";
import { type Sink, type WatchOptions, watch } from "../../../kube/watch.ts";
import { VirtualClock } from "../sim/virtual-clock.ts";

/** What a server does with one request. */
export type Answer = (response: ServerResponse, request: IncomingMessage) => void;

/** A server of HTTP that answers each request with the next of the answers; whoever asks after the last gets silence. */
export async function startServer(answers: Answer[]) {
  const requests: string[] = [];
  let connections = 0;
  const open = new Set<unknown>();
  const server = createServer((request, response) => {
    requests.push(`${request.url}`);
    (answers.shift() ?? (() => {}))(response, request);
  });
  server.on("connection", (socket) => {
    connections++;
    open.add(socket);
    socket.on("close", () => open.delete(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const access: Access = {
    name: "c",
    server: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    namespace: "net",
    user: {},
  };
  return {
    access,
    requests,
    /** How many connections there have been, and how many there are. */
    connections: () => ({ ever: connections, open: open.size }),
  };
}

export const pods = { apiVersion: "v1", plural: "pods" };

/** A line of a watch: an object of that name, with what it says. */
export const event = (type: string, name: string, version: number, says = "") =>
  `${JSON.stringify({
    type,
    object: {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, namespace: "net", uid: `uid-${name}`, resourceVersion: String(version) },
      says,
    },
  })}\n`;

export const bookmark = (version: number, annotations = {}) =>
  `${JSON.stringify({ type: "BOOKMARK", object: { kind: "Pod", metadata: { resourceVersion: String(version), annotations } } })}\n`;

/** The lines of a streaming list. */
export const listed = (version: number, ...names: string[]) =>
  names.map((name) => event("ADDED", name, 1)).join("") + bookmark(version, { "k8s.io/initial-events-end": "true" });

/** A reply that ends. */
export const ends =
  (...chunks: (string | Uint8Array)[]): Answer =>
  (response) => {
    for (const chunk of chunks) response.write(chunk);
    response.end();
  };

/** A reply that goes on. */
export const stays =
  (...chunks: (string | Uint8Array)[]): Answer =>
  (response) => {
    response.flushHeaders();
    for (const chunk of chunks) response.write(chunk);
  };

export const refuses =
  (code: number, reason = "", headers: Record<string, string> = {}): Answer =>
  (response) => {
    response.writeHead(code, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify({ kind: "Status", status: "Failure", code, reason, message: `it is ${code}` }));
  };

/** Starts a watch of the pods of such a server, in virtual time; `log` is what its sink is told. */
export async function startWatch(answers: Answer[], random: () => number = () => 0) {
  const server = await startServer(answers);
  const api = transport(server.access, 30_000);
  const clock = new VirtualClock();
  const stop = new AbortController();
  const log: string[] = [];
  const options: WatchOptions = { signal: stop.signal, clock, random };
  const project = (object: Stored) => (object as Stored & { says: string }).says;
  const ended = watch(api, { resource: pods, namespace: "net", project }, recorder(log), options);
  onTestFinished(async () => {
    stop.abort();
    await ended;
    api.close();
  });
  return {
    ...{ ...server, clock, log, ended },
    stop: () => stop.abort(),
    /** Waits, in real time, until the log ends with these lines. */
    until: (...lines: string[]) =>
      vi.waitFor(() => {
        const end = log.slice(-lines.length);
        if (end.join("\n") !== lines.join("\n")) throw new Error(`the log is\n${log.join("\n")}`);
      }, 5_000),
    /** Waits until there have been so many requests. */
    asked: (count: number) =>
      vi.waitFor(() => {
        if (server.requests.length < count) throw new Error(`the requests are\n${server.requests.join("\n")}`);
      }, 5_000),
  };
}

export function recorder(log: string[]): Sink<string> {
  const said = (key: string, says: string) => (says === "" ? key : `${key}=${says}`);
  return {
    replace: (all) => log.push(`replace ${[...all].map(([key, says]) => said(key, says)).join(" ")}`.trim()),
    set: (key, says) => log.push(`set ${said(key, says)}`),
    delete: (key) => log.push(`delete ${key}`),
    state: (state, error) => log.push(error === undefined ? state : `${state}: ${(error as Error).message}`),
  };
}
