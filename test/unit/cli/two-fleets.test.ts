import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { cli, filesOf, folderOf } from "../../support/schema/cli.ts";

/** A file with one network and one host. */
function fileOf(network: string, third: number, unit: string, host: string): string {
  return `infra: {networks: {${network}: {netmask: 24, addressRange: {start: 10.0.${third}.10, end: 10.0.${third}.20}}}}
nodepools:
  ${unit}:
    replicas: 1
    hostSelector: {role: worker}
    networkConfig: [{type: interface, name: em0, addresses: [{ip_netmask: "{{ ip['${network}'] }}"}]}]
    macMapping:
      ${host}: {em0: "52:54:00:00:0${third}:01"}
`;
}

const blue = fileOf("blue", 1, "rack", "w1");

it.each([
  ["the same host", fileOf("green", 2, "rack", "w1"), "Host/rack.w1", "rack-w1"],
  ["another host whose objects have the same names", fileOf("green", 2, "rack-a", "b"), "Host/rack-a.b", "rack-a-b"],
])("%s in two files of one lock: refused at plan, allocate and render", async (_, green, host, object) => {
  const own = object === "rack-w1" ? blue : fileOf("blue", 1, "rack", "a-b");
  const folder = folderOf({ "blue.yaml": own, "green.yaml": green });
  expect(await cli(["allocate", "blue.yaml", "--set", "blue"], folder)).toMatchObject({ status: 0 });
  const before = filesOf(folder);
  for (const verb of ["plan", "allocate", "render"]) {
    const { stderr, status } = await cli([verb, "green.yaml", "--set", "green"], folder);
    expect([stderr, status]).toEqual([
      `invalid: green.yaml:8:7: ${host} is in a file of claim set blue, too (10.0.1.10 of blue): both would render ${object}
  Give the unit or the host another name in one of the files.
`,
      2,
    ]);
  }
  expect(filesOf(folder)).toEqual(before);
});

it("a host of another name is none of it, and one that has left the other file neither", async () => {
  const folder = folderOf({ "blue.yaml": blue, "green.yaml": fileOf("green", 2, "rack", "w2") });
  await cli(["allocate", "blue.yaml", "--set", "blue"], folder);
  expect(await cli(["allocate", "green.yaml", "--set", "green"], folder)).toMatchObject({ stderr: "", status: 0 });
  writeFileSync(join(folder, "green.yaml"), fileOf("green", 2, "rack", "w1"));
  writeFileSync(join(folder, "blue.yaml"), fileOf("blue", 1, "rack", "w3"));
  expect(await cli(["allocate", "blue.yaml", "--set", "blue"], folder)).toMatchObject({ stderr: "", status: 0 });
  expect(await cli(["allocate", "green.yaml", "--set", "green"], folder)).toMatchObject({ stderr: "", status: 0 });
  expect(readFileSync(join(folder, "nodeippool.lock"), "utf8")).toContain("Host/rack.w1/green");
});
