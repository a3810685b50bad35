// Run as a program, and killed at any time: KUBECONFIG NAMESPACE. A controller that is in a hurry.
import { runController } from "../../controller/start.ts";
import { findAccess } from "../../kube/index.ts";
import { hurried } from "./controller-timing.ts";

const [kubeconfig = "", namespace = ""] = process.argv.slice(2);
// Whoever started this is gone.
process.stdin.on("end", () => process.exit(1)).resume();
const { signal } = new AbortController();
await runController({ access: findAccess({ kubeconfig }), namespace, timing: hurried, signal, log: () => {} });
