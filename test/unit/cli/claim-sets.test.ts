import { cpSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { root } from "../../support/console.ts";
import { cli } from "../../support/schema/cli.ts";

let folder: string;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "claim-sets-"));
  cpSync(join(root, "examples/two-teams"), folder, { recursive: true });
  for (const team of ["network", "storage"]) expect((await allocate(team)).status).toBe(0);
});
afterEach(() => rmSync(folder, { recursive: true }));

const allocate = (team: string, verb = "allocate") => cli([verb, team, "--set", team, "--nodes", "nodes.txt"], folder);
const emptied = (team: string) => words(`nodeippool allocate ${team} --set ${team} --nodes nodes.txt --confirm`);
const words = (command: string) => cli(command.split(" ").slice(1), folder);
const edit = (from: string, to: string, change = (text: string) => text) =>
  writeFileSync(join(folder, to), change(readFileSync(join(folder, from), "utf8")));
const move = (from: string, to: string, change?: (text: string) => string) => {
  edit(from, to, change);
  rmSync(join(folder, from));
};
/** A policy for no node, so that the folder has one. */
const idle = (team: string) =>
  edit(`${team}/policy.yaml`, `${team}/idle.yaml`, (text) =>
    text.replace(/name: .*/, "name: idle").replace("spec:", "spec:\n  nodeSelector: {kubernetes.io/hostname: none}"),
  );
const held = () =>
  [...readFileSync(join(folder, "nodeippool.lock"), "utf8").matchAll(/"(172\.22[.\d]+)".*?"claim":"Node\/([^"]+)"/g)]
    .map(([, address, claim]) => `${address?.split(".")[3]} ${claim}`)
    .join(", ");

describe("audit of what two teams have rendered", () => {
  const nodes = (...names: string[]) => writeFileSync(join(folder, "some.txt"), `${names.join("\n")}\n`);
  const audit = async (...args: string[]) =>
    (await cli(["audit", "rendered", "--nodes", "some.txt", ...args], folder)).stdout;
  beforeEach(async () => {
    for (const team of ["network", "storage"])
      await words(`nodeippool render ${team} --set ${team} --nodes nodes.txt --out rendered/${team}`);
    nodes("node01", "node02");
  });

  it("says nothing of other sets that are well", async () => {
    expect(await audit()).toBe("4 addresses checked, 0 findings\n");
    expect(await audit("--set", "network")).toBe("4 addresses checked, 0 findings\n");
  });

  it("lists findings of the set that is named, and counts the others", async () => {
    nodes("node01");
    expect(await audit()).toBe("4 addresses checked, 0 findings, 2 more of other claim sets (--set NAME)\n");
    expect(await audit("--set", "network")).toMatch(/: unknown-owner: 172\.22\.0\.3 is .*\n4 .*, 1 more of other /);
  });

  it("says nothing of a set whose manifests are not here, though somebody mentions an address of it", async () => {
    writeFileSync(join(folder, "rendered/network/hosts.yaml"), "kind: ConfigMap\ndata: {backup: 172.22.0.4}\n");
    const { stdout } = await words("nodeippool audit rendered/network --set network --nodes nodes.txt");
    expect(stdout).toBe("4 addresses checked, 0 findings\n");
  });

  const report = (...addresses: string[]) => {
    const ips = addresses.map((ip) => ({ ip, "prefix-length": 24 }));
    const interfaces = ips.map((ip, i) => ({ name: `eth${i + 1}`, ipv4: { address: [ip] } }));
    const state = { kind: "NodeNetworkState", apiVersion: "nmstate.io/v1beta1", metadata: { name: "node01" } };
    writeFileSync(join(folder, "nns.json"), JSON.stringify({ ...state, status: { currentState: { interfaces } } }));
  };
  const without = (file: string, name: string) =>
    edit(file, file, (text) =>
      text
        .split("---\n")
        .filter((one) => !one.includes(name))
        .join("---\n"),
    );

  it("a node's report is of that node alone, whatever the set, and what it lists is not told again", async () => {
    const options = "--set network --pools network --nodes nodes.txt".split(" ");
    const audited = async (...paths: string[]) =>
      (await cli(["audit", "nns.json", ...paths, ...options], folder)).stdout;
    report("172.22.0.2", "172.22.0.4");
    for (const paths of [[], ["rendered/network"]])
      expect(await audited(...paths)).toBe("4 addresses checked, 0 findings\n");
    report("172.22.0.2");
    const leaked =
      "nodeippool.lock:8:1: leaked: 172.22.0.4 is recorded for Node/node01/backup/lan, but nothing uses it\n4 addresses checked, 1 finding\n";
    expect(await audited()).toBe(leaked);
    without("rendered/storage/policy.yaml", "node01");
    expect(await audited("rendered/network", "rendered/storage")).toBe(leaked);
  });

  it("what was imported has no manifests that could show all of it", async () => {
    edit("nodeippool.lock", "nodeippool.lock", (text) => text.replaceAll('"set":"storage"', '"set":"imported"'));
    without("rendered/storage/policy.yaml", "node02");
    expect(await audit("--set", "network")).toBe("4 addresses checked, 0 findings\n");
  });

  it("says nothing of a pool that nothing uses, and finds addresses of no pool", async () => {
    edit(
      "network/pool.yaml",
      "network/pool.yaml",
      (text) => `${text}\n---\n${text.replace("name: lan", "name: other").replaceAll("172.22", "172.23")}`,
    );
    edit("network/policy.yaml", "network/other.yaml", (text) =>
      text.replace("uplink", "other").replace("eth1", "eth7").replace("ippool.lan", "ippool.other"),
    );
    await allocate("network");
    await words("nodeippool render network --set network --nodes nodes.txt --out rendered/network");
    expect(await audit("--set", "network")).toBe("6 addresses checked, 0 findings\n");
    const other = "rendered/network/other.yaml";
    edit(other, other, (text) => text.replaceAll("172.23.0.", "10.9.0."));
    expect(await audit("--set", "network")).toMatch(
      /(leaked: 172\.23\.0\.\d .*, which is in no pool\n.*){2}6 addresses checked, 2 findings\n$/,
    );
    rmSync(join(folder, other));
    writeFileSync(join(folder, "rendered/map.yaml"), "kind: ConfigMap\ndata: {other: 172.23.0.2}\n");
    expect(await audit("--set", "network")).toBe("6 addresses checked, 0 findings\n");
  });
});

