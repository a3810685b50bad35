import { familyOf, parseAddress } from "../core/index.ts";
import type { Attempt, Check } from "./next-step.ts";
import { addressBeside, linkLocalSender, type Nic } from "./nics.ts";

/** A command that asks once. */
export interface Probe {
  readonly file: string;
  readonly args: readonly string[];
}

/** How a command ended, and what it printed. */
export interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * The command that asks once, and waits for all answers: one that comes first may be the pod's own. Both commands
 * begin to count when they have sent: an answer after 95 ms was seen, one after 105 ms was not.
 *
 *  check         | command                   | asked from, so that
 *  --------------+---------------------------+--------------------------------------------------------------
 *  IPv4 conflict | arping (Habets)           | 0.0.0.0: nobody notes anything (RFC 5227)
 *  IPv4 gateway  | arping                    | the NIC's own address: some gateways answer nothing else
 *  IPv6, both    | ndisc6                    | the link-local address: whoever has the same address would send
 *                |                           | its answer to itself; nobody notes more than the link-local one
 */
export function probeOf({ kind, address }: Check, nic: Nic, within: number): Probe | { readonly failed: string } {
  if (!nic.isUp) return { failed: `${nic.name} is down, or has nothing at its other end` };
  const value = parseAddress(address).value;
  if (value !== undefined && familyOf(value) === 4) {
    const sender = kind === "conflict" ? "0.0.0.0" : addressBeside(nic, value);
    if (sender === undefined) return { failed: `${nic.name} has no address in the subnet of ${address}` };
    return { file: "arping", args: ["-S", sender, "-r", "-c", "1", "-w", `${within / 1000}`, "-i", nic.name, address] };
  }
  const sender = linkLocalSender(nic);
  if (sender === undefined) return { failed: `${nic.name} has no usable link-local address to ask from` };
  return { file: "ndisc6", args: ["-n", "-q", "-m", "-r", "1", "-w", `${within}`, "-s", sender, address, nic.name] };
}

/**
 * What a command says. Both print one MAC address a line.
 *
 *  printed       | errors  | exit status                | attempt
 *  --------------+---------+----------------------------+---------------------
 *  MAC addresses | any     | any                        | they answered
 *  none          | none    | arping 1, ndisc6 2         | nobody answered
 *  none          | none    | any other                  | nobody could be asked
 *  none          | some    | any; arping ends with 1 as | nobody could be asked
 *                |         |  if nobody had answered    |
 */
export function readAttempt({ file }: Probe, { status, stdout, stderr }: Ended): Attempt {
  const answers = stdout.split("\n").map((line) => line.trim().toLowerCase());
  const macs = answers.filter((line) => /^[0-9a-f]{2}(:[0-9a-f]{2})+$/.test(line));
  if (macs.length > 0) return { answers: macs };
  const [complaint = ""] = stderr.trim().split("\n");
  if (complaint === "" && status === (file === "arping" ? 1 : 2)) return { answers: [] };
  return { failed: complaint.startsWith(`${file}: `) ? complaint : `${file}: ${complaint || `ended with ${status}`}` };
}
