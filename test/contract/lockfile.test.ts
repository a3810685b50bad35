import { readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll } from "vitest";
import { lockfile } from "../../state/lockfile.ts";
import { scratchFolder } from "../support/state/folder.ts";
import { contract } from "./state-backend.ts";

const folder = scratchFolder();
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let next = 0;

contract("lockfile", () => {
  const path = join(folder, `${next++}.lock`);
  return {
    open: () => lockfile(path),
    stamp: async () => {
      const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
      return stat === undefined ? "absent" : `${stat.ino} ${stat.mtimeNs} ${readFileSync(path, "utf8")}`;
    },
  };
});