describe("a policy that goes to another folder keeps its addresses by the command that is printed", () => {
  it("and leaves none behind", async () => {
    renameSync(join(folder, "network/policy.yaml"), join(folder, "storage/uplink.yaml"));
    await words("nodeippool mv --set network uplink --to-set storage");
    for (const team of ["network", "storage"]) expect((await allocate(team)).status).toBe(0);
    expect(held()).toBe("2 node01/uplink/lan, 3 node02/uplink/lan, 4 node01/backup/lan, 5 node02/backup/lan");
  });

  it("and another one takes its place", async () => {
    move("network/policy.yaml", "storage/uplink.yaml");
    edit("storage/uplink.yaml", "network/policy.yaml", (text) =>
      text.replace("uplink", "mgmt").replace("eth1", "eth3"),
    );
    expect((await allocate("network")).status).toBe(3);
    await words("nodeippool mv --set network uplink --to-set storage");
    for (const team of ["network", "storage"]) expect((await allocate(team)).status).toBe(0);
    expect(held()).toMatch(
      /^2 node01\/uplink\/lan, 3 node02\/uplink\/lan,.* 6 node01\/mgmt\/lan, 7 node02\/mgmt\/lan$/,
    );
  });

  const comesOver = "nodeippool mv --set network uplink up2 --to-set storage";

  it("under a new name, where its new folder is planned first", async () => {
    idle("network");
    move("network/policy.yaml", "storage/up2.yaml", (text) => text.replace("uplink", "up2"));
    expect((await allocate("storage")).status).toBe(2);
    await words(comesOver);
    for (const team of ["storage", "network"]) expect((await allocate(team)).status).toBe(0);
    expect(held()).toMatch(/^2 node01\/up2\/lan, 3 node02\/up2\/lan,/);
  });

  it("under a new name, where its old folder is planned first", async () => {
    idle("network");
    move("network/policy.yaml", "storage/up2.yaml", (text) => text.replace("uplink", "up2"));
    expect((await emptied("network")).status).toBe(0);
    await words(comesOver);
    for (const team of ["storage", "network"]) expect((await allocate(team)).status).toBe(0);
    expect(held()).toMatch(/^2 node01\/up2\/lan, 3 node02\/up2\/lan,/);
  });
});

it("a policy that comes to the NIC of another folder's with the addresses that it has did not come from there", async () => {
  edit("storage/policy.yaml", "storage/policy.yaml", (text) => text.replace("eth2", "eth1"));
  const { status, stderr } = await allocate("storage");
  expect([status, stderr]).toEqual([2, expect.stringMatching(/\n {2}Set all addresses of one NIC in one policy\.\n$/)]);
});

