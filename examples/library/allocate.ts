// Another surface in twenty lines: addresses for anything that has a kind and a name, kept in a lockfile.
import { formatAddress, formatOwner, isNoop, lockfile, parsePool, plan, unwrap } from "nodeippool";

const pool = unwrap(parsePool("printers", { range: { cidr: "10.20.0.0/24", start: "10.20.0.10", end: "10.20.0.50" } }));
const claims = ["lobby", "second-floor"].map((name) => ({
  owner: { kind: "Printer", name },
  name: "lan",
  pool: pool.name,
}));

const state = lockfile("nodeippool.lock");
const made = plan({ pools: [pool], claims, snapshot: await state.read(), set: "printers" });
for (const { claim, message, hint } of made.pending) console.error(`${claim}: ${message}. ${hint ?? ""}`);
if (made.pending.length > 0) process.exit(3);
if (!isNoop(made)) await state.commit(made);

const { allocations } = await state.read();
for (const { owner } of claims) {
  const line = allocations.find(({ claim }) => claim === `${formatOwner(owner)}/lan`);
  console.log(`${owner.name}: ${line && formatAddress(line.address)}`);
}
