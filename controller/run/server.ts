import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { IpamError } from "../../core/index.ts";
import { health, type Vitals } from "./health.ts";

// Not by an import, as in kube/transport.ts.
const { createServer } = process.getBuiltinModule("node:http");

/** What is asked over HTTP. */
export interface Answers {
  vitals(): Vitals;
  /** In the text format of Prometheus. */
  metrics(): Promise<{ readonly type: string; readonly text: string }>;
}

export interface ListenAt {
  /** Undefined is every address of the machine. */
  readonly host?: string | undefined;
  /** 0 is any free port. */
  readonly port: number;
}

/** Where to listen: `:8080`, `127.0.0.1:8080`, `[::1]:8080`. Undefined for `0` and `off`. Throws IpamError `invalid`. */
export function parseListen(text: string): ListenAt | undefined {
  if (text === "0" || text === "off") return undefined;
  const [, host = "", digits = ""] = /^(\[[\da-fA-F:.]+\]|[^:[\]]*):(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (digits === "" || port > 65_535)
    throw new IpamError("invalid", `${JSON.stringify(text)} is not where one can listen: expected HOST:PORT, or off`);
  return { host: host === "" ? undefined : host.replace(/^\[|\]$/g, ""), port };
}

/** Answers /healthz, /readyz and /metrics. Throws IpamError `invalid` where it cannot listen. */
export async function serve(place: ListenAt, answers: Answers): Promise<{ readonly port: number; close(): void }> {
  const server = createServer((request, response) => {
    const path = request.url?.replace(/\?.*/, "") ?? "";
    reply(path, answers).then(
      ({ status, type = "text/plain", text }) => {
        response.writeHead(status, { "content-type": type }).end(request.method === "HEAD" ? undefined : text);
      },
      (error) => response.writeHead(500, { "content-type": "text/plain" }).end(`${error}\n`),
    );
  });
  await listening(server, place);
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function listening(server: Server, { host, port }: ListenAt): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject).listen({ host, port }, resolve);
  try {
    await promise;
  } catch (error) {
    throw new IpamError("invalid", `cannot listen on ${host ?? ""}:${port}: ${(error as Error).message}`);
  }
}

async function reply(
  path: string,
  { vitals, metrics }: Answers,
): Promise<{ status: number; type?: string; text: string }> {
  if (path === "/metrics") return { status: 200, ...(await metrics()) };
  if (path !== "/healthz" && path !== "/readyz") return { status: 404, text: "not found\n" };
  const why = health(vitals())[path === "/healthz" ? "healthz" : "readyz"];
  return why === undefined ? { status: 200, text: "ok\n" } : { status: 503, text: `${why}\n` };
}