describe("a policy of two captures that goes to another folder under a new name", () => {
  const twoCaptures =
    (name: string, ...captures: string[]) =>
    (text: string) =>
      text
        .replace(/uplink|backup/, name)
        .replace(/ +lan: .*/, captures.map((capture) => `    ${capture}: ippool.lan.allocate`).join("\n"))
        .replace(
          / +- ip: .*\n.*prefix-length.*/,
          captures
            .map(
              (one) =>
                `            - ip: "{{ capture.${one}.ip }}"\n              prefix-length: "{{ capture.${one}.prefix-length }}"`,
            )
            .join("\n"),
        );
  beforeEach(async () => {
    rmSync(join(folder, "nodeippool.lock"));
    rmSync(join(folder, "storage/policy.yaml"));
    edit("network/policy.yaml", "network/policy.yaml", twoCaptures("uplink", "a", "b"));
    await allocate("network");
    expect(held()).toBe("2 node01/uplink/a, 3 node01/uplink/b, 4 node02/uplink/a, 5 node02/uplink/b");
    idle("network");
  });
  const whole = "nodeippool mv --set network uplink wan --to-set storage";

  it.each([["storage"], ["network"]])("takes both along by one command, where %s is planned first", async (team) => {
    move("network/policy.yaml", "storage/wan.yaml", (text) => text.replace("uplink", "wan"));
    await allocate(team);
    await words(whole);
    for (const one of ["storage", "network"]) expect((await allocate(one)).status).toBe(0);
    expect(held()).toBe("2 node01/wan/a, 3 node01/wan/b, 4 node02/wan/a, 5 node02/wan/b");
  });
});

describe("one node that goes to a policy of another folder, with others that stay", () => {
  const nodes = (...roles: string[]) =>
    writeFileSync(
      join(folder, "nodes.txt"),
      roles.map((role, i) => `node0${i + 1} kubernetes.io/hostname=node0${i + 1},role=${role}\n`).join(""),
    );
  const select = (role: string) => (text: string) =>
    text.replace("spec:", `spec:\n  nodeSelector: {role: ${role}}`).replace("eth2", "eth1");
  beforeEach(async () => {
    rmSync(join(folder, "nodeippool.lock"));
    edit("network/policy.yaml", "network/policy.yaml", select("a"));
    edit("storage/policy.yaml", "storage/policy.yaml", select("b"));
    nodes("a", "a", "b");
    for (const team of ["network", "storage"]) await allocate(team);
    expect(held()).toBe("2 node01/uplink/lan, 3 node02/uplink/lan, 4 node03/backup/lan");
    nodes("b", "a", "b");
  });
  const command = "nodeippool mv --set network Node/node01/uplink/lan Node/node01/backup/lan --to-set storage";
  const settled = async () => {
    await words(command);
    for (const team of ["network", "storage", "network"]) expect((await allocate(team)).status).toBe(0);
    expect(held()).toBe("2 node01/backup/lan, 3 node02/uplink/lan, 4 node03/backup/lan");
  };

  it("goes alone, by the refusal of its new folder", async () => {
    expect((await allocate("storage")).status).toBe(2);
    await settled();
  });

  it("goes alone by mv, if its old folder came first", async () => {
    await allocate("network");
    await settled();
  });
});

it("what another set has releasing by a name that is this set's now is to be freed: there is no room for two", async () => {
  idle("network");
  rmSync(join(folder, "network/policy.yaml"));
  await emptied("network");
  await words("nodeippool mv --set storage backup uplink");
  edit("storage/policy.yaml", "storage/policy.yaml", (text) => text.replace("backup", "uplink"));
  expect((await allocate("storage")).stderr).toMatch(
    /^invalid: storage\/policy\.yaml:\d+:\d+: policy uplink has addresses in claim set network, too: 172\.22\.0\.2 of node01 and 1 more\n/,
  );
  expect((await words("nodeippool release 172.22.0.2 172.22.0.3 --confirm")).status).toBe(0);
  expect((await allocate("storage")).status).toBe(0);
});

it("two policies of one name in two folders are refused: they would be rendered as one", async () => {
  edit("storage/policy.yaml", "storage/more.yaml", (text) =>
    text.replace("backup", "uplink").replaceAll(/lan:|capture\.lan/g, (word) => word.replace("lan", "more")),
  );
  const { status, stderr } = await allocate("storage");
  expect([status, stderr]).toEqual([
    2,
    expect.stringMatching(
      /\ninvalid: storage\/more\.yaml:\d+:\d+: policy uplink has addresses in claim set network, too: 172\.22\.0\.2 of node01 and 1 more\n {2}Rename one of them; or declare that it came from there: nodeippool mv uplink --set network --to-set storage\n$/,
    ),
  ]);
});
