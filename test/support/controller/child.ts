// Run as a program, and killed at any time: KUBECONFIG NAMESPACE [OPTIONS]. A controller that is in a hurry; options, as
// JSON, say what it serves besides.
import { runController } from "../../../controller/run/start.ts";
import { findAccess } from "../../../kube/index.ts";
import { hurried } from "./timing.ts";

const [kubeconfig = "", namespace = "", options = "{}"] = process.argv.slice(2);
// Whoever started this is gone.
process.stdin.on("end", () => process.exit(1)).resume();
const { signal } = new AbortController();
const access = findAccess({ kubeconfig });
await runController({ ...JSON.parse(options), access, namespace, timing: hurried, signal, log: () => {} });
