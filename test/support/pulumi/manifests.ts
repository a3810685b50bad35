import { Manifests, type ManifestsArgs } from "nodeippool/provider";

/** A Pulumi program that is a folder of manifests. */
export default function program(args: ManifestsArgs) {
  return { objects: new Manifests("net", args).objects };
}
