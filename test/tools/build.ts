/** Gets every tool of the end-to-end tests ready and prints where each one is: `node test/tools/build.ts`. */

import { networkManagerFolder } from "../support/real/network-manager.ts";
import { generatedCrds } from "../support/tools/generated-crds.ts";
import { goModule } from "../support/tools/go-module.ts";
import { pulumiFolder } from "../support/tools/pulumi-tools.ts";
import { cloudInitFolder, pythonFolder } from "../support/tools/python-tools.ts";
import { tool } from "../support/tools/tools.ts";
import { installDebianPackages } from "./debian.ts";
import { crates, goCommands, goPins } from "./pins.ts";

installDebianPackages();
for (const name of [...crates.keys(), ...goCommands.keys()]) console.log(await tool(name));
for (const { tools, versions } of goPins)
  if (tools.length === 0) for (const path of versions.keys()) console.log(await goModule(path));
for (const project of ["metal3", "kubevirt"] as const) console.log(await generatedCrds(project));
if (process.getuid?.() === 0) console.log(await networkManagerFolder());
console.log(await pulumiFolder());
console.log(await pythonFolder());
console.log(await cloudInitFolder());
