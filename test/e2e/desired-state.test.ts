import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { beforeEach, describe, expect, test } from "vitest";
import { asTruth } from "../../integrations/nmstate/truth.ts";
import { root } from "../support/console.ts";
import { examples } from "../support/objects/nmstate-examples.ts";
import { format, gc, runPolicy } from "../support/real/nmstatectl.ts";
import { BUILD_TIMEOUT, orSkip, tool } from "../support/tools/tools.ts";

// The types of desired states, held against the engine of the handler: it refuses fields that it does not know.

beforeEach(async (context) => {
  await orSkip(context, tool("nmstatectl"));
}, BUILD_TIMEOUT);

/** What NetworkManager cannot have as a profile, or nmstate does not write as one. */
const noProfile: Readonly<Record<string, RegExp>> = {
  base: /Dispatch script is not supported in gc/,
  rest: /next hop interface eth1 not found/,
};

describe.for(Object.entries(examples))("the example %s", ([name, state]) => {
  test("is a state that nmstate takes", async () => {
    await expect(format(state)).resolves.toBeDefined();
    expect(await runPolicy({}, state, {})).toMatchObject(state);
  });

  test("becomes profiles of NetworkManager, or is refused for the reason we know", async () => {
    if (noProfile[name] === undefined) await expect(gc(state)).resolves.toBeDefined();
    else await expect(gc(state)).rejects.toThrow(noProfile[name]);
  });
});

test("every field of the types is in an example", () => {
  const known = new Set<string>();
  JSON.stringify(examples, (key, value) => {
    known.add(key);
    return value;
  });
  const files = ["desired-state.ts", "interface.ts", "interface-sections.ts"];
  const fields = files.flatMap((file) => fieldsOf(readFileSync(join(root, "integrations/nmstate", file), "utf8")));
  expect(fields.length).toBeGreaterThan(150);
  expect(fields.filter((field) => !known.has(field))).toEqual([]);
});

test("what nmstate reads as a truth is one for us", async () => {
  const words = [
    "1",
    "true",
    "yes",
    "on",
    "y",
    "0",
    "false",
    "no",
    "off",
    "n",
    "True",
    "NO",
    "oN",
    "2",
    "",
    " no",
    "t",
  ];
  for (const enabled of [true, false, 0, 1, 2, -1, ...words]) {
    const state = { interfaces: [{ name: "eth1", type: "ethernet", ipv4: { enabled } }] };
    const read = (await format(state).catch(() => undefined)) as typeof state | undefined;
    expect([enabled, asTruth(enabled)]).toEqual([enabled, read?.interfaces[0]?.ipv4.enabled]);
  }
});

function fieldsOf(text: string): string[] {
  const fields: string[] = [];
  const walk = (node: ts.Node): void => {
    if (ts.isPropertySignature(node) && (ts.isIdentifier(node.name) || ts.isStringLiteral(node.name)))
      fields.push(node.name.text);
    ts.forEachChild(node, walk);
  };
  walk(ts.createSourceFile("a.ts", text, ts.ScriptTarget.Latest));
  return fields;
}
