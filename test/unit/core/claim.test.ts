import { describe, expect, it } from "vitest";
import {
  claimKey,
  formatOwner,
  nameOfKey,
  nodeNameOf,
  nodeOwner,
  type Owner,
  ownerOfKey,
  parseClaimKey,
  parseOwner,
} from "../../../core/claim.ts";

const node = { kind: "Node", name: "node01" };
const machine = { kind: "VirtualMachine", namespace: "tenant-a", name: "db.0" };

describe("claimKey", () => {
  it.each<{ owner: Owner; name: string; want: string }>([
    { owner: node, name: "a", want: "Node/node01/a" },
    { owner: node, name: "static-ip/address-from-traffic-1", want: "Node/node01/static-ip/address-from-traffic-1" },
    { owner: machine, name: "net0", want: "VirtualMachine/tenant-a:db.0/net0" },
    { owner: { kind: "K", name: "A_b.9" }, name: ":/ ü", want: "K/A_b.9/:/ ü" },
  ])("claimKey($owner, $name) is $want, and back", ({ owner, name, want }) => {
    expect(claimKey(owner, name)).toBe(want);
    expect(parseClaimKey(want)).toEqual({ value: { owner, name } });
    expect(parseOwner(formatOwner(owner))).toEqual({ value: owner });
    expect(ownerOfKey(want)).toBe(formatOwner(owner));
    expect(nameOfKey(want)).toBe(name);
  });
});

it("nodeNameOf reads what nodeOwner writes, and no other kind", () => {
  expect(nodeNameOf(nodeOwner("node01"))).toBe("node01");
  expect(nodeNameOf("NodeSet/node01")).toBeUndefined();
  expect(nodeNameOf(formatOwner(machine))).toBeUndefined();
});

describe("parseOwner refuses", () => {
  it.each([
    "",
    "Node",
    "node01",
    "/node01",
    "Node/",
    "Node//node01",
    "Node/node01/a",
    "Node/:node01",
    "Node/ns:",
    "Node/a:b:c",
    "Node/Ns:a",
    "Node/-a",
    "Node/.a",
    "Node/../etc",
    "No de/a",
    "9Node/a",
    "No-de/a",
    "Nøde/a",
    "Node/a b",
    " Node/a",
    "Node/a ",
    "Node/a\n",
    "Node/a\nNode/b",
    "Node/a\u0000",
    "Node/ä",
    "Node/a\u202e",
    "__proto__/a",
    `Node/${"a".repeat(400)}`,
  ])("%j", (text) => {
    expect(parseOwner(text).issues?.[0]?.message).toMatch("is not an owner");
  });

  it.each(["a", "/", "Node/a:", "-."])("%j repeated to 1 MiB, in a short message", (part) => {
    const { issues } = parseOwner(part.repeat(2 ** 20 / part.length));
    expect(issues?.[0]?.message.length).toBeLessThan(200);
  });
});

describe("parseClaimKey refuses", () => {
  it.each([
    "",
    "a",
    "Node/node01",
    "Node/node01/",
    "Node//a",
    "/node01/a",
    "Node/a b/c",
    "Node/../a",
    "Node/node01/a\n",
    "Node/node01/\u0000",
    "Node/node01/a\u007f",
    "Node/node01/\t",
    "Node/node01/a\u0085",
    "Node/node01/a\u2028",
    "Node/node01/a\u202eb",
    "Node/node01/a\u200bb",
    "Node/node01/a\ud800",
    `Node/node01/${"a".repeat(401)}`,
  ])("%j", (key) => {
    expect(parseClaimKey(key).issues?.[0]?.message).toMatch("is not a claim");
  });
});
