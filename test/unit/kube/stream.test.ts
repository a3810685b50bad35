import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, it, onTestFinished } from "vitest";
import { lines } from "../../../kube/stream.ts";
import { transport } from "../../../kube/transport.ts";
import { ends, refuses, startServer, stays } from "../../support/cluster/watch-server.ts";

/** A Transport of a server that gives these answers, and a user whose token is in a file. */
async function started(answers: Parameters<typeof startServer>[0]) {
  const tokenFile = join(mkdtempSync(join(tmpdir(), "nodeippool-token-")), "token");
  writeFileSync(tokenFile, "old");
  const server = await startServer(answers);
  const api = transport({ ...server.access, user: { tokenFile } }, 200);
  onTestFinished(() => api.close());
  const stop = new AbortController();
  return {
    ...server,
    tokenFile,
    api,
    stop: () => stop.abort(),
    get: () => api.stream({ method: "GET", path: "/" }, stop.signal),
  };
}

it("a stream is asked for again after a 401, with what the token is by then", async () => {
  const seen: unknown[] = [];
  const { get, tokenFile, connections } = await started([
    (response, request) => {
      seen.push(request.headers.authorization);
      writeFileSync(tokenFile, "new");
      refuses(401)(response, request);
    },
    (response, request) => {
      seen.push(request.headers.authorization);
      ends("yes")(response, request);
    },
  ]);
  const { status, body } = await get();
  expect([status, await text(body)]).toEqual([200, "yes"]);
  expect(seen).toEqual(["Bearer old", "Bearer new"]);
  expect(connections()).toEqual({ ever: 1, open: 1 });
});

it("a stream that is refused twice is a reply like any other", async () => {
  const { get } = await started([refuses(401), refuses(401)]);
  const { status, body } = await get();
  expect([status, JSON.parse(await text(body)).message]).toEqual([401, "it is 401"]);
});

it("a stream may take longer than a request may; the signal ends it, and its connection", async () => {
  const { get, stop, connections } = await started([stays("first")]);
  const { body } = await get();
  setTimeout(stop, 500);
  const chunks: string[] = [];
  const read = async () => {
    for await (const chunk of body) chunks.push(Buffer.from(chunk).toString());
  };
  const start = performance.now();
  await expect(read()).rejects.toMatchObject({ isSent: true });
  expect(performance.now() - start).toBeGreaterThan(400);
  expect(chunks).toEqual(["first"]);
  await expect.poll(() => connections().open).toBe(0);
});

it("a stream that nobody reads to its end takes its connection with it", async () => {
  const { get, connections } = await started([stays("first"), ends("second")]);
  for await (const _ of (await get()).body) break;
  expect(await text((await get()).body)).toBe("second");
  await expect.poll(() => connections()).toEqual({ ever: 2, open: 1 });
});

async function* inChunks(bytes: Uint8Array, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

it("a line of 16 MB in small chunks costs what its bytes cost", async () => {
  const long = Buffer.alloc(1 << 24, "x");
  long[long.length - 1] = 10;
  const lengths: number[] = [];
  for await (const line of lines(inChunks(long, 64))) lengths.push(line.length);
  expect(lengths).toEqual([(1 << 24) - 1]);
});
