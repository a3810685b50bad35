import { writeFileSync } from "node:fs";
import { codes, IpamError, parseAddress, unwrap } from "../core/index.ts";
import { partition } from "../core/partition.ts";
import { checksOf } from "../detect/checks.ts";
import { detect } from "../detect/detect.ts";
import { blocks, formatDetection } from "../detect/detection.ts";
import { kernel, readNics } from "../detect/kernel.ts";
import { print } from "./terminal.ts";

interface Options {
  /** Lists of checks; of a pod to which nobody says what to look for, an empty one. */
  readonly checks?: readonly string[];
  /** Lists of gateways. */
  readonly gateway?: readonly string[];
  readonly terminationLog: string;
}

/** Prints what it found, and leaves it in the termination log. What keeps a pod from starting goes to standard error. */
export async function detectVerb(addresses: readonly string[], { checks, gateway, terminationLog }: Options) {
  const asked = checksIn((checks ?? ["conflict", "gateway"]).join());
  const conflict = asked.includes("conflict");
  if (asked.includes("gateway") && !conflict && gateway === undefined)
    throw new IpamError("invalid", "nothing is left to ask", { hint: "Name a gateway, or let --checks be conflict." });
  const gateways = asked.includes("gateway") ? wordsIn((gateway ?? []).join()) : [];
  // What added the container may find that neither the pod nor its pools ask for anything.
  if (!conflict && gateways.length === 0) return;
  const wanted = {
    addresses: addresses.map((one) => unwrap(parseAddress(one))),
    gateways: gateways.map((one) => unwrap(parseAddress(one))),
    conflicts: conflict,
    // The policy that adds the container names the checks.
    mayBeNone: checks !== undefined,
  };
  const nics = await readNics();
  const all = checksOf(nics, wanted);
  if (all.length === 0) return print("nothing to look at: no NIC but lo and eth0 has an address");
  const found = await detect(all, new Set(nics.map(({ mac }) => mac)), kernel);
  const [bad, good] = partition(found, blocks);
  const text = (some: typeof found) => some.map((one) => `${formatDetection(one)}\n`).join("");
  print(...good.map(formatDetection));
  // Only the beginning of a long one is kept.
  leaveBehind(text([...bad, ...good]), terminationLog);
  if (bad.length === 0) return;
  process.stderr.write(text(bad));
  process.exitCode = bad.some(({ kind }) => kind === "conflict") ? codes.conflict.exit : codes.unavailable.exit;
}

function checksIn(list: string): string[] {
  const words = wordsIn(list.toLowerCase());
  const wrong = words.find((word) => word !== "conflict" && word !== "gateway");
  if (wrong === undefined) return words;
  throw new IpamError("invalid", `nobody can look for ${wrong}`, { hint: "--checks takes conflict and gateway." });
}

function wordsIn(list: string): string[] {
  return list.split(",").flatMap((word) => word.trim() || []);
}

/** Kubernetes makes the file; where it is not there, or may not be written, standard error has to do. */
function leaveBehind(text: string, file: string): void {
  try {
    writeFileSync(file, text, { flag: "r+" });
  } catch {}
}
