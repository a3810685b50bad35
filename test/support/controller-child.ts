// Run as a program, and killed at any time: KUBECONFIG NAMESPACE [SLICES]. A controller that is in a hurry; with the
// namespace of NodeSlicePools, it gives slices, too.
import { runController } from "../../controller/start.ts";
import { findAccess } from "../../kube/index.ts";
import { hurried } from "./controller-timing.ts";

const [kubeconfig = "", namespace = "", nodeSlices] = process.argv.slice(2);
// Whoever started this is gone.
process.stdin.on("end", () => process.exit(1)).resume();
const { signal } = new AbortController();
const access = findAccess({ kubeconfig });
await runController({ access, namespace, nodeSlices, timing: hurried, signal, log: () => {} });
