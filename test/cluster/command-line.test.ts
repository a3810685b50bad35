import { describe, expect, it } from "vitest";
import { clusterOfFile } from "../support/cluster-of-file.ts";
import { Session } from "../support/console.ts";
import { projectOf } from "../support/schema-cli.ts";

describe("verbs with --backend kubernetes", () => {
  const cluster = clusterOfFile(async ({ kubectl }) => void (await kubectl(["create", "namespace", "network"])));
  const where = "--backend kubernetes --namespace network";
  const folder = projectOf();
  const run = (line: string) => new Session(folder, { KUBECONFIG: cluster().kubeconfig }).run(line);

  it("plan, allocate, render, explain, show, mv, release: the record is in the cluster, and no file is written", () => {
    expect(run(`nodeippool render manifests --nodes nodes.txt ${where}; echo $?`)).toMatch(
      /not up to date[\s\S]*\n5\n$/,
    );
    expect(run(`nodeippool allocate manifests --nodes nodes.txt ${where}`)).toMatch(
      /Recorded in namespace network of /,
    );
    expect(run(`nodeippool plan manifests --nodes nodes.txt ${where}`)).toContain("Nothing to record.");
    expect(run(`nodeippool render manifests --nodes nodes.txt ${where}`)).toContain("ip: 10.0.0.1\n");
    expect(run(`nodeippool explain 10.0.0.1 --pools manifests ${where}`)).toContain("n1");
    expect(run("ls")).not.toContain("nodeippool.lock");
  });

  it("a record begins in no namespace but one that is named; where there is one, it is found", () => {
    const context = (namespace: string) => run(`kubectl config set-context --current --namespace=${namespace}`);
    const plan = (flags: string) =>
      run(`nodeippool plan manifests --nodes nodes.txt --backend kubernetes ${flags}; echo $?`);
    context("network");
    expect(plan("")).toContain("Nothing to record.");
    context("default");
    const refused = plan("");
    expect(refused).toMatch(
      /^stale: there is no record in namespace default of .*, which is the namespace of the context\n/,
    );
    expect(refused).toMatch(/Name the namespace that has it; or this one, to begin one here\.\n5\n$/);
    expect(plan("--namespace default")).toContain("Plan: 2 to allocate");
  });

  it("kubectl shows the record as the lockfile has it", async () => {
    const text = await cluster().kubectl([
      "-n",
      "network",
      "get",
      "configmaps",
      "-l",
      "nodeippool.nmstate.io/record=subnet",
      "-o",
      "jsonpath={.items[*].data.record}",
    ]);
    expect(text).toContain('- {"address":"10.0.0.1","pool":"p","claim":"Node/n1/a/p"');
  });

  it("a namespace that is not there, and options for another backend", () => {
    expect(
      run("nodeippool allocate manifests --nodes nodes.txt --backend kubernetes --namespace nowhere; echo $?"),
    ).toMatch(/nowhere[\s\S]*\n2\n$/);
    expect(run("nodeippool plan manifests --nodes nodes.txt --namespace x; echo $?")).toMatch(
      /--namespace says where[\s\S]*\n2\n$/,
    );
  });
});
