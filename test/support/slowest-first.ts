import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files that take a minute or more, the slowest first, and then small ones that take seconds: none of them is to begin last. */
const slowest = [
  "pulumi/kubernetes",
  "pulumi/inputs",
  "pulumi/life",
  "e2e/nmstate-handlers",
  "e2e/nmstate-states",
  "e2e/handler-stand-in",
  "e2e/pages",
  "cluster/controller-proxy",
  "e2e/package",
  "cluster/metal3",
  "pulumi/kill",
  "cluster/capi",
  "pulumi/random",
  "pulumi/lockfile",
  "cluster/controller-faults",
  "cluster/controller-policies",
  "cluster/deploy",
  "cluster/uninstall-components",
  "cluster/controller-chaos",
  "cluster/controller-pools",
  "cluster/kubevirt",
  "cluster/state-chaos",
  "cluster/node-slices",
  "cluster/workload-addresses",
  "cluster/clusterctl-move",
  "cluster/state-size",
  "cluster/vm-rights",
  "cluster/controller-nodes",
  "cluster/workloads-chaos",
  "cluster/vms-chaos",
  "cluster/node-slices-chaos",
  "cluster/workload-rights",
  "cluster/node-slices-rights",
  "git/hook",
  "cli/allocate",
  "schema/hostile",
  "docs/pages",
  "controller/workloads-sim",
  "controller/sim",
  "cli/stdin",
  "provider/program",
  "provider/mocks",
  "unit/architecture",
  "controller/node-slices-sim",
  "controller/vms-sim",
  "cli/bin",
  "docs/programs",
];

/** The rest as vitest orders it: as long as they took here before, else by size. */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const at = slowest.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`));
      return at === -1 ? slowest.length : at;
    };
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}
