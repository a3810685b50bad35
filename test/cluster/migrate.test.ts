import { readFileSync } from "node:fs";
import { join, parse } from "node:path";
import { describe, expect, it } from "vitest";
import { kubernetesPlace } from "../../state/kubernetes/place.ts";
import { readMarked } from "../../state/lockfile.ts";
import { blockWith } from "../support/cli/markdown.ts";
import { clusterOfFile } from "../support/cluster/of-file.ts";
import { RecordNamespace } from "../support/cluster/record.ts";
import { Session } from "../support/console.ts";
import { projectOf } from "../support/schema/cli.ts";
import { documentsOf, nicPolicyText, poolText } from "../support/schema/text.ts";
import { tool } from "../support/tools/tools.ts";

describe("nodeippool migrate", () => {
  const cluster = clusterOfFile(async ({ kubectl }) => void (await kubectl(["create", "namespace", "network"])));
  const folder = projectOf();
  const run = (line: string) => new Session(folder, { KUBECONFIG: cluster().kubeconfig }).run(line);
  const inCluster = "--backend kubernetes --namespace network";

  it("to the cluster and back: nobody moves, and each place says where the record is", () => {
    run("nodeippool allocate manifests --nodes nodes.txt");
    const lock = run("cat nodeippool.lock");
    expect(run("nodeippool migrate kubernetes --namespace network")).toMatch(
      /\nThe record is in namespace network of /,
    );
    expect(run("nodeippool migrate kubernetes --namespace network")).toMatch(
      /has moved to namespace network of .* before\.\n$/,
    );
    expect(run("cat nodeippool.lock")).toMatch(/^mark: .*"left"/m);
    expect(run("nodeippool plan manifests --nodes nodes.txt; echo $?")).toMatch(
      /^stale: the record of nodeippool\.lock has moved to namespace network of .*\n {2}Use it there: --backend kubernetes .*\n5\n$/,
    );
    expect(run("nodeippool allocate manifests --nodes nodes.txt --landed HEAD; echo $?")).toMatch(/^stale: .*\n5\n$/s);
    expect(run(`nodeippool plan manifests --nodes nodes.txt ${inCluster}`)).toContain("Nothing to record.");

    expect(run("nodeippool migrate lockfile --namespace network")).toContain("The record is in nodeippool.lock now");
    expect(run("cat nodeippool.lock")).toBe(lock);
    expect(run(`nodeippool plan manifests --nodes nodes.txt ${inCluster}; echo $?`)).toMatch(
      /^invalid: nodeippool\.lock has a record too/,
    );
    expect(run(`nodeippool show ${inCluster}; echo $?`)).toMatch(/^stale: .* has moved to .*\/nodeippool\.lock on /);
    expect(run("nodeippool plan manifests --nodes nodes.txt")).toContain("Nothing to record.");
  });

  it("two records do not become one: each folder's plan could release the other's nodes", async () => {
    await cluster().kubectl(["create", "namespace", "shared"]);
    const two = projectOf({
      "manifests/a.yaml": documentsOf(poolText("  range: {cidr: 10.0.1.0/29}", "q"), nicPolicyText("b", ["q"], "eth2")),
    });
    const there = "--backend kubernetes --namespace shared";
    const planned = (cwd: string, flags: string) =>
      new Session(cwd, { KUBECONFIG: cluster().kubeconfig }).run(`nodeippool ${flags}; echo $?`);
    const one = projectOf();
    for (const cwd of [one, two]) planned(cwd, "allocate manifests --nodes nodes.txt");
    planned(two, "render manifests --nodes nodes.txt --out rendered");
    expect(planned(one, "migrate kubernetes --namespace shared")).toContain("No address changed hands.");
    expect(planned(two, "migrate kubernetes --namespace shared")).toMatch(
      /^in-use: namespace shared of .* has a record already, with pools p\n.*\n3\n$/,
    );
    new Session(two, {}).run("rm nodeippool.lock");
    expect(planned(two, `import rendered manifests --nodes nodes.txt --set two ${there}`)).toContain("Recorded in");
    for (const [cwd, flags] of [
      [one, ""],
      [two, "--set two"],
    ] as const)
      expect(planned(cwd, `plan manifests --nodes nodes.txt ${there} ${flags}`)).toMatch(
        / 0 to allocate, .* 0 to release/,
      );
  });

  it("to one place only", async () => {
    await cluster().kubectl(["create", "namespace", "other"]);
    run("nodeippool migrate kubernetes --namespace network");
    expect(run("nodeippool migrate kubernetes --namespace other; echo $?")).toMatch(
      /^stale: the record has moved to namespace network of .*\n {2}Use it there\. What is here is not what came there then\.\n5\n$/,
    );
    expect(run("nodeippool migrate lockfile --namespace network --lock other.lock")).toContain("is in other.lock now");
    expect(run("nodeippool migrate lockfile --namespace network --lock third.lock; echo $?")).toMatch(/^stale: /);
    expect(run("nodeippool migrate kubernetes --namespace other --lock other.lock")).toContain("No address changed");
  });

  describe("a lock that says that its record is in a namespace", () => {
    /** A repository whose lock has moved to a namespace of its own. */
    const moved = async () => {
      const { name } = await RecordNamespace.make(cluster());
      const own = projectOf({ "nodes.txt": "n1\nn2\nn3\n" });
      const session = new Session(own, { KUBECONFIG: cluster().kubeconfig });
      const run = (line: string) => session.run(line.replaceAll(" network", ` ${name}`));
      run("git init -q -b main .; nodeippool allocate manifests --nodes nodes.txt; git add -A; git commit -qm base");
      expect(run("nodeippool migrate kubernetes --namespace network")).toContain("No address changed hands.");
      run("git commit -qam moved");
      return { own, run };
    };
    const plan = "nodeippool plan manifests --nodes nodes.txt";

    it("that has sent it on: whoever has the old lock is told so, and takes nothing away", async () => {
      const { run } = await moved();
      run("git clone -q . old; nodeippool migrate lockfile --namespace network; git commit -qam back");
      expect(run(`cd old && ${plan} ${inCluster}; echo $?`)).toMatch(/^stale: .* has moved to [\s\S]*\n5\n$/);
      expect(run("cd old && nodeippool migrate kubernetes --namespace network; echo $?")).toMatch(
        /^stale: the record has moved to namespace .* before\n.*\n5\n$/,
      );
      run("cd old && git pull -q");
      expect(run(`cd old && ${plan}`)).toContain("Nothing to record.");
    });

    it("gets it back itself, and no lock beside it", async () => {
      const { run } = await moved();
      expect(run("cd manifests && nodeippool migrate lockfile --namespace network; echo $?; ls")).toMatch(
        /^stale: nodeippool\.lock is not there, and this repository has \.\.\/nodeippool\.lock\n.*\n5\na\.yaml\n$/,
      );
      expect(
        run("cd manifests && nodeippool migrate lockfile --namespace network --lock ../nodeippool.lock"),
      ).toContain("No address changed hands.");
      expect(run(plan)).toContain("Nothing to record.");
    });

    it("that is lost: the page brings the record back, and nobody moves", async () => {
      const { run } = await moved();
      run(`printf 'n2\\nn3\\n' > nodes.txt; nodeippool allocate manifests --nodes nodes.txt ${inCluster}`);
      run(`nodeippool release n1 --confirm ${inCluster}; printf 'n2\\nn3\\nn4\\n' > nodes.txt`);
      run(`nodeippool allocate manifests --nodes nodes.txt ${inCluster}`);
      run(`nodeippool render manifests --nodes nodes.txt --out rendered ${inCluster}`);
      const addresses = "grep -ho 'ip: 10.*' rendered/*";
      const before = run(addresses);
      expect(before).toContain("10.0.0.1");
      const { name } = await RecordNamespace.make(cluster());
      const there = `--backend kubernetes --namespace ${name}`;
      expect(run(`${plan} ${there}; echo $?`)).toMatch(
        /^stale: .* does not have it\n {2}Look at the context and the namespace, .*docs\/recovery\.md .*\n5\n$/,
      );
      const page = readFileSync("docs/recovery.md", "utf8");
      const [log = "", ...rest] = blockWith(page, "git checkout COMMIT~1").trim().split("\n");
      const [commit = ""] = run(log).split(" ");
      const back = rest.join("\n").replace("COMMIT", commit);
      expect(run(back)).toMatch(/^conflict: .*10\.0\.0\.1 is recorded for Node\/n1\/.* but Node\/n4 has /m);
      run(`sed -i '/"10.0.0.1"/d' nodeippool.lock`);
      const [, ...again] = back.split("\n");
      expect(run(again.join("; "))).toMatch(/ 0 to allocate, 3 kept, 0 to release\./);
      expect(run(blockWith(page, "The record is in the cluster again").replaceAll(" network", ` ${name}`))).toContain(
        "No address changed hands.",
      );
      run(`nodeippool render manifests --nodes nodes.txt --out rendered ${there}`);
      expect([run(addresses), run("git status --short nodeippool.lock")]).toEqual([before, ""]);
      expect(run(log).split(" ")[0], "where to begin when it is lost again").toBe(commit);
    });
  });

  it("a record whose index is lost has it made anew as the message and the page say, with the moves it knew", async () => {
    const { name } = await RecordNamespace.make(cluster());
    const { dir } = parse(await tool("kubectl"));
    const own = projectOf();
    const session = new Session(own, { KUBECONFIG: cluster().kubeconfig });
    const run = (line: string) => session.run(line.replace(/^kubectl/, `PATH=${dir}:$PATH; kubectl`));
    const plan = `nodeippool plan manifests --nodes nodes.txt --backend kubernetes --namespace ${name}; echo $?`;
    run(`nodeippool allocate manifests --nodes nodes.txt; nodeippool migrate kubernetes --namespace ${name}`);
    run(`kubectl -n ${name} delete configmap ippool.index`);
    const [, command = ""] = run(plan).split('("Where the index is lost"), and make it anew:\n  ');
    run(command.replace(/\d+\n$/, ""));
    expect(run(plan)).toMatch(/^stale: .* does not have it/);

    run(`kubectl -n ${name} delete configmap ippool.index`);
    const { id } = readMarked(join(own, "nodeippool.lock")).mark ?? {};
    const page = blockWith(readFileSync("docs/recovery.md", "utf8"), "--from-literal=arrived=ID");
    run(page.replace("arrived=ID", `arrived=${id}`).replaceAll(" network", ` ${name}`).replaceAll("\n", " "));
    expect(run(plan)).toContain("Nothing to record.\n0\n");
    run(`kubectl -n ${name} label configmap ippool.index nodeippool.nmstate.io/record-`);
    const label = /Put it back: (.*)/.exec(run(plan))?.[1] ?? "";
    run(label);
    expect(run(plan)).toContain("Nothing to record.\n0\n");
  });

  it("a move whose other end is lost is given up as the page says", async () => {
    const own = projectOf();
    const run = (line: string) => new Session(own, { KUBECONFIG: cluster().kubeconfig }).run(line);
    const namespace = await RecordNamespace.make(cluster());
    const place = kubernetesPlace(namespace.objects(), namespace.name);
    await place.mark(await place.look(), { state: "expects", id: "x", other: "lost.lock" });
    const where = `--backend kubernetes --namespace ${namespace.name}`;
    expect(run(`nodeippool allocate manifests --nodes nodes.txt ${where}; echo $?`)).toMatch(
      /^unavailable: .*lost\.lock/,
    );
    const page = blockWith(readFileSync("docs/recovery.md", "utf8"), "/data/mark");
    const { dir } = parse(await tool("kubectl"));
    run(page.replace("-n network", `-n ${namespace.name}`).replace("kubectl", `PATH=${dir}:$PATH kubectl`));
    expect(run(`nodeippool allocate manifests --nodes nodes.txt ${where}`)).toContain("Recorded in");
  });

  it("says what cannot be", () => {
    expect(run("nodeippool migrate etcd; echo $?")).toMatch(/^invalid: .*not to "etcd"\n2\n$/);
    expect(run("nodeippool migrate kubernetes --namespace nowhere; echo $?")).toMatch(
      /there is no namespace nowhere.*\n2\n$/s,
    );
  });
});
