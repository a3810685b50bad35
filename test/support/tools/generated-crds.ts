import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { goPins } from "../../tools/pins.ts";
import { folderOf, tool } from "./tools.ts";

/** The kinds that no module has as CRDs: packages with their Go types, by the folder of test/tools that pins them. */
const packages = {
  // Its provider for Cluster API has v1beta1 alone there: no module of a later release is to be had.
  metal3: [
    "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1",
    "github.com/metal3-io/cluster-api-provider-metal3/api/v1beta1",
    "github.com/metal3-io/ip-address-manager/api/v1alpha1",
  ],
  kubevirt: [
    "kubevirt.io/api/core/v1",
    "kubevirt.io/api/clone/v1beta1",
    "kubevirt.io/api/export/v1beta1",
    "kubevirt.io/api/instancetype/v1beta1",
    "kubevirt.io/api/migrations/v1alpha1",
    "kubevirt.io/api/pool/v1alpha1",
    "kubevirt.io/api/snapshot/v1beta1",
  ],
};

/** A folder with the CRDs of a project, made of the types that test/tools pins; made on first use. */
export async function generatedCrds(project: keyof typeof packages): Promise<string> {
  const generator = await tool("controller-gen");
  const pins = goPins.find(({ folder }) => folder.endsWith(`/${project}`));
  if (pins === undefined) throw new Error(`${project} has no pins in test/tools`);
  // Floats are the projects' own.
  const args = ["crd:allowDangerousTypes=true", ...packages[project].map((path) => `paths=${path}`)];
  return folderOf(`${project}-crds`, [...args, pins.text].join(" "), async (draft) => {
    const options = { cwd: pins.folder, env: { ...process.env, GOWORK: "off", CGO_ENABLED: "0" }, timeout: 600_000 };
    await promisify(execFile)(generator, [...args, `output:crd:dir=${draft}`], options);
  });
}
