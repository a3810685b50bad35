import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { root } from "../support/console.ts";
import { hold } from "../support/controller/hold.ts";
import { type LabNode, runIn } from "../support/real/lab.ts";
import { createPodNetwork, giveAddresses, ip, linkLocalOf, type PodNetwork } from "../support/real/pod-network.ts";
import { BUILD_TIMEOUT, command, orSkip } from "../support/tools/tools.ts";

const four = "10.30.0.10";
const six = "2001:db8:30::10";
const both = [`${four}/24`, `${six}/64`];
const macs = { pod: "02:00:00:00:00:01", other: "02:00:00:00:00:02", gateway: "02:00:00:00:00:03" };

const folder = mkdtempSync(join(tmpdir(), "nodeippool-detect-"));
const log = join(folder, "termination-log");
let making: Promise<PodNetwork> | undefined;
let pod: LabNode, other: LabNode, gateway: LabNode;

beforeEach(async (context) => {
  making ??= createPodNetwork();
  ({ pod, other, gateway } = await orSkip(context, making));
  await giveAddresses(pod, both);
  await giveAddresses(pod, [], "net2");
  await giveAddresses(other, ["10.30.0.11/24"]);
  await giveAddresses(gateway, ["10.30.0.1/24", "2001:db8:30::1/64"]);
  writeFileSync(log, "");
}, BUILD_TIMEOUT);
afterAll(async () => {
  await (await making?.catch(() => undefined))?.close();
  rmSync(folder, { recursive: true });
});

