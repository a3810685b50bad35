import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../../support/console.ts";
import { cli, filesOf, folderOf, writeFiles } from "../../support/schema-cli.ts";

/* What goes wrong in a repository that began as examples/first-day. */

const network = "manifests/network.yaml";
const worker = 'node-role.kubernetes.io/worker: ""';
const labelled = (name: string) => `${name} kubernetes.io/hostname=${name},node-role.kubernetes.io/worker=\n`;
const unlabelled = (name: string) => `${name} kubernetes.io/hostname=${name}\n`;
const workers = ["node01", "node02", "node03", "node04"];

/** A copy of the example, with these files in place of its own, and all of it recorded. */
async function firstDay(files: Readonly<Record<string, string>> = {}): Promise<string> {
  const folder = folderOf({ ...filesOf(join(root, "examples/first-day")), ...files });
  expect(await cli(["allocate"], folder)).toMatchObject({ status: 0, stderr: "" });
  return folder;
}

const networkWith = (from: string, to: string) =>
  (filesOf(join(root, "examples/first-day"))[network] ?? "").replace(from, to);

describe("a plan that takes addresses of live nodes in a small cluster", () => {
  it.each<[does: string, nodes: readonly string[], changes: Readonly<Record<string, string>>, released: RegExp]>([
    [
      "whose selector was narrowed to one of three nodes",
      workers.slice(0, 3),
      { [network]: networkWith(worker, "kubernetes.io/hostname: node01") },
      /releases 2 of 3 addresses of policy storage-nic \(172\.20\.0\.22 of node03, 172\.20\.0\.40 of node02\)/,
    ],
    [
      "because three of four nodes lost their label",
      workers,
      { "nodes.txt": [labelled("node01"), ...workers.slice(1).map(unlabelled)].join("") },
      /releases 3 of 4 addresses of policy storage-nic/,
    ],
    [
      "because two of four nodes lost their label",
      workers,
      { "nodes.txt": [...workers.slice(0, 2).map(labelled), ...workers.slice(2).map(unlabelled)].join("") },
      /releases 2 of 4 addresses of policy storage-nic/,
    ],
  ])("%s: stops until it is confirmed", async (_, nodes, changes, released) => {
    const folder = await firstDay({ "nodes.txt": nodes.map(labelled).join("") });
    writeFiles(folder, changes);
    for (const verb of ["plan", "allocate"]) {
      const { status, stderr } = await cli([verb], folder);
      expect({ status, stderr }).toEqual({ status: 3, stderr: expect.stringMatching(released) });
    }
    expect(await cli(["allocate", "--confirm"], folder)).toMatchObject({ status: 0, stderr: "" });
  });

  it.each<[does: string, nodes: readonly string[], left: string]>([
    [
      "because one of three nodes lost its label",
      workers.slice(0, 3),
      labelled("node01") + labelled("node02") + unlabelled("node03"),
    ],
    ["because two of four nodes left", workers, labelled("node01") + labelled("node02")],
  ])("%s: goes on", async (_, nodes, left) => {
    const folder = await firstDay({ "nodes.txt": nodes.map(labelled).join("") });
    writeFiles(folder, { "nodes.txt": left });
    expect(await cli(["allocate"], folder)).toMatchObject({ status: 0, stderr: "" });
  });
});
