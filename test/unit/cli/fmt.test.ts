import { readFileSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { exampleText } from "../../support/cli/metal3-infra.ts";
import { cli, filesOf, folderOf, lockText, projectOf, run } from "../../support/schema/cli.ts";
import { documentsOf, policyText, poolText } from "../../support/schema/text.ts";

const seed = exampleText("seed.yaml");

it("fmt quotes templates and selectors of the study's own file, and nothing else; a second time there is nothing to do", async () => {
  const commented = seed.replace("{{ ip['net1']}}", "{{ ip['net1']}} # second NIC");
  const folder = folderOf({ "infra.yaml": commented });
  const { stdout, stderr } = await cli(["fmt", "infra.yaml"], folder);
  expect({ stdout, stderr }).toEqual({ stdout: "infra.yaml: 10 lines quoted\n", stderr: "" });
  const text = readFileSync(join(folder, "infra.yaml"), "utf8");
  expect(text).toContain(`ip_netmask: "{{ ip['net1']}}" # second NIC\n`);
  expect(text).toContain('hostSelector: {metal3.io/controller: "true"}\n');
  const differing = text.split("\n").filter((line, i) => line !== commented.split("\n")[i]);
  expect(differing).toHaveLength(10);
  const before = statSync(join(folder, "infra.yaml"), { bigint: true }).mtimeNs;
  expect((await cli(["fmt", "infra.yaml"], folder)).stdout).toBe("Nothing needs quotes.\n");
  expect(statSync(join(folder, "infra.yaml"), { bigint: true }).mtimeNs).toBe(before);
});

it("a file without quotes is read with one note, which is gone after fmt; the plan is the same", async () => {
  const folder = folderOf({ "infra.yaml": seed, "nodeippool.lock": lockText() });
  const before = await cli(["plan", "infra.yaml"], folder);
  expect(before.stderr).toBe(
    'Note: infra.yaml:21 is read as hostSelector: {metal3.io/controller: "true"}, and 9 more lines in quotes. Write it so: nodeippool fmt infra.yaml\n',
  );
  expect(before.status).toBe(0);
  await cli(["fmt"], folder);
  expect(await cli(["plan", "infra.yaml"], folder)).toEqual({ ...before, stderr: "" });
});

const policy = (value: string) =>
  policyText(
    `  capture: {p: ippool.p.allocate}
  desiredState:
    interfaces:
    - name: eth1
      type: ethernet
      state: up
      ipv4:
        enabled: true
        dhcp: false
        address:
        - ip: ${value}
          prefix-length: 29`,
    "a",
  );
const pool = poolText("  range: {cidr: 10.0.0.0/29}");

it("policies, too, each file in its place: behind ---, with CRLF, through a link", async () => {
  const inside = policy("{{ capture.p.ip }}");
  const text = `${documentsOf(pool, inside).replaceAll("\n", "\r\n")}--- {kind: Other}\r\n`;
  const folder = projectOf({ "manifests/a.yaml": text, "elsewhere.yaml": seed });
  symlinkSync("../elsewhere.yaml", join(folder, "manifests/infra.yaml"));
  const { stdout } = await cli(["fmt"], folder);
  expect(stdout).toBe("manifests/a.yaml: 1 line quoted\nmanifests/infra.yaml: 10 lines quoted\n");
  const after = filesOf(folder);
  expect(after["manifests/a.yaml"]).toBe(text.replace("{{ capture.p.ip }}", '"{{ capture.p.ip }}"'));
  expect(after["elsewhere.yaml"]).not.toBe(seed);
  expect(after["manifests/infra.yaml"]).toBeUndefined();
  expect(await run(folder, "plan")).toMatchObject({ status: 0, stderr: "" });
});

it.each([
  ["a chart of Helm", policy("{{ .Values.address }}")],
  ["a block of text", "infra: {}\ntext: |\n  a: {{ ip['x'] }}\n"],
  ["objects of others", "kind: ConfigMap\ndata:\n  a: {{ x }}\n"],
])("leaves %s as it is", async (_, text) => {
  const folder = folderOf({ "manifests/a.yaml": text });
  const before = filesOf(folder);
  expect((await cli(["fmt"], folder)).stdout).toBe("Nothing needs quotes.\n");
  expect(filesOf(folder)).toEqual(before);
});

it("quotes also where something else is wrong", async () => {
  const folder = folderOf({ "infra.yaml": seed.replace("netmask: 24", "netmask: 240") });
  expect((await cli(["fmt"], folder)).stdout).toBe("infra.yaml: 10 lines quoted\n");
});
