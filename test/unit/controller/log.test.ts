import { expect, it } from "vitest";
import type { LogLevel } from "../../../controller/dependencies.ts";
import { logger, logLine, retryLevel } from "../../../controller/log.ts";
import { IpamError } from "../../../core/index.ts";
import { Refusal } from "../../../kube/refusal.ts";

const time = new Date("2026-01-02T03:04:05.006Z");

it("is one JSON object a line, with the fields of the event", () => {
  expect(logLine({ level: "info", message: "a\nb", key: "apply x", pause: 5 }, time)).toBe(
    '{"time":"2026-01-02T03:04:05.006Z","level":"info","message":"a\\nb","key":"apply x","pause":5}',
  );
});

it("an error has its code, and the status of the server", () => {
  const cause = new Refusal({ status: 403, headers: {}, body: "no" });
  const logged = (error: unknown) => JSON.parse(logLine({ level: "warn", message: "m", error }, time));
  expect(logged(new IpamError("invalid", "why", { cause }))).toMatchObject({
    error: "why",
    code: "invalid",
    status: 403,
  });
  expect(logged(new IpamError("conflict", "why"))).not.toHaveProperty("status");
  expect(logged(new IpamError("conflict", "why"))).not.toHaveProperty("stack");
  expect(logged(new TypeError("oops"))).toMatchObject({
    error: "oops",
    code: "bug",
    stack: expect.stringContaining("log.test"),
  });
  expect(logged("text")).toMatchObject({ error: "text", code: "bug" });
});

it("two writers that meet are worth a warning only if they meet again and again; anything else that fails is at once", () => {
  const [conflict, refused] = [new IpamError("conflict", "why"), new IpamError("invalid", "why")];
  const levels = [retryLevel(conflict, 5), retryLevel(conflict, 10_000), retryLevel(refused, 5)];
  expect(levels).toEqual(["debug", "warn", "warn"]);
});

it.each<[LogLevel, number]>([
  ["error", 1],
  ["warn", 2],
  ["info", 3],
  ["debug", 4],
])("%s and what is more important", (least, count) => {
  const lines: string[] = [];
  const log = logger(
    least,
    (line) => lines.push(line),
    () => time,
  );
  for (const level of ["debug", "info", "warn", "error"] as const) log({ level, message: level });
  expect(lines).toHaveLength(count);
  expect(lines.every((line) => line.endsWith("}\n"))).toBe(true);
});
