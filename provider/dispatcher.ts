import type { dynamic } from "@pulumi/pulumi";

type Call = (...args: unknown[]) => Promise<never>;

/**
 * The provider whose text goes into the state of every set. It holds nothing but the package path and six names, so
 * that it is small, the same from every program and machine, and always runs the code that is installed.
 */
const call =
  (name: "check" | "diff" | "create" | "read" | "update" | "delete"): Call =>
  (...a) =>
    import("nodeippool/provider/runtime").then((r) => (r[name] as Call)(...a));

export const dispatcher: dynamic.ResourceProvider = {
  check: call("check"),
  diff: call("diff"),
  create: call("create"),
  read: call("read"),
  update: call("update"),
  delete: call("delete"),
};
