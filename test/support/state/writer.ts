// Run as a program, and killed at any time: LOCK NAME POOL COUNT WINDOW [CALL]. Commits plan after plan, each with one
// node more, and prints the claim and its address once a commit is acknowledged. From WINDOW nodes on the oldest one
// goes, and its address is freed by a commit of its own. With CALL it kills itself before that file call.
import { writeSync } from "node:fs";
import { formatAddress } from "../../../core/address.ts";
import { parseClaimKey } from "../../../core/claim.ts";
import { IpamError, unwrap } from "../../../core/errors.ts";
import { plan } from "../../../core/plan/plan.ts";
import { planRelease } from "../../../core/plan/release.ts";
import { lockfile } from "../../../state/lockfile.ts";
import { writerPools } from "./children.ts";
import { onFileCall } from "./file-calls.ts";

const [path = "", name = "", poolName = "", count = "", window = "", call] = process.argv.slice(2);
const pool = writerPools.filter((one) => one.name === poolName);
const backend = lockfile(path);
/** What this writer's own lines are, by all it was told: nobody else may touch them. */
let mine: string[] = [];

for (let i = 0; i < Number(count); ) {
  const snapshot = backend.readSync();
  const own = snapshot.allocations.filter((line) => line.set === name);
  const found = own.map((line) => `${line.claim} ${formatAddress(line.address)}`);
  if (found.sort().join() !== mine.sort().join()) throw new Error(`${name} had ${mine}, and found ${found}`);

  const key = `Node/${name}-${i}/a`;
  const leaving = snapshot.releasing.filter((line) => line.set === name);
  const kept = Array.from({ length: Math.min(i, Number(window) - 1) }, (_, back) => `Node/${name}-${i - 1 - back}/a`);
  const claims = [key, ...kept].map((claim) => ({ ...unwrap(parseClaimKey(claim)), pool: poolName }));
  const made = leaving.length > 0 ? planRelease(snapshot, leaving) : plan({ pools: pool, claims, snapshot, set: name });
  if (call !== undefined) onFileCall((n) => n === Number(call) && process.kill(process.pid, "SIGKILL"));
  try {
    const after = backend.commitAll([made]).allocations.filter((line) => line.set === name);
    mine = after.map((line) => `${line.claim} ${formatAddress(line.address)}`);
    const added = mine.find((text) => text.startsWith(`${key} `));
    if (leaving.length === 0) writeSync(1, `${added}\n`);
    if (leaving.length === 0) i++;
  } catch (error) {
    if (!(error instanceof IpamError && error.code === "conflict")) throw error;
  }
}
