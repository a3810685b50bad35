import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { cli, lockText, projectOf, run } from "../../support/schema/cli.ts";
import { documentsOf, nicPolicyText, poolText } from "../../support/schema/text.ts";

// Whoever follows the hints, one after the other, gets to an `allocate` that moves nobody.
const pool = poolText("  range: {cidr: 10.0.0.0/26}");
const wide = (text: string) => text.replaceAll("10.0.0.0/29", "10.0.0.0/26");
const on = (name: string, role: string, nic = "eth1") =>
  nicPolicyText(name, ["p"], nic, `  nodeSelector:\n    role: ${role}\n`);
/** `n1:w`: a node and its role. */
const nodesText = (...nodes: string[]) =>
  nodes
    .map((node) => node.split(":"))
    .map(([name, role]) => `${name} kubernetes.io/hostname=${name},role=${role}\n`)
    .join("");
const addressesIn = (folder: string) =>
  [...readFileSync(join(folder, "nodeippool.lock"), "utf8").matchAll(/"address":"([^"]*)".*?"claim":"([^"]*)"/g)].map(
    ([, address, claim = ""]) => `${address} ${claim.replace(/\/p$/, "").replace("Node/", "")}`,
  );

/** Follows the first hint of each refusal, until there is none. */
async function follow(folder: string): Promise<string[]> {
  const followed: string[] = [];
  for (let rounds = 0; rounds < 9; rounds++) {
    const { status, stderr } = await run(folder, "allocate", "--confirm");
    if (status === 0) return followed;
    const [, hint = ""] =
      /or allow the move: nodeippool (.*), or nodeippool allocate --allow-move$/m.exec(stderr) ?? [];
    expect(hint, stderr).not.toBe("");
    expect(await cli(hint.split(" "), folder)).toMatchObject({ status: 0, stderr: "" });
    followed.push(hint);
  }
  throw new Error(`no end: ${followed.join("; ")}`);
}

interface Row {
  readonly what: string;
  readonly before: string[];
  readonly manifests: string;
  readonly nodes: string[];
  readonly hints: string[];
  readonly after: string[];
}

const rows: Row[] = [
  {
    what: "a policy that was split: the old name stays with some",
    before: ["10.0.0.1 Node/n1/nic/p", "10.0.0.2 Node/n2/nic/p", "10.0.0.3 Node/n3/nic/p", "10.0.0.4 Node/n4/nic/p"],
    manifests: documentsOf(pool, on("nic", "w"), on("nicc", "c")),
    nodes: ["n1:w", "n2:w", "n3:c", "n4:c"],
    hints: ["mv Node/n3/nic/p Node/n3/nicc/p", "mv Node/n4/nic/p Node/n4/nicc/p"],
    after: ["10.0.0.1 n1/nic", "10.0.0.2 n2/nic", "10.0.0.3 n3/nicc", "10.0.0.4 n4/nicc"],
  },
  {
    what: "a policy that was split, and both have new names",
    before: ["10.0.0.1 Node/n1/nic/p", "10.0.0.2 Node/n2/nic/p", "10.0.0.3 Node/n3/nic/p"],
    manifests: documentsOf(pool, on("nicw", "w"), on("nicc", "c")),
    nodes: ["n1:w", "n2:w", "n3:c"],
    hints: ["mv nic/p nicw/p", "mv Node/n3/nicw/p Node/n3/nicc/p"],
    after: ["10.0.0.1 n1/nicw", "10.0.0.2 n2/nicw", "10.0.0.3 n3/nicc"],
  },
  {
    what: "one node of another role now",
    before: ["10.0.0.1 Node/n1/nic/p", "10.0.0.2 Node/n2/nicc/p", "10.0.0.3 Node/n3/nic/p"],
    manifests: documentsOf(pool, on("nic", "w"), on("nicc", "c")),
    nodes: ["n1:w", "n2:c", "n3:c"],
    hints: ["mv Node/n3/nic/p Node/n3/nicc/p"],
    after: ["10.0.0.1 n1/nic", "10.0.0.2 n2/nicc", "10.0.0.3 n3/nicc"],
  },
  {
    what: "two nodes that changed places",
    before: ["10.0.0.1 Node/n1/nic/p", "10.0.0.2 Node/n2/nicc/p"],
    manifests: documentsOf(pool, on("nic", "w"), on("nicc", "c")),
    nodes: ["n1:c", "n2:w"],
    hints: ["mv Node/n1/nic/p Node/n1/nicc/p", "mv Node/n2/nicc/p Node/n2/nic/p"],
    after: ["10.0.0.1 n1/nicc", "10.0.0.2 n2/nic"],
  },
  {
    what: "a renamed policy, and a node that came under the old name",
    before: ["10.0.0.1 Node/n1/lan/p", "10.0.0.2 Node/n2/lan/p", "10.0.0.3 Node/n3/nic/p"],
    manifests: documentsOf(pool, nicPolicyText("lan")),
    nodes: ["n1:w", "n2:w", "n3:w"],
    hints: ["mv nic/p lan/p"],
    after: ["10.0.0.1 n1/lan", "10.0.0.2 n2/lan", "10.0.0.3 n3/lan"],
  },
  {
    what: "a renamed policy, with a node that is gone",
    before: ["10.0.0.1 Node/n1/nic/p", "10.0.0.2 Node/n2/nic/p", "10.0.0.3 Node/n3/nic/p releasing"],
    manifests: documentsOf(pool, nicPolicyText("lan")),
    nodes: ["n1:w", "n2:w"],
    hints: ["mv nic/p lan/p"],
    after: ["10.0.0.1 n1/lan", "10.0.0.2 n2/lan", "10.0.0.3 n3/lan"],
  },
  {
    what: "two policies that became one",
    before: ["10.0.0.1 Node/n1/nicw/p", "10.0.0.2 Node/n2/nicc/p"],
    manifests: documentsOf(pool, nicPolicyText("nic")),
    nodes: ["n1:w", "n2:c"],
    hints: ["mv nicw/p nic/p", "mv nicc/p nic/p"],
    after: ["10.0.0.1 n1/nic", "10.0.0.2 n2/nic"],
  },
  {
    what: "a renamed capture",
    before: ["10.0.0.1 Node/n1/nic/a", "10.0.0.2 Node/n2/nic/a"],
    manifests: documentsOf(pool, nicPolicyText("nic")),
    nodes: ["n1:w", "n2:w"],
    hints: ["mv nic/a nic/p"],
    after: ["10.0.0.1 n1/nic", "10.0.0.2 n2/nic"],
  },
  {
    what: "a renamed policy with more captures than it had",
    before: ["10.0.0.1 Node/n1/nic/p"],
    manifests: documentsOf(
      pool,
      nicPolicyText("lan").replace("    p: ippool", "    a: ippool.p.allocate\n    p: ippool"),
    ),
    nodes: ["n1:w"],
    hints: ["mv nic/p lan/p"],
    after: ["10.0.0.1 n1/lan", "10.0.0.2 n1/lan/a"],
  },
];

