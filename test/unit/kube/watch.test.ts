import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import {
  type Answer,
  bookmark,
  ends,
  event,
  listed,
  refuses,
  startWatch,
  stays,
} from "../../support/cluster/watch-server.ts";

const query = (request: string | undefined) => Object.fromEntries(new URL(`http://x${request}`).searchParams);
const isList = (request: string) => "sendInitialEvents" in query(request);
const from = (request: string | undefined) => query(request).resourceVersion;

describe("a watch", () => {
  it("lists as a stream, and then tells of every change", async () => {
    const { until, requests } = await startWatch([
      ends(listed(7, "a", "b")),
      stays(event("ADDED", "c", 8, "new"), event("MODIFIED", "a", 9, "changed"), event("DELETED", "b", 10)),
    ]);
    await until("set net/c=new", "set net/a=changed", "delete net/b");
    expect(requests.map((request) => new URL(`http://x${request}`).pathname)).toEqual(
      Array(2).fill("/api/v1/namespaces/net/pods"),
    );
    expect(requests.map(query)).toEqual([
      {
        watch: "true",
        sendInitialEvents: "true",
        allowWatchBookmarks: "true",
        resourceVersionMatch: "NotOlderThan",
      },
      { watch: "true", allowWatchBookmarks: "true", resourceVersion: "7", timeoutSeconds: "30" },
    ]);
  });

  it("tells of its state, and of all objects at once", async () => {
    const { until, log } = await startWatch([ends(listed(7, "a", "b")), stays()]);
    await until("synced");
    expect(log).toEqual(["listing", "replace net/a net/b", "synced"]);
  });

  it("takes what changes while the list still comes", async () => {
    const list = [
      event("ADDED", "a", 1),
      event("ADDED", "b", 1),
      event("MODIFIED", "a", 2, "2"),
      event("DELETED", "b", 3),
    ];
    const { until } = await startWatch([ends(...list, listed(3)), stays()]);
    await until("replace net/a=2", "synced");
  });

  it("goes on where it was when the server ends it, also after a bookmark, on the same connection", async () => {
    const { asked, requests, connections, log } = await startWatch([
      ends(listed(7, "a")),
      ends(event("ADDED", "b", 8)),
      ends(bookmark(20)),
      ends(bookmark(30)),
      stays(),
    ]);
    await asked(5);
    expect(requests.slice(1).map(from)).toEqual(["7", "8", "20", "30"]);
    expect(log).toEqual(["listing", "replace net/a", "synced", "set net/b"]);
    // The first is left in the middle, since the server would go on with the watch.
    expect(connections().ever).toBeLessThanOrEqual(2);
  });

  it("is not troubled by a watch without a word, if it lasts as long as it may", async () => {
    let end = () => {};
    const { asked, clock, log, requests } = await startWatch([
      ends(listed(7, "a")),
      (response) => {
        response.flushHeaders();
        end = () => response.end();
      },
      stays(),
    ]);
    await asked(2);
    await clock.pass(30_000);
    end();
    await asked(3);
    expect(requests.slice(1).map(from)).toEqual(["7", "7"]);
    expect(log).toEqual(["listing", "replace net/a", "synced"]);
  });

  it("asks for another time each time", async () => {
    const numbers = [0, 0.5, 0.999];
    const answers = [ends(listed(7)), ends(bookmark(8)), ends(bookmark(9)), stays()];
    const { asked, requests } = await startWatch(answers, () => numbers.shift() ?? 0);
    await asked(4);
    expect(requests.slice(1).map((request) => query(request).timeoutSeconds)).toEqual(["30", "37", "44"]);
  });

  it("reads lines wherever they are cut, also in the middle of a letter", async () => {
    const lines = Buffer.from(event("ADDED", "a", 8, "Grüße, 世界 🌍") + event("ADDED", "b", 9, "x".repeat(5_000)));
    const { until } = await startWatch([
      ends(listed(7)),
      (response) => {
        response.flushHeaders();
        const next = (at: number) => {
          response.write(lines.subarray(at, at + 1));
          if (at + 1 < 200) setImmediate(() => next(at + 1));
          else response.write(lines.subarray(at + 1));
        };
        next(0);
      },
    ]);
    await until("set net/a=Grüße, 世界 🌍", `set net/b=${"x".repeat(5_000)}`);
  });
});

