import { LocalWorkspace } from "@pulumi/pulumi/automation/index.js";
import { AllocationSet } from "nodeippool/provider";

const nodes = process.argv.slice(2);

/** An inline program: nothing but a function. */
async function program() {
  const ips = new AllocationSet("static-ip", {
    pools: { "traffic-1": { range: { cidr: "10.10.10.0/24" } } },
    claims: nodes.map((node) => ({ owner: { kind: "Node", name: node }, name: "eth1", pool: "traffic-1" })),
  });
  return { addresses: ips.addresses };
}

const stack = await LocalWorkspace.createOrSelectStack(
  { stackName: "dev", projectName: "nodeippool-automation-example", program },
  // A folder from which @pulumi/pulumi and nodeippool can be imported: that is where the engine starts the provider.
  { workDir: import.meta.dirname },
);

const preview = await stack.preview();
console.log("preview:", preview.changeSummary);
const { outputs } = await stack.up();
console.log("up:", outputs.addresses?.value);
