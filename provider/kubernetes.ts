import { createRequire } from "node:module";
import type * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";

let loaded: typeof kubernetes | undefined;

/**
 * An object of a kind that @pulumi/kubernetes has no class for. The package is loaded on first use: whoever has
 * addresses alone need not install it.
 */
export function customResource(
  name: string,
  args: kubernetes.apiextensions.CustomResourceArgs & pulumi.Inputs,
  opts: pulumi.CustomResourceOptions,
): kubernetes.apiextensions.CustomResource {
  loaded ??= load();
  return new loaded.apiextensions.CustomResource(name, args, opts);
}

function load(): typeof kubernetes {
  try {
    return createRequire(import.meta.url)("@pulumi/kubernetes");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "MODULE_NOT_FOUND") throw error;
    throw new pulumi.RunError(
      "NodeIPPool and NodeNetworkPolicy need @pulumi/kubernetes: npm install @pulumi/kubernetes",
    );
  }
}
