import { describe, expect, it } from "vitest";
import { nodeippool, Session } from "../../support/console.ts";
import { filesOf, lockText, manifests, projectOf } from "../../support/schema/cli.ts";
import { objectsIn } from "../../support/schema/render.ts";

const covered = { "nodeippool.lock": lockText("10.0.0.1 Node/n1/a/p", "10.0.0.2 Node/n2/a/p") };

/** Runs, and makes sure that no file changed. */
function readOnly(folder: string, args: readonly string[], input: string) {
  const before = filesOf(folder);
  const ran = nodeippool(args, folder, input);
  expect(filesOf(folder)).toEqual(before);
  return ran;
}

describe("manifests on standard input", () => {
  it("render as a config management plugin of Argo CD: manifests in, manifests out", () => {
    const { stdout, stderr, status } = readOnly(projectOf(covered), ["render", "-", "--nodes", "nodes.txt"], manifests);
    expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
    expect(objectsIn({ stdout }).map(({ metadata }) => metadata.name)).toEqual(["p", "a--n1", "a--n2"]);
  });

  it("render with a lock that does not cover them: exit 5 and nothing on standard output", () => {
    const { stdout, stderr, status } = readOnly(projectOf(), ["render", "-", "--nodes", "nodes.txt"], manifests);
    expect({ stdout, status }).toEqual({ stdout: "", status: 5 });
    expect(stderr).toContain("  + 10.0.0.1  n1  a/p\n");
  });

  it("plan with issues: places in standard input", () => {
    const broken = manifests.replace("cidr", "cdir");
    const { stdout, stderr, status } = readOnly(projectOf(), ["plan", "-", "--nodes", "nodes.txt"], broken);
    expect({ stdout, status }).toEqual({ stdout: "", status: 2 });
    expect(stderr).toContain("standard input:5:11: unknown field cdir; did you mean cidr?\n");
  });

  it("plan of nothing", () => {
    const { stdout, status } = readOnly(projectOf(), ["plan", "-", "--nodes", "nodes.txt"], "");
    expect({ stdout, status }).toEqual({
      stdout: ["Plan: 0 to allocate, 0 kept, 0 to release.", "Nothing to record.\n"].join("\n"),
      status: 0,
    });
  });
});

describe("nodes on standard input", () => {
  it("plan, with the output of kubectl", () => {
    const { stdout, status } = readOnly(projectOf(), ["plan", "manifests", "--nodes", "-"], "node/x\nnode/z\n");
    expect(status).toBe(0);
    expect(stdout).toContain("  + 10.0.0.1  x  a/p\n  + 10.0.0.2  z  a/p\n");
  });

  it("plan, from a slow writer", () => {
    const line =
      '{ sleep 0.2; echo x; sleep 0.2; echo z; } | nodeippool plan manifests --nodes - | grep "2 to allocate"';
    const said = new Session(projectOf()).run(line);
    expect(said).toBe("Plan: 2 to allocate, 0 kept, 0 to release.\n");
  });

  it("plan, from a pipe that another process left non-blocking", () => {
    const writer = "{ sleep 1; echo x; echo z; }";
    const neighbour = `node -e 'process.stdin.resume(); setTimeout(process.exit, 100)'`;
    const line = `${writer} | { ${neighbour}; nodeippool plan manifests --nodes -; } | grep "2 to allocate"`;
    expect(new Session(projectOf()).run(line)).toBe("Plan: 2 to allocate, 0 kept, 0 to release.\n");
  });
});

it("standard output that cannot be written: one line, exit 6, and what was recorded is said to be", () => {
  const session = new Session(projectOf());
  const line = "unavailable: standard output cannot be written: ENOSPC: no space left on device, write\n";
  expect(session.run("nodeippool plan manifests --nodes nodes.txt > /dev/full; echo $?")).toBe(`${line}6\n`);
  expect(session.run("nodeippool allocate manifests --nodes nodes.txt > /dev/full; echo $?")).toBe(
    `${line}  The output alone is lost: nodeippool.lock was recorded before.\n6\n`,
  );
  expect(session.run("nodeippool allocate manifests --nodes nodes.txt > /dev/full; echo $?")).toBe(`${line}6\n`);
});

describe("an output that closes early", () => {
  const outcome = (folder: string, line: string) => new Session(folder).run(`${line}; echo \${PIPESTATUS[0]}`);

  it("is no error", () => {
    const folder = projectOf({ ...covered, "manifests/z.yaml": "# more than a pipe holds\n".repeat(50_000) });
    const said = outcome(folder, "nodeippool render manifests --nodes nodes.txt | head -n 1");
    expect(said).toBe("apiVersion: nmstate.io/v1\n0\n");
  });

  it("hides no findings: the exit status is as ever", () => {
    expect(outcome(projectOf(), "nodeippool render manifests --nodes nodes.txt 2>&1 | true")).toBe("5\n");
    const found = "ip: 10.0.0.3/29\n";
    const folder = projectOf({ ...covered, "found.yaml": found.repeat(20_000) });
    expect(outcome(folder, "nodeippool audit found.yaml --pools manifests | true")).toBe("5\n");
  });

  it("ends no work: what is said before it is lost, and it is done", () => {
    const lines = ["10.0.0.3 Node/n3/a/p releasing", "10.0.0.4 Node/n4/a/p releasing"];
    const nics = [{ name: "eth1", type: "ethernet", state: "up", ipv4: { enabled: true, address: [] } }];
    const report = {
      kind: "NodeNetworkState",
      metadata: { name: "n3" },
      status: { currentState: { interfaces: nics } },
    };
    const folder = projectOf({ "nodeippool.lock": lockText(...lines), "nns.json": JSON.stringify(report) });
    expect(outcome(folder, "nodeippool release --evidence nns.json | true")).toBe("0\n");
    expect(filesOf(folder)["nodeippool.lock"]).toBe(lockText("10.0.0.4 Node/n4/a/p releasing"));
  });
});