describe("a list", () => {
  const page = (version: number, names: string[], next?: string) =>
    JSON.stringify({
      apiVersion: "v1",
      kind: "PodList",
      metadata: { resourceVersion: String(version), ...(next === undefined ? {} : { continue: next }) },
      items: names.map((name) => ({ metadata: { name, namespace: "net", uid: name, resourceVersion: "1" }, says: "" })),
    });

  it.each([400, 422])("comes in pages from a server that refuses to stream it with %i", async (code) => {
    const { until, requests, asked } = await startWatch([
      refuses(code, "Invalid"),
      ends(page(7, ["a", "b"], "more")),
      ends(page(7, ["c"])),
      stays(),
    ]);
    await until("listing", "replace net/a net/b net/c", "synced");
    await asked(4);
    expect(requests.slice(1, 3).map(query)).toEqual([{ limit: "500" }, { limit: "500", continue: "more" }]);
    expect(from(requests[3])).toBe("7");
  });

  it("starts again when its next page is gone", async () => {
    const { until, asked, clock, log, requests } = await startWatch(
      [
        refuses(422),
        ends(page(7, ["a", "b"], "more")),
        refuses(410, "Expired"),
        refuses(422),
        ends(page(9, ["a"])),
        stays(),
      ],
      () => 0.5,
    );
    await asked(3);
    await expect.poll(() => clock.untilNext()).toBe(250);
    await clock.pass(250);
    await until("replace net/a", "synced");
    expect(log).toEqual(["listing", "replace net/a", "synced"]);
    await asked(6);
    expect(from(requests[5])).toBe("9");
  });

  it.each([
    ["ends before its end", [ends(event("ADDED", "a", 1))]],
    ["is cut", [(response) => void response.write(event("ADDED", "a", 1), () => response.destroy())]],
    ["is refused with 504: Too large resource version", [refuses(504, "Timeout")]],
    [
      "breaks off with 504",
      [ends(event("ADDED", "a", 1), `${JSON.stringify({ type: "ERROR", object: { code: 504 } })}\n`)],
    ],
  ] as [string, Answer[]][])("that %s comes in pages at once", async (_, stream) => {
    const { until, requests, asked } = await startWatch([...stream, ends(page(7, ["a", "b"])), stays()]);
    await until("listing", "replace net/a net/b", "synced");
    await asked(3);
    expect([query(requests[1]), from(requests[2])]).toEqual([{ limit: "500" }, "7"]);
  });

  it("that brings no more objects, and does not end, comes in pages after 30 seconds, whatever changes meanwhile", async () => {
    let stream: ServerResponse | undefined;
    const { until, asked, clock, log, requests } = await startWatch([
      (response) => {
        stream = response;
        response.write(event("ADDED", "a", 1));
      },
      ends(page(7, ["a", "b"])),
      stays(),
    ]);
    await asked(1);
    for (let s = 0, n = 2; s < 32; s += 4, n++) {
      stream?.write(event("MODIFIED", "a", n));
      await sleep(20);
      expect(log).toEqual(["listing"]);
      await clock.pass(4000);
    }
    stream?.write(event("MODIFIED", "a", 100));
    await until("listing", "replace net/a net/b", "synced");
    expect(query(requests[1])).toEqual({ limit: "500" });
  });

  it("whose pages fail, too, or that is something else, is asked for again", async () => {
    const { until, clock, log } = await startWatch([
      ends(event("ADDED", "a", 1)),
      refuses(500),
      ends("<html>log in</html>\n"),
      ends('{"type":"ADDED","object":{}}\n'),
      refuses(422),
      ends("{}"),
      refuses(500),
      ends(listed(7, "a")),
      stays(),
    ]);
    await expect.poll(async () => (await clock.pass(0)) ?? log.at(-1)).toBe("synced");
    await until("replace net/a", "synced");
    expect(log.slice(1, -2)).toEqual([
      "failing: it is 500",
      expect.stringMatching(/^failing: not an event of a watch: Unexpected token/),
      'failing: not an event of a watch: {"type":"ADDED","object":{}}',
      "failing: what answers /api/v1/namespaces/net/pods is no API server of Kubernetes",
      "failing: it is 500",
    ]);
  });

  it("that freezes comes in pages after 30 seconds, and is asked for again 30 seconds later", async () => {
    const { until, asked, clock } = await startWatch([
      stays(event("ADDED", "a", 1)),
      () => {},
      ends(listed(7, "b")),
      stays(),
    ]);
    await asked(1);
    await clock.pass(30_000);
    await asked(2);
    await clock.pass(30_000);
    await until("listing", "failing: nothing came for 30 seconds", "replace net/b", "synced");
  });
});

