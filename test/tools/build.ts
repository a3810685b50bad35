/** Gets every tool of the end-to-end tests ready and prints where each one is: `node test/tools/build.ts`. */
import { tool } from "../support/tools.ts";
import { installDebianPackages } from "./debian.ts";
import { crates } from "./pins.ts";

installDebianPackages();
for (const name of crates.keys()) console.log(await tool(name));
