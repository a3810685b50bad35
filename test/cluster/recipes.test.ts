import { readFileSync } from "node:fs";
import { parse } from "node:path";
import { describe, expect, it } from "vitest";
import { blockWith } from "../support/cli/markdown.ts";
import { clusterOfFile } from "../support/cluster/of-file.ts";
import { RecordNamespace } from "../support/cluster/record.ts";
import { Session } from "../support/console.ts";
import { manifests, projectOf } from "../support/schema/cli.ts";
import { documentsOf, nicPolicyText, poolText } from "../support/schema/text.ts";
import { tool } from "../support/tools/tools.ts";

describe("what the page on recovery says of a record in a cluster", () => {
  const cluster = clusterOfFile(async () => {});
  const page = readFileSync("docs/recovery.md", "utf8");
  const other = (net: string, pool: string, policy: string, nic: string) =>
    documentsOf(poolText(`  range: {cidr: ${net}.0/29}`, pool), nicPolicyText(policy, [pool], nic));

  /** Two folders, each with a lock, whose records a namespace has; and one that has none yet. */
  async function twoFolders() {
    const names = [(await RecordNamespace.make(cluster())).name, (await RecordNamespace.make(cluster())).name];
    const { dir } = parse(await tool("kubectl"));
    const PATH = `PATH=${dir}:$PATH`;
    const env = { KUBECONFIG: cluster().kubeconfig };
    const folders = [manifests, other("10.0.1", "q", "b", "eth2"), other("10.0.2", "r", "c", "eth3")];
    const [one, two] = folders.map((text) => {
      const folder = projectOf({ "manifests/a.yaml": text });
      const session = new Session(folder, env);
      const run = (line: string) =>
        session.run(
          line
            .replaceAll(" network", ` ${names[0]}`)
            .replaceAll(" later", ` ${names[1]}`)
            .replaceAll(/^kubectl/gm, `${PATH} kubectl`),
        );
      return { folder, run };
    }) as [Folder, Folder];
    one.run("nodeippool allocate manifests --nodes nodes.txt --set one");
    expect(one.run("nodeippool migrate kubernetes --namespace network")).toContain("No address changed hands.");
    two.run("nodeippool allocate manifests --nodes nodes.txt --set two --backend kubernetes --namespace network");
    return { one, two };
  }
  interface Folder {
    readonly folder: string;
    readonly run: (line: string) => string;
  }
  const plan = (set: string, namespace = "network") =>
    `nodeippool plan manifests --nodes nodes.txt --set ${set} --backend kubernetes --namespace ${namespace}`;

  it("that folders have in common: it goes on by one lock, and a copy of that is right for the others", async () => {
    const { one, two } = await twoFolders();
    one.run("nodeippool migrate lockfile --namespace network");
    expect(
      two.run(`nodeippool plan manifests --nodes nodes.txt --set two --lock ${one.folder}/nodeippool.lock`),
    ).toContain("Nothing to record.");
    expect(one.run("nodeippool migrate kubernetes --namespace later")).toContain("No address changed hands.");
    two.run(`cp ${one.folder}/nodeippool.lock nodeippool.lock`);
    expect(two.run(plan("two", "later"))).toContain("Nothing to record.");
    expect(two.run("nodeippool migrate lockfile --namespace later")).toContain("No address changed hands.");
    expect(one.run(`${plan("one", "later")}; echo $?`)).toMatch(/^stale: .* has moved to /);
  });

  it("of which a subnet was deleted: it is imported again", async () => {
    const { one, two } = await twoFolders();
    const render = "nodeippool render manifests --nodes nodes.txt --backend kubernetes --namespace network --set one";
    one.run("sed -i /n1/d nodes.txt");
    one.run("nodeippool allocate manifests --nodes nodes.txt --backend kubernetes --namespace network --set one");
    one.run(`${render} --out rendered`);
    one.run("kubectl -n network delete configmap ippool.default.10.0.0.0-29");
    expect(one.run(`${plan("one")}; echo $?`)).toMatch(/is gone, .*\n.*\("Where a subnet is lost"\).*\n5\n$/);
    const [edit = "", , again = "", reports = ""] = blockWith(page, "edit configmap ippool.index").trim().split("\n");
    one.run(`export KUBE_EDITOR="sed -i '/pool.:.p.,/d'"`);
    one.run(edit);
    const reported = {
      interfaces: [{ name: "eth1", ipv4: { enabled: true, address: [{ ip: "10.0.0.1", "prefix-length": 29 }] } }],
    };
    const state = {
      apiVersion: "nmstate.io/v1beta1",
      kind: "NodeNetworkState",
      metadata: { name: "n1" },
      status: { currentState: reported },
    };
    one.run(
      `echo '${JSON.stringify({ apiVersion: "v1", kind: "List", items: [state] })}' > nns.json; echo n1 >> nodes.txt`,
    );
    for (const line of [again, reports]) expect(one.run(line.replace("NAME", "one"))).toContain("Recorded in");
    one.run("sed -i /n1/d nodes.txt; echo n3 >> nodes.txt");
    expect(
      one.run("nodeippool allocate manifests --nodes nodes.txt --backend kubernetes --namespace network --set one"),
    ).toMatch(/- 10\.0\.0\.1 .*n1[\s\S]*1 to allocate, 1 kept, 1 to release/);
    expect(two.run(plan("two"))).toContain("Nothing to record.");
  });

  it("that was restored to a time before it left: it says that, and the record can come again", async () => {
    const { one, two } = await twoFolders();
    one.run("kubectl -n network get configmap -l nodeippool.nmstate.io/record -o yaml > backup.yaml");
    one.run("nodeippool migrate lockfile --namespace network");
    one.run("sed -i '/resourceVersion/d' backup.yaml");
    one.run("kubectl replace -f backup.yaml");
    expect(one.run("nodeippool show --backend kubernetes --namespace network; echo $?")).toMatch(/\n0\n$/);
    for (const line of blockWith(page, "nodeippool.lock in Git").trim().split("\n")) one.run(line);
    expect(one.run("nodeippool show --backend kubernetes --namespace network; echo $?")).toMatch(
      /^stale: .* has moved to nodeippool\.lock in Git\n[\s\S]*5\n$/,
    );
    expect(one.run("nodeippool plan manifests --nodes nodes.txt --set one")).toContain("Nothing to record.");
    expect(two.run(`${plan("two")}; echo $?`)).toMatch(
      /^stale: .* has moved to nodeippool\.lock in Git\n[\s\S]*\n5\n$/,
    );
    expect(one.run("nodeippool migrate kubernetes --namespace network")).toContain("No address changed hands.");
    expect(two.run(plan("two"))).toContain("Nothing to record.");
    expect(one.run(plan("one"))).toContain("Nothing to record.");
  });

  it("of which there is a backup of its ConfigMaps: kubectl apply refuses it, and replace brings it back", async () => {
    const { one } = await twoFolders();
    const [, backup = ""] = /`(kubectl .* > record.yaml)`/.exec(page) ?? [];
    const replace = blockWith(page, "replace --force").split("\n")[1] ?? "";
    const run = (line: string) => one.run(line.replace("-n nodeippool", "-n network"));
    run(backup);
    run("echo n9 >> nodes.txt");
    const allocate =
      "nodeippool allocate manifests --nodes nodes.txt --backend kubernetes --namespace network --set one";
    expect(run(allocate)).toContain("1 to allocate");
    expect(run("kubectl apply -f record.yaml; echo $?")).toMatch(/the object has been modified[\s\S]*\n1\n$/);
    expect(run(`${replace}; echo $?`)).toMatch(/ replaced\n0\n$/);
    expect(run(plan("one"))).toContain("1 to allocate");
  });
});