describe("a kind that there is not", () => {
  it("is absent, asked for every 10 to 15 seconds, and synced when it comes", async () => {
    const numbers = [0, 0.999];
    const { until, asked, clock, log, requests } = await startWatch(
      [refuses(404), refuses(404), ends(listed(7, "a")), stays()],
      () => numbers.shift() ?? 0,
    );
    await until("listing", "absent");
    await clock.pass(9_999);
    expect(requests).toHaveLength(1);
    await clock.pass(1);
    await asked(2);
    await expect.poll(() => clock.untilNext()).toBeCloseTo(14_995);
    await clock.pass(14_995);
    await until("replace net/a", "synced");
    expect(log).toEqual(["listing", "absent", "replace net/a", "synced"]);
  });

  it("any more: what was known of it stays, and it is asked for soon: a server that starts answers 404, too", async () => {
    const replies = [ends(listed(7, "a")), refuses(404), refuses(404), ends(listed(9)), stays()];
    const { until, asked, clock, log } = await startWatch(replies, () => 0.999);
    await until("absent");
    await clock.pass(500);
    await asked(3);
    await expect.poll(() => clock.untilNext()).toBeCloseTo(999);
    await clock.pass(1_000);
    await until("replace", "synced");
    expect(log).toEqual(["listing", "replace net/a", "synced", "absent", "replace", "synced"]);
  });
});

describe("a refusal", () => {
  it("403 is told of, and asked again slowly", async () => {
    const { until, clock, log, requests } = await startWatch([
      refuses(403, "Forbidden"),
      refuses(403, "Forbidden"),
      ends(listed(7, "a")),
      stays(),
    ]);
    await until("listing", "failing: it is 403");
    await clock.pass(9_999);
    expect(requests).toHaveLength(1);
    await clock.pass(1);
    await until("failing: it is 403", "failing: it is 403");
    await clock.pass(10_000);
    await until("replace net/a", "synced");
    expect(log).toHaveLength(5);
  });

  it.each([
    ["a reply", refuses(410, "Expired")],
    ["an event", ends(event("ADDED", "b", 8) + error(410, "Expired"))],
  ])("410 as %s: lists again, and what is not listed is gone", async (_, gone) => {
    const { until, asked, requests } = await startWatch([ends(listed(7, "a")), gone, ends(listed(9, "c")), stays()]);
    await until("listing", "replace net/c", "synced");
    await asked(4);
    expect(requests.map(isList)).toEqual([true, false, true, false]);
    expect(from(requests[3])).toBe("9");
  });

  it.each([429, 503])("%i with Retry-After: leaves the server alone, and goes on where it was", async (code) => {
    const { until, asked, clock, requests } = await startWatch([
      ends(listed(7, "a")),
      refuses(code, "", { "retry-after": "20" }),
      stays(),
    ]);
    await until("synced", `failing: it is ${code}`);
    await clock.pass(19_999);
    expect(requests).toHaveLength(2);
    await clock.pass(1);
    await asked(3);
    await until("synced");
    expect(from(requests[2])).toBe("7");
  });

  it("429 as an event: the same", async () => {
    const busy = error(429, "TooManyRequests", { retryAfterSeconds: 3 });
    const { until, asked, clock, requests } = await startWatch([ends(listed(7)), ends(bookmark(8) + busy), stays()]);
    await until("failing: it is 429");
    await expect.poll(() => clock.untilNext()).toBe(3_000);
    await clock.pass(3_000);
    await asked(3);
    expect(from(requests[2])).toBe("8");
  });

  it.each([
    ["another error", error(500, "InternalError"), "it is 500"],
    ["what is no JSON", "{oops}\n", "not an event of a watch: "],
    ["an event of no known type", event("RENAMED", "a", 9), "not an event of a watch: "],
    ["null", "null\n", "not an event of a watch: null"],
    ["half a line", '{"type":"ADD', 'the reply ends in the middle of a line: {"type":"ADD'],
  ])("%s: lists again", async (_, text, message) => {
    const { until, log, requests, asked } = await startWatch([
      ends(listed(7, "a")),
      ends(event("ADDED", "b", 8) + text),
      ends(listed(9, "a", "b")),
      stays(),
    ]);
    await until("replace net/a net/b", "synced");
    expect(log[4]).toContain(`failing: ${message}`);
    await asked(4);
    expect(requests.map(isList)).toEqual([true, false, true, false]);
  });
});

