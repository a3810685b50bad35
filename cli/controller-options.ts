import { type Command, Option } from "commander";

/** Adds what the controller is told: where it is, what it serves, and how often it looks. */
export function addControllerOptions(verb: Command): Command {
  return addServed(
    verb
      .option(
        "--context <name>",
        "context of the kubeconfig; default: the pod's own service account, or the current context",
      )
      .option("--namespace <name>", "where its record is (ConfigMaps); default: that of the pod")
      .option("--listen <address>", "where /healthz, /readyz and /metrics are; off switches them off", ":8080"),
  )
    .option("--look-every <duration>", "how often everything is looked at once more", "10m")
    .addOption(
      new Option("--log-level <level>", "what is logged").choices(["error", "warn", "info", "debug"]).default("info"),
    );
}

/** Adds what it serves besides, and how. */
function addServed(verb: Command): Command {
  return verb
    .option("--fleet", "give nodes their addresses by one policy for all, and a label of each")
    .addOption(
      new Option("--cluster-api [version]", "also serve IPAddressClaims of Cluster API, at this version of its groups")
        .choices(["v1beta2", "v1beta1"])
        .preset("v1beta2"),
    )
    .addOption(
      new Option(
        "--metal3 [namespace]",
        "also serve the bare-metal hosts of ConfigMap nodeippool-infra in this namespace",
      ).preset("metal3"),
    )
    .addOption(
      new Option(
        "--node-slices [namespace]",
        "also give nodes slices of whereabouts' networks; NodeSlicePools are in this namespace",
      ).preset("kube-system"),
    )
    .option("--ipam-claims", "also give IPAMClaims addresses, on networks that name NodeIPPools")
    .option("--vm-claims", "also make IPAMClaims for VMs of KubeVirt, and delete them")
    .option("--vm-addresses", "also write the addresses of IPAMClaims into the pods of VMs")
    .option("--workload-addresses", "also give addresses to pods that wait for them")
    .addOption(
      new Option(
        "--free-terminating <nodes>",
        "on which nodes a Deployment's pod that is deleted and does not end loses its addresses",
      )
        .choices(["never", "ready-nodes", "all-nodes"])
        .default("never"),
    )
    .option("--free-terminating-after <duration>", "how long after its grace period", "1m");
}
