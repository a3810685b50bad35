import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { goPins } from "../tools/pins.ts";
import { folderOf, tool } from "./tools.ts";

/** The packages of Metal3's kinds. Its provider for Cluster API has v1beta1 alone there: no module of a later release is to be had. */
const packages = [
  "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1",
  "github.com/metal3-io/cluster-api-provider-metal3/api/v1beta1",
  "github.com/metal3-io/ip-address-manager/api/v1alpha1",
];

/** A folder with the CRDs of Metal3, made of the types that test/tools pins; made on first use. */
export async function metal3Crds(): Promise<string> {
  const generator = await tool("controller-gen");
  const pins = goPins.find(({ tools }) => tools.includes("sigs.k8s.io/controller-tools/cmd/controller-gen"));
  if (pins === undefined) throw new Error("controller-gen has no pin in test/tools");
  // The operator's own makefile allows its one float.
  const args = ["crd:allowDangerousTypes=true", ...packages.map((path) => `paths=${path}`)];
  return folderOf("metal3-crds", [...args, pins.text].join(" "), async (draft) => {
    const options = { cwd: pins.folder, env: { ...process.env, GOWORK: "off", CGO_ENABLED: "0" }, timeout: 600_000 };
    await promisify(execFile)(generator, [...args, `output:crd:dir=${draft}`], options);
  });
}
