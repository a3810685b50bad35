import { writeFileSync } from "node:fs";
import { codes, IpamError, parseAddress, unwrap } from "../core/index.ts";
import { partition } from "../core/partition.ts";
import { checksOf } from "../detect/checks.ts";
import { detect } from "../detect/detect.ts";
import { blocks, formatDetection } from "../detect/detection.ts";
import { kernel, readNics } from "../detect/kernel.ts";
import { print } from "./terminal.ts";

interface Options {
  readonly conflict: boolean;
  readonly gateway: readonly string[];
  readonly terminationLog: string;
}

/** Prints what it found, and leaves it in the termination log. What keeps a pod from starting goes to standard error. */
export async function detectVerb(addresses: readonly string[], { conflict, gateway, terminationLog }: Options) {
  if (!conflict && gateway.length === 0)
    throw new IpamError("invalid", "nothing is left to ask", { hint: "Name a gateway, or leave --no-conflict out." });
  const wanted = {
    addresses: addresses.map((one) => unwrap(parseAddress(one))),
    gateways: gateway.map((one) => unwrap(parseAddress(one))),
    conflicts: conflict,
  };
  const nics = await readNics();
  const found = await detect(checksOf(nics, wanted), new Set(nics.map(({ mac }) => mac)), kernel);
  const [bad, good] = partition(found, blocks);
  const text = (some: typeof found) => some.map((one) => `${formatDetection(one)}\n`).join("");
  print(...good.map(formatDetection));
  // Only the beginning of a long one is kept.
  leaveBehind(text([...bad, ...good]), terminationLog);
  if (bad.length === 0) return;
  process.stderr.write(text(bad));
  process.exitCode = bad.some(({ kind }) => kind === "conflict") ? codes.conflict.exit : codes.unavailable.exit;
}

/** Kubernetes makes the file; where it is not there, or may not be written, standard error has to do. */
function leaveBehind(text: string, file: string): void {
  try {
    writeFileSync(file, text, { flag: "r+" });
  } catch {}
}
