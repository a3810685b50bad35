import { utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { clusterOfFile } from "../support/cluster/of-file.ts";
import { Session } from "../support/console.ts";
import { folderOf, projectOf } from "../support/schema/cli.ts";
import { documentsOf, nicPolicyText, poolText } from "../support/schema/text.ts";

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

  describe("where one could be taken for another", () => {
    const plannedBy = (cwd: string) => new Session(cwd, { KUBECONFIG: cluster().kubeconfig });
    const others = documentsOf(poolText("  range: {cidr: 10.0.1.0/29}", "q"), nicPolicyText("b", ["q"], "eth2"));

    it("plans of one run that undo each other are not recorded, none of them", async () => {
      await cluster().kubectl(["create", "namespace", "undone"]);
      const two = projectOf({ "other/a.yaml": others });
      const $ = (line: string) => plannedBy(two).run(`${line}; echo $?`);
      const there = "--backend kubernetes --namespace undone";
      const render = (path: string) => `nodeippool render ${path} --nodes nodes.txt ${there} > /dev/null`;
      expect($(`nodeippool allocate ${there} -- sh -c '${render("manifests")} && ${render("other")}'`)).toMatch(
        /^conflict: one plan of this run gives 10\.0\.0\.1 to .*, another one takes it away\n[\s\S]*\n4\n$/,
      );
      expect($(`nodeippool show ${there} --json`)).not.toContain('"claim"');
      const apart = `${render("manifests")} && ${render("other --set other")}`;
      expect($(`nodeippool allocate ${there} -- sh -c '${apart}'`)).toMatch(/2 plans recorded in namespace undone/);
    });

    it("says what is recorded, where somebody comes between the plans of one run", async () => {
      await cluster().kubectl(["create", "namespace", "between"]);
      const two = projectOf({ "other/a.yaml": others });
      const there = "--backend kubernetes --namespace between";
      const render = (path: string) => `nodeippool render ${path} --nodes nodes.txt ${there} > /dev/null`;
      const meanwhile = `env -u NODEIPPOOL_ALLOCATE nodeippool allocate other --nodes nodes.txt --set late ${there}`;
      const run = `${render("manifests")} && ${render("other --set other")} && ${meanwhile}`;
      expect(plannedBy(two).run(`nodeippool allocate ${there} -- sh -c '${run}'; echo $?`)).toMatch(
        /conflict: pool q changed since this plan was made; nothing was written\n[\s\S]*\n4\n$/,
      );
      const shown = plannedBy(two).run(`nodeippool show ${there} --json`);
      expect(shown).toContain('"claim": "Node/n1/b/q"');
      expect(shown).not.toContain('"claim": "Node/n1/a/p"');
    });

    it("evidence that is older than the record proves nothing", async () => {
      await cluster().kubectl(["create", "namespace", "evidence"]);
      const cwd = projectOf();
      const $ = (line: string) => plannedBy(cwd).run(`${line}; echo $?`);
      const there = "--backend kubernetes --namespace evidence";
      $(`nodeippool allocate manifests --nodes nodes.txt ${there}`);
      $("echo n2 > nodes.txt");
      const report = { apiVersion: "nmstate.io/v1beta1", kind: "NodeNetworkState", metadata: { name: "n1" } };
      const interfaces = [{ name: "eth1", state: "up", ipv4: { enabled: false } }];
      writeFileSync(join(cwd, "nns.json"), JSON.stringify({ ...report, status: { currentState: { interfaces } } }));
      utimesSync(join(cwd, "nns.json"), new Date(), new Date(Date.now() - 3_600_000));
      $(`nodeippool allocate manifests --nodes nodes.txt ${there}`);
      expect($(`nodeippool release --evidence nns.json ${there}`)).toMatch(
        /^invalid: nns\.json is older than namespace evidence of .*: nodes may have got addresses since\n.*\n2\n$/,
      );
      utimesSync(join(cwd, "nns.json"), new Date(), new Date(Date.now() + 60_000));
      expect($(`nodeippool release --evidence nns.json ${there}`)).toContain("Freed 1 address.");
    });

    it("a lock that says where its record is lets no other namespace plan, and takes no other record", async () => {
      for (const name of ["home", "typo", "stranger"]) await cluster().kubectl(["create", "namespace", name]);
      const cwd = projectOf();
      const $ = (line: string) => plannedBy(cwd).run(`${line}; echo $?`);
      $("nodeippool allocate manifests --nodes nodes.txt");
      $("nodeippool migrate kubernetes --namespace home");
      for (const verb of ["plan", "allocate"])
        expect($(`nodeippool ${verb} manifests --nodes nodes.txt --backend kubernetes --namespace typo`)).toMatch(
          /^stale: the record of nodeippool\.lock has moved to namespace home of .*; namespace typo of .* does not have it\n(?: {2}.*\n)+5\n$/,
        );
      const theirs = projectOf({ "manifests/a.yaml": others });
      plannedBy(theirs).run(
        "nodeippool allocate manifests --nodes nodes.txt --set b --backend kubernetes --namespace stranger",
      );
      expect($("nodeippool migrate lockfile --namespace stranger")).toMatch(
        /^in-use: the target's own record has moved to namespace home of .*, and that is not the source\n.*\n3\n$/,
      );
      $("rm nodeippool.lock && git init -q && git add . && git -c user.name=a -c user.email=a@b commit -qm 1");
      $("nodeippool migrate lockfile --namespace home && git add . && rm nodeippool.lock");
      expect($("nodeippool migrate lockfile --namespace stranger")).toMatch(/^stale: nodeippool\.lock is not there/);
    });
  });

  it("clients of bare-metal hosts that race, two of them with the same file: the loser begins anew (R19, R22, R23, I4, I7)", async () => {
    await cluster().kubectl(["create", "namespace", "racing"]);
    const there = "--backend kubernetes --namespace racing";
    const cwd = folderOf(Object.fromEntries([1, 2, 3].map((i) => [`${i}.yaml`, hostsOf(`unit${i}`)])));
    const clients = [1, 2, 3, 3].map((i) => `nodeippool allocate ${i}.yaml --set ${i} ${there}`);
    const printed = new Session(cwd, { KUBECONFIG: cluster().kubeconfig }).run(
      `${clients.map((line, i) => `(${line} > log${i}; echo $? >> log${i}) &`).join(" ")} wait; tail -qn 1 log*`,
    );
    expect(printed).toBe("0\n0\n0\n0\n");
    const shown = new Session(cwd, { KUBECONFIG: cluster().kubeconfig }).run(`nodeippool show ${there} --json`);
    const [net0] = JSON.parse(shown).pools as { readonly allocations: { address: string; claim: string }[] }[];
    const lines = net0?.allocations ?? [];
    const owners = [1, 2, 3].flatMap((i) => ["a", "b"].map((host) => `Host/unit${i}.${host}/net0`));
    expect(lines.map(({ claim }) => claim).sort()).toEqual(owners);
    expect(lines.map(({ address }) => address).sort()).toEqual(owners.map((_, i) => `10.0.0.1${i}`));
  });

  it("a namespace that is not there, and options for another backend", () => {
    expect(
      run("nodeippool allocate manifests --nodes nodes.txt --backend kubernetes --namespace nowhere; echo $?"),
    ).toMatch(/nowhere[\s\S]*\n2\n$/);
    expect(run("nodeippool plan manifests --nodes nodes.txt --namespace x; echo $?")).toMatch(
      /namespace is for the backend kubernetes[\s\S]*\n2\n$/,
    );
  });
});

/** A network, and a unit of two hosts on it. */
function hostsOf(unit: string): string {
  const hosts = ["a", "b"].map((host, i) => `      ${host}: {em0: "52:54:00:0${unit.at(-1)}:00:0${i}"}\n`).join("");
  return `infra:
  networks:
    net0: {netmask: 24, addressRange: {start: 10.0.0.10, end: 10.0.0.99}}
nodepools:
  ${unit}:
    replicas: 2
    hostSelector: {unit: ${unit}}
    networkConfig:
      - {type: interface, name: em0, addresses: [{ip_netmask: "{{ ip['net0'] }}"}]}
    macMapping:
${hosts}`;
}
