import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { metricsOf } from "../../controller/run/metrics.ts";
import { emptySnapshot } from "../../core/index.ts";
import { root } from "../support/console.ts";

const page = readFileSync(join(root, "docs/observe.md"), "utf8");

describe("the page on what the controller tells", () => {
  it("has the reason of every Event", () => {
    const source = readFileSync(join(root, "controller/events.ts"), "utf8");
    const [, table = ""] = /^const reasons[^{]*{([^}]*)}/m.exec(source) ?? [];
    const reasons = [...table.matchAll(/: "(\w+)",/g)].map(([, reason]) => `${reason}`);
    expect(reasons).toContain("Invalid");
    expect(reasons.filter((reason) => !page.includes(`\`${reason}\``))).toEqual([]);
  });

  it("has every metric, and no other", async () => {
    const counted = { pools: [], conflicts: new Map(), snapshot: emptySnapshot, pending: [], watches: new Map() };
    const metrics = metricsOf(() => ({ ...counted, queue: { length: 0, oldest: 0 } }), "0.1.0");
    const printed = [...(await metrics.print()).text.matchAll(/^# TYPE (nodeippool_\w+)/gm)].map(([, name]) => name);
    const shown = [...page.matchAll(/`(nodeippool_\w+)`/g)].map(([, name]) => name);
    expect([...new Set(shown)].sort()).toEqual(printed.sort());
  });
});
