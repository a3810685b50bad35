import { describe, expect, it } from "vitest";
import { poolsSvg } from "../../../cli/pools/pool-svg.ts";
import { viewsOf } from "../../../cli/pools/pools.ts";
import type { Pool } from "../../../core/pool.ts";
import { poolOf, recordOf } from "../../support/core/text.ts";

const storage = poolOf("storage", "192.168.40.0/24 192.168.40.10 192.168.40.79", {
  exclude: ["192.168.40.48/28"],
  gateway: "192.168.40.20",
  network: "storage",
  clusterRange: { start: "192.168.40.68", end: "192.168.40.79" },
  reservations: [{ address: "192.168.40.11", owner: "Node/node05" }],
});
const storageLines = [
  "192.168.40.12 Node/node01/static-ip/data pool=storage if=eth1",
  "192.168.40.13 VirtualMachine/ns:vm1/net0 pool=storage",
  "192.168.40.14 Node/node02/static-ip/data pool=storage if=eth1 releasing",
  "192.168.40.50 Node/node03/static-ip/data pool=storage if=eth1",
  "192.168.40.90 Node/node04/static-ip/data pool=storage if=eth1",
];

/** The elements of an XML text in order; throws where it is not well formed. */
function elementsOf(xml: string): { name: string; attributes: string; text: string }[] {
  const found: { name: string; attributes: string; text: string }[] = [];
  const open: string[] = [];
  for (const part of xml.split(/(?=<)/)) {
    const match = /^<(\/?)([a-z]+)((?: [a-zA-Z0-9-]+="[^"<&]*")*)(\/?)>([^<]*)$/.exec(part);
    if (match === null) throw new Error(`no XML: ${part}`);
    const [, closes, name = "", attributes = "", single, text = ""] = match;
    if (/&(?!amp;|lt;|gt;)/.test(text)) throw new Error(`no XML text: ${text}`);
    if (closes && open.pop() !== name) throw new Error(`${name} closes nothing`);
    if (!closes) found.push({ name, attributes, text });
    if (!closes && !single) open.push(name);
  }
  if (open.length > 0) throw new Error(`${open} is never closed`);
  return found;
}

describe("poolsSvg", () => {
  const draw = (pool: Pool, lines: readonly string[]) => elementsOf(poolsSvg(viewsOf([pool], recordOf(lines, [pool]))));

  it("draws a cell for every address of a row, and says what it is", () => {
    const elements = draw(storage, storageLines);
    const looks = (look: string) => elements.filter((e) => e.attributes.includes(`class="cell ${look}"`)).length;
    // One more of each than in the map: the legend.
    expect(
      Object.fromEntries(["held", "releasing", "free", "reserved", "controller", "excluded"].map((l) => [l, looks(l)])),
    ).toEqual({ held: 5, releasing: 2, free: 38, reserved: 2, controller: 13, excluded: 17 });
    expect(looks("outside")).toBe(3 * 32 - 71);
    const titles = elements.filter((e) => e.name === "title").map((e) => e.text);
    expect(titles[0]).toBe("Address map of storage");
    expect(titles).toContain(
      "192.168.40.12: pool storage of network storage, offset 2, held by node01, static-ip/data, on eth1",
    );
    expect(titles).toHaveLength(1 + 3 * 32);
  });

  it("draws nothing outside the subnet", () => {
    const titles = draw(poolOf("p", "10.0.0.8/30"), []).filter((e) => e.name === "title");
    expect(titles).toHaveLength(1 + 4);
  });

  it("is not fooled by names", () => {
    const claim = "Node/a/</title></rect><script>alert(1)</script>&\"'\u0085";
    const nic = "]]>\u0000\u001b[2J\ud800\uffff<!--";
    const hostile = poolOf("p", "10.0.0.0/29", { network: "<b>&amp;" });
    const elements = draw(hostile, [`10.0.0.1 ${claim} if=${nic}`]);
    expect(new Set(elements.map((e) => e.name))).toEqual(
      new Set(["svg", "title", "style", "defs", "pattern", "line", "rect", "text"]),
    );
    expect(elements.map((e) => e.text)).toContain(
      "10.0.0.1: pool p of network &lt;b&gt;&amp;amp;, offset 0, held by a, " +
        "&lt;/title&gt;&lt;/rect&gt;&lt;script&gt;alert(1)&lt;/script&gt;&amp;\"'\uFFFD, " +
        "on ]]&gt;\uFFFD\uFFFD[2J\uFFFD\uFFFD&lt;!--",
    );
  });

  it("draws a /8 as small as its lines are few", () => {
    expect(draw(poolOf("p", "10.0.0.0/8"), ["10.77.3.4 Node/a/x/y"]).length).toBeLessThan(300);
  });
});