describe("the hints of a refused move", () => {
  it.each(rows)("end where nobody moved: $what", async ({ before, manifests, nodes, hints, after }) => {
    const lock = wide(lockText(...before));
    const folder = projectOf({
      "nodeippool.lock": lock,
      "manifests/a.yaml": manifests,
      "nodes.txt": nodesText(...nodes),
    });
    expect(await follow(folder)).toEqual(hints);
    expect(addressesIn(folder)).toEqual(after);
  });
});

describe("two claims of a node exchange their NICs", () => {
  const swapped = documentsOf(
    poolText("  range: {cidr: 10.0.0.0/29}"),
    nicPolicyText("a", ["p"], "eth2"),
    nicPolicyText("b", ["p"], "eth1"),
  );
  const held = lockText(
    "10.0.0.1 Node/n1/a/p",
    "10.0.0.2 Node/n1/b/p if=eth2",
    "10.0.0.3 Node/n2/a/p",
    "10.0.0.4 Node/n2/b/p if=eth2",
  );
  const commands = "nodeippool mv a/p a/p-was; nodeippool mv b/p a/p; nodeippool mv a/p-was b/p";

  it("only their names: by mv nobody moves", async () => {
    const folder = projectOf({ "nodeippool.lock": held, "manifests/a.yaml": swapped });
    for (const command of commands.split("; "))
      expect(await cli(command.split(" ").slice(1), folder)).toMatchObject({ status: 0 });
    expect((await run(folder, "allocate")).stdout).toMatch(/Nothing to record\.\n$/);
    expect(addressesIn(folder)).toEqual(["10.0.0.1 n1/b", "10.0.0.2 n1/a", "10.0.0.3 n2/b", "10.0.0.4 n2/a"]);
  });

  it("and one that only gets another NIC does not", async () => {
    const folder = projectOf({ "nodeippool.lock": lockText("10.0.0.1 Node/n1/a/p", "10.0.0.3 Node/n2/a/p") });
    const path = join(folder, "manifests/a.yaml");
    writeFileSync(path, readFileSync(path, "utf8").replace("eth1", "eth2"));
    const { stdout } = await run(folder, "plan");
    expect(stdout).toContain("on eth2, was on eth1");
    expect(stdout).not.toContain("mv");
  });
});