describe("a connection", () => {
  it("that is cut: goes on where it was", async () => {
    const { until, asked, requests } = await startWatch([
      ends(listed(7, "a")),
      (response) => {
        response.write(event("ADDED", "b", 8));
        setTimeout(() => response.destroy(), 20);
      },
      stays(event("ADDED", "c", 9)),
    ]);
    await until("set net/b", "failing: aborted", "synced", "set net/c");
    await asked(3);
    expect(from(requests[2])).toBe("8");
  });

  it("that freezes: goes on where it was, 5 seconds after the watch should have ended", async () => {
    const { until, asked, clock, requests, connections } = await startWatch([
      ends(listed(7, "a")),
      stays(event("ADDED", "b", 8)),
      () => {},
      stays(event("ADDED", "c", 9)),
    ]);
    await until("set net/b");
    await clock.pass(34_999);
    expect(requests).toHaveLength(2);
    await clock.pass(1);
    await until("failing: nothing came for 35 seconds");
    await asked(3);
    await clock.pass(35_000);
    await asked(4);
    await until("failing: nothing came for 35 seconds", "synced", "set net/c");
    expect(requests.slice(1).map(from)).toEqual(["7", "8", "8"]);
    await expect.poll(() => connections().open).toBe(1);
  });

  it("to a server that ends every watch at once: is not asked in a hurry", async () => {
    const { until, clock, requests } = await startWatch(
      [ends(listed(7, "a")), ...Array.from({ length: 500 }, () => ends())],
      () => 1,
    );
    await until("failing: the watch ended before its time, without a word");
    for (let minute = 0; minute < 60; minute++) {
      await clock.pass(60_000);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect(requests.length).toBeGreaterThan(30);
    expect(requests.length).toBeLessThan(130);
    expect(requests.filter(isList)).toHaveLength(1);
  });

  it("to a server that forgets all the time: is not asked in a hurry", async () => {
    const answers = Array.from({ length: 500 }, (_, n) => (n % 2 === 0 ? ends(listed(7, "a")) : refuses(410)));
    const { asked, clock, requests } = await startWatch(answers, () => 1);
    await asked(2);
    for (let minute = 0; minute < 60; minute++) {
      await clock.pass(60_000);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    expect(requests.length).toBeGreaterThan(60);
    expect(requests.length).toBeLessThan(260);
  });
});

describe("the end", () => {
  it("comes with the signal, closes the connection, and nothing is told after it", async () => {
    const { until, stop, ended, connections, log } = await startWatch([
      ends(listed(7, "a")),
      stays(event("ADDED", "b", 8), event("ADDED", "c", 9)),
    ]);
    await until("set net/b", "set net/c");
    stop();
    await ended;
    expect(log.at(-1)).toBe("set net/c");
    await expect.poll(() => connections().open).toBe(0);
  });

  it("is at once: what has arrived by then is not told", async () => {
    const { log, stop, ended, asked } = await startWatch([
      ends(listed(7, "a")),
      ends(event("ADDED", "b", 8) + event("ADDED", "c", 9)),
    ]);
    log.push = (line) => {
      if (line === "set net/b") stop();
      return Array.prototype.push.call(log, line);
    };
    await asked(2);
    await ended;
    expect(log.at(-1)).toBe("set net/b");
  });

  it("comes also while a list is read, and while it waits", async () => {
    const listing = await startWatch([stays(event("ADDED", "a", 1))]);
    await listing.asked(1);
    listing.stop();
    await listing.ended;
    expect(listing.log).toEqual(["listing"]);

    const waiting = await startWatch([refuses(404)]);
    await waiting.until("absent");
    waiting.stop();
    await waiting.ended;
  });
});

function error(code: number, reason: string, details = {}): string {
  const object = { kind: "Status", status: "Failure", code, reason, message: `it is ${code}`, details };
  return `${JSON.stringify({ type: "ERROR", object })}\n`;
}
