import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { lockfile } from "../../state/lockfile.ts";
import { clusterOfFile } from "../support/cluster/of-file.ts";
import { RecordNamespace } from "../support/cluster/record.ts";
import { Session } from "../support/console.ts";
import { folderOf } from "../support/schema/cli.ts";
import { documentsOf, poolText } from "../support/schema/text.ts";
import { recordTexts } from "../support/state/record.ts";

const cluster = clusterOfFile(async () => {});

const pools = documentsOf(
  poolText("  range: {cidr: 192.168.0.0/24, start: 192.168.0.10, end: 192.168.0.250}", "net0"),
  poolText('  range: {cidr: "2001:db8::/64"}', "net1"),
);

const states = `kind: ConfigMap
apiVersion: v1
metadata: { name: ipam }
data:
  net0: "node-0: 192.168.0.10"
  net1: |
    node-0: 2001:db8::7
`;

it("the ConfigMap of Metal3's study: what kubectl gets is imported, what show prints is applied, and both say the same", async () => {
  const namespace = await RecordNamespace.make(cluster());
  const folder = folderOf({ "pools.yaml": pools });
  const run = (line: string) => new Session(folder, { KUBECONFIG: cluster().kubeconfig }).run(line);
  const importAs = async (name: string, where: string) => {
    writeFileSync(join(folder, "states.json"), await namespace.kubectl(`get configmap ${name} -o json`));
    return run(`nodeippool import states.json pools.yaml ${where}`);
  };
  const where = `--backend kubernetes --namespace ${namespace.name}`;
  await namespace.kubectl("apply -f -", states);
  expect(await importAs("ipam", where)).toContain("Recorded in namespace ");
  const record = await namespace.open().read();
  expect(recordTexts(record)).toHaveLength(2);

  await namespace.kubectl("apply -f -", run(`nodeippool show --pools pools.yaml --configmap shown ${where}`));
  const { data } = JSON.parse(await namespace.kubectl("get configmap shown -o json"));
  expect(data).toEqual({ net0: "node-0: 192.168.0.10\n", net1: 'node-0: "2001:db8::7"\n' });
  expect(await importAs("shown", where)).toContain("Nothing to record.");
  expect(await importAs("shown", "--lock other.lock")).toContain("Recorded in other.lock");
  expect(await lockfile(join(folder, "other.lock")).read()).toEqual(record);
});