interface Said {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** What the command says in the pod, without what stands in brackets; `under`: a command that runs it. */
async function detect(args: readonly string[], under: readonly string[] = []) {
  const words = [...under, process.execPath, join(root, "cli/main.ts"), "detect", "--termination-log", log, ...args];
  const ended: Said = await runIn(pod, words[0] as string, words.slice(1)).then(
    (stdout) => ({ status: 0, stdout, stderr: "" }),
    ({ code, stdout, stderr }) => ({ status: code, stdout, stderr }),
  );
  const lines = (text: string) => text.split("\n").flatMap((line) => line.replace(/ \(.*\)$/, "") || []);
  const left = readFileSync(log, "utf8");
  return {
    status: ended.status,
    said: lines(ended.stdout),
    complained: lines(ended.stderr),
    left,
    stderr: ended.stderr,
  };
}

/** What a host has noted of its neighbours, but for link-local ones: address and MAC. */
async function noted(host: LabNode): Promise<string[]> {
  const found = JSON.parse(await ip(host, "-json", "neighbour", "show"));
  return found.flatMap(({ dst, lladdr }: { dst: string; lladdr?: string }) =>
    lladdr === undefined || dst.startsWith("fe80:") ? [] : `${dst} ${lladdr}`,
  );
}

describe("conflicts", () => {
  test("S49 nobody else has the addresses", async () => {
    expect(await detect([])).toMatchObject({
      status: 0,
      said: [`not-detected ${four} net1`, `not-detected ${six} net1`],
      complained: [],
      left: expect.stringMatching(/^not-detected .*\nnot-detected .*\n$/),
    });
  });

  test("S46 another host has both: status 4, one line each on standard error and in the termination log", async () => {
    await giveAddresses(other, both);
    const { stderr, ...rest } = await detect([]);
    const complained = [`conflict ${four} net1 ${macs.other}`, `conflict ${six} net1 ${macs.other}`];
    expect(rest).toEqual({ status: 4, said: [], complained, left: stderr });
  });

  test.each([four, six])("S46 another host has %s alone", async (address) => {
    await giveAddresses(
      other,
      both.filter((one) => one.startsWith(address)),
    );
    expect(await detect([])).toMatchObject({
      status: 4,
      said: [`not-detected ${address === four ? six : four} net1`],
      complained: [`conflict ${address} net1 ${macs.other}`],
    });
  });

  test("nobody notes the address as the pod's, and the gateway is not asked", async () => {
    await giveAddresses(other, both);
    const { complained } = await detect(["--gateway", "10.30.0.1", "--gateway", "2001:db8:30::1"]);
    expect(complained).toHaveLength(2);
    expect(await noted(gateway)).toEqual([]);
    expect(await noted(other)).toEqual([]);
  });

  test("an address that is named is looked at alone, and must be there", async () => {
    await giveAddresses(other, both);
    expect((await detect([six])).complained).toEqual([`conflict ${six} net1 ${macs.other}`]);
    expect(await detect(["10.30.0.12"])).toMatchObject({
      status: 2,
      stderr: `invalid: no NIC has 10.30.0.12; found net1 ${four}/24, net1 ${six}/64\n`,
    });
  });

  test("no answer of the pod's own other NIC counts, and none hides another host", async () => {
    await giveAddresses(pod, ["10.31.0.10/24"], "net2");
    const [{ address: own }] = JSON.parse(await ip(pod, "-json", "link", "show", "net2"));
    const probe = ["-0", "-r", "-c", "1", "-w", "1", "-i", "net1", four];
    expect(await runIn(pod, command("arping"), probe)).toBe(`${own}\n`);
    expect((await detect([four])).said).toEqual([`not-detected ${four} net1`]);
    await giveAddresses(other, both);
    expect((await detect([four])).complained).toEqual([`conflict ${four} net1 ${macs.other}`]);
  });

  test("what DAD of the kernel has found is a conflict, by who answers, or unknown", async () => {
    await giveAddresses(other, [`${six}/64`]);
    await runIn(pod, "sh", ["-c", "echo 1 > /proc/sys/net/ipv6/conf/net1/accept_dad"]);
    try {
      await giveAddresses(pod, both);
      await expect.poll(() => ip(pod, "address", "show", "dev", "net1"), { timeout: 10_000 }).toContain("dadfailed");
      expect((await detect([six])).complained).toEqual([`conflict ${six} net1 ${macs.other}`]);
      await giveAddresses(other, []);
      expect((await detect([six])).complained).toEqual([`conflict ${six} net1 unknown`]);
    } finally {
      await runIn(pod, "sh", ["-c", "echo 0 > /proc/sys/net/ipv6/conf/net1/accept_dad"]);
    }
  });
});

describe("pods on NICs of macvlan", () => {
  const words = [process.execPath, join(root, "cli/main.ts"), "detect"] as const;

  /** A pod of the node that `pod` stands for: it ends with the test. */
  const podWith = async (number: number, ...addresses: readonly string[]): Promise<LabNode> => {
    const { pid, release } = await hold(command("unshare"), ["--net", "--mount"], "mount -t sysfs sysfs /sys");
    onTestFinished(release);
    await ip(pod, ...`link add link net1 name pod${number} type macvlan mode bridge`.split(" "));
    await ip(pod, "link", "set", `pod${number}`, "netns", `${pid}`, "name", "net1");
    const made = { ...pod, pid, number: 10 + number };
    await giveAddresses(made, addresses);
    return made;
  };

  test("two pods of one node, and a host elsewhere, have the same addresses", async () => {
    const addresses = ["10.30.0.20/24", "2001:db8:30::20/64"];
    const run = (one: LabNode) => runIn(one, words[0], words.slice(1));
    const first = await podWith(1, ...addresses);
    expect(await run(first)).toMatch(/^not-detected 10\.30\.0\.20 .*\nnot-detected 2001:db8:30::20 .*\n$/);
    const second = await podWith(2, ...addresses);
    const [{ address }] = JSON.parse(await ip(first, "-json", "link", "show", "net1"));
    await expect(run(second)).rejects.toMatchObject({
      code: 4,
      stderr: expect.stringMatching(
        new RegExp(`^conflict 10\\.30\\.0\\.20 net1 ${address} .*\\nconflict 2001:db8:30::20 net1 ${address} .*\\n$`),
      ),
    });
    await ip(second, "link", "delete", "net1");
    await giveAddresses(other, ["10.30.0.20/24"]);
    await expect(run(first)).rejects.toMatchObject({ code: 4, stderr: expect.stringContaining(macs.other) });
  });
});

describe("what cannot be asked", () => {
  test("S47 a NIC that is down: status 6, and why", async () => {
    await ip(pod, "link", "set", "net1", "down");
    const { status, stderr, left } = await detect([four]);
    expect(stderr).toBe(`failed ${four} net1 (net1 is down, or has nothing at its other end)\n`);
    expect([status, left]).toEqual([6, stderr]);
  });

  test("S47 a link-local address that becomes usable within two seconds is waited for", async () => {
    const linkLocal = linkLocalOf(pod);
    await runIn(pod, "sh", ["-c", "echo 1 > /proc/sys/net/ipv6/conf/net1/accept_dad"]);
    try {
      await ip(pod, "address", "delete", linkLocal, "dev", "net1");
      expect((await detect([six])).stderr).toBe(
        `failed ${six} net1 (net1 has no usable link-local address to ask from)\n`,
      );
      await ip(pod, "address", "add", linkLocal, "dev", "net1");
      expect(await ip(pod, "address", "show", "dev", "net1")).toContain("tentative");
      expect((await detect([six])).said).toEqual([`not-detected ${six} net1`]);
    } finally {
      await runIn(pod, "sh", ["-c", "echo 0 > /proc/sys/net/ipv6/conf/net1/accept_dad"]);
    }
  });

  const bound = (...capabilities: string[]) => [
    command("setpriv"),
    "--no-new-privs",
    "--inh-caps=-all",
    `--bounding-set=${["-all", ...capabilities].join(",")}`,
  ];

  test("NET_RAW is the one capability that it needs", async () => {
    expect(await detect([], bound("+net_raw"))).toMatchObject({ status: 0, complained: [] });
    const { status, stderr } = await detect([], bound());
    expect(status).toBe(6);
    expect(stderr).toMatch(/^failed 10\.30\.0\.10 net1 \(arping: .*CAP_NET_RAW required\)$/m);
    expect(stderr).toMatch(/^failed 2001:db8:30::10 net1 \(ndisc6: Raw IPv6 socket: Operation not permitted\)$/m);
  });

  test("a pod without a secondary NIC, and without a termination log", async () => {
    await giveAddresses(pod, []);
    const { status, stderr, said } = await detect(["--checks", "conflict"]);
    expect([status, stderr, said]).toEqual([0, "", ["nothing to look at: no NIC but lo and eth0 has an address"]]);
    rmSync(log);
    const words = [join(root, "cli/main.ts"), "detect", "--termination-log", log];
    await expect(runIn(pod, process.execPath, words)).rejects.toMatchObject({
      code: 2,
      stderr: "invalid: no NIC but lo and eth0 has an address; found none\n",
    });
    await giveAddresses(pod, both);
    await giveAddresses(other, both);
    await expect(runIn(pod, process.execPath, words)).rejects.toMatchObject({ code: 4 });
    expect(existsSync(log)).toBe(false);
  });
});

describe("gateways", () => {
  const asked = ["--gateway", "10.30.0.1", "--gateway", "2001:db8:30::1"];

  test("S50 answer", async () => {
    const { status, said } = await detect(asked);
    expect(said).toEqual([
      `not-detected ${four} net1`,
      `not-detected ${six} net1`,
      `reachable 10.30.0.1 net1 ${macs.gateway}`,
      `reachable 2001:db8:30::1 net1 ${macs.gateway}`,
    ]);
    expect(status).toBe(0);
  });

  test("S50 a link-local one answers", async () => {
    const [local = ""] = linkLocalOf(gateway).split("/");
    expect((await detect([six, "--gateway", local])).said).toContain(`reachable ${local} net1 ${macs.gateway}`);
  });

  test("S50 do not answer: status 6", async () => {
    await giveAddresses(gateway, []);
    const { stderr, left, ...rest } = await detect(asked);
    expect(rest).toEqual({
      status: 6,
      said: [`not-detected ${four} net1`, `not-detected ${six} net1`],
      complained: ["unreachable 10.30.0.1 net1", "unreachable 2001:db8:30::1 net1"],
    });
    expect(left.startsWith(stderr)).toBe(true);
  });

  test("a container that a policy added, to which nobody says what to look for", async () => {
    await giveAddresses(other, both);
    for (const checks of ["--checks=", "--checks=gateway"])
      expect(await detect([checks, "--gateway="])).toMatchObject({ status: 0, said: [], left: "" });
    expect((await detect(["--checks=Conflict, gateway", "--gateway=10.30.0.1, 2001:db8:30::1"])).status).toBe(4);
    await giveAddresses(other, []);
    expect((await detect(["--checks=gateway", "--gateway=10.30.0.1, 2001:db8:30::1"])).said).toHaveLength(2);
  });

  test("S51 each check alone", async () => {
    await giveAddresses(other, both);
    expect(await detect(["--checks", "gateway", ...asked])).toMatchObject({
      status: 0,
      said: [`reachable 10.30.0.1 net1 ${macs.gateway}`, `reachable 2001:db8:30::1 net1 ${macs.gateway}`],
    });
    await giveAddresses(gateway, []);
    await giveAddresses(other, []);
    expect((await detect([])).said).toEqual([`not-detected ${four} net1`, `not-detected ${six} net1`]);
    expect(await detect(["--checks", "gateway"])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("nothing is left to ask"),
    });
    expect(await detect(["--checks", "conflicts"])).toMatchObject({ status: 2 });
    expect(await detect(["--gateway", "10.32.0.1"])).toMatchObject({ status: 2 });
  });
});
