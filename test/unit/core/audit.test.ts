import { describe, expect, it } from "vitest";
import { address, formatAddress } from "../../../core/address.ts";
import { type AuditInput, audit } from "../../../core/audit.ts";
import type { Use } from "../../../core/use.ts";
import { tableOf } from "../../support/core/table.ts";
import { poolOf, recordOf, spelt } from "../../support/core/text.ts";

const pool = poolOf("p", "10.0.0.0/28 10.0.0.1 10.0.0.9", {
  exclude: ["10.0.0.4"],
  reservations: [{ address: "10.0.0.5" }],
});

/** `10.0.0.1/28 Node/n eth1 dhcp`: address, prefix length, owner, NIC, and how it got there; all but the first may be absent. */
function useOf(text: string, i: number): Use {
  const [whole = "", owner, nic, dhcp] = text.split(" ");
  const [where = "", length] = whole.split("/");
  const at = { file: "dump.yaml", line: i + 1, column: 1 };
  return {
    address: address(where),
    at,
    ...(owner === undefined ? {} : { owner }),
    ...(nic === undefined ? {} : { interface: nic }),
    ...(dhcp === undefined ? {} : { isTemporary: true }),
    ...(length === undefined ? {} : { prefixLength: Number(length) }),
  };
}

function findingsOf(record: string[], rest: Partial<AuditInput> = {}): string[] {
  const found = audit({ pools: [pool], snapshot: recordOf(record, [pool]), ...rest });
  return found.map(
    ({ kind, address, at }) => `${kind} ${formatAddress(address)}${at === undefined ? "" : `:${at.line}`}`,
  );
}

describe("audit of the record", () => {
  const owners = new Set(["Node/n", "VM/ns:v"]);
  const table = tableOf(`
record                      | findings
----------------------------+-----------------------------------------------------
                            |
.1 Node/n/a ; .9 VM/ns:v/a  |
.10 Node/n/a                | out-of-pool .10
2001:db8::1 Node/n/a        | out-of-pool 2001:db8::1
.4 Node/n/a                 | excluded .4
.5 Node/n/a                 | excluded .5
.1 Node/m/a                 | unknown-owner .1
.1 VM/other:v/a             | unknown-owner .1
.9 Node/m/a ; .4 Node/m/b   | excluded .4 ; unknown-owner .4 ; unknown-owner .9
.10 Node/m/a releasing      |
.1 Node/n/a pool=elsewhere  |
`);

  it.each(table.map((row) => [row.title, row] as const))("%s", (_, { cell }) => {
    expect(findingsOf(cell("record").map(spelt), { owners })).toEqual(cell("findings").map(spelt));
  });

  it("without a list of owners nobody is unknown", () => {
    expect(findingsOf(["10.0.0.1 Node/m/a"])).toEqual([]);
  });
});

describe("audit of what is used", () => {
  // A finding ends in the place of the use, here its number.
  const table = tableOf(`
record                   | uses                              | findings
-------------------------+-----------------------------------+--------------------------------
                         |                                   |
.1 Node/n/a              | .1 Node/n eth1                    |
.1 Node/n/a              | .1                                |

.1 Node/n/a              |                                   | leaked .1
.1 Node/n/a ; .2 Node/n/b | .2 Node/n                        | leaked .1

                         | .1 Node/n                         | stranger .1:1
                         | .1                                | stranger .1:1
# configured though the pool excludes it; not what is only mentioned, kept away for a reason, or outside the pool
                         | .4 Node/n                         | excluded .4:1
                         | .4 ; .5 Node/n ; .15 Node/n ; 192.0.2.1 Node/n |

.1 Node/n/a              | .1 Node/m                         | wrong-owner .1:1
# releasing: still on its node is well, and so is gone; on another node is not
.1 Node/n/a releasing    | .1 Node/n                         |
.1 Node/n/a releasing    |                                   |
.1 Node/n/a releasing    | .1 Node/m                         | wrong-owner .1:1

# another owner or another NIC; not the same one seen twice, not one whose NIC is not known
.1 Node/n/a              | .1 Node/n eth1 ; .1 Node/m eth1   | duplicate .1:2 ; wrong-owner .1:2
.1 Node/n/a              | .1 Node/m eth1 ; .1 Node/n eth1   | duplicate .1:1 ; wrong-owner .1:1
.1 Node/n/a              | .1 Node/n eth1 ; .1 Node/n eth2   | duplicate .1:2
                         | 192.0.2.1 Node/n ; 192.0.2.1 Node/m ; 192.0.2.1 Node/o | duplicate 192.0.2.1:2 ; duplicate 192.0.2.1:3
.1 Node/n/a              | .1 Node/n eth1 ; .1 Node/n eth1   |
.1 Node/n/a              | .1 ; .1 Node/n eth1 ; .1          |
.1 Node/n/a              | .1 Node/n eth1 ; .1 Node/n eth2 ; .1 Node/n eth2 | duplicate .1:2
.1 Node/n/a              | .1 Node/n eth1 ; .1 Node/n        |

# one address that several are to have: excluded, or reserved without an owner; not what one of them has by DHCP
                         | .4 Node/n br0 ; .4 Node/m br0     |
                         | .4 Node/n br0 ; .4 Node/n br1     | excluded .4:1 ; excluded .4:2
                         | .4 NodeNetworkConfigurationPolicy/bridge br0 |
                         | .5 Node/n br0 ; .5 Node/m br0 ; .5 Node/m br1 |
                         | .4 Node/n br0 ; .4 Node/m br0 dhcp | duplicate .4:2 ; excluded .4:1 ; excluded .4:2
                         | .3 Node/n br0 ; .3 Node/m br0     | duplicate .3:2 ; stranger .3:1 ; stranger .3:2
.4 Node/n/a              | .4 Node/n br0 ; .4 Node/m br0     | duplicate .4:2 ; excluded .4 ; wrong-owner .4:2

# another NIC than recorded; not beside the recorded one, where the NIC is not known, or on its way out
.1 Node/n/a if=eth1      | .1 Node/n eth2                    | wrong-interface .1:1
.1 Node/n/a if=eth1      | .1 Node/n eth1 ; .1 Node/n eth2   | duplicate .1:2
.1 Node/n/a if=eth1      | .1 Node/n                         |
.1 Node/n/a if=eth1      | .1 Node/n {{capture.x.name}}      |
.1 Node/n/a if=eth1      | .1 Node/m eth2                    | wrong-owner .1:1
.1 Node/n/a if=eth1 releasing | .1 Node/n eth2               |

# another prefix length than the pool has; not of somebody else, who is the wrong one anyway
.1 Node/n/a              | .1/28 Node/n eth1                 |
.1 Node/n/a              | .1/24 Node/n eth1                 | wrong-prefix .1:1
.1 Node/n/a if=eth1      | .1/32 Node/n eth2                 | wrong-interface .1:1 ; wrong-prefix .1:1
.1 Node/n/a              | .1/24 Node/m eth1                 | wrong-owner .1:1
.1 Node/n/a              | .1/32 Node/n eth1                 | wrong-prefix .1:1
# on lo an address may stand alone
.1 Node/n/a              | .1/32 Node/n lo                   |
.1 Node/n/a              | .1/28 Node/n lo                   |
.1 Node/n/a              | .1/24 Node/n lo                   | wrong-prefix .1:1
# a virtual IP that was imported is one
.1 Node/n/imported/x set=imported | .1/32 Node/n eth1        |
.1 Node/n/imported/x set=imported | .1/31 Node/n eth1        | wrong-prefix .1:1
`);

  it.each(table.map((row) => [row.title, row] as const))("%s", (_, { cell }) => {
    const uses = cell("uses").map((text, i) => useOf(spelt(text), i));
    expect(findingsOf(cell("record").map(spelt), { uses })).toEqual(cell("findings").map(spelt));
  });

  // Evidence shows all that Node/n has, and the manifests of set b in each pool that they use.
  const partial = tableOf(`
record                             | uses                   | findings
-----------------------------------+------------------------+--------------------
.1 Node/n/a ; .2 Node/m/a          |                        | leaked .1
.1 Node/n/a ; .2 Node/n/b          | .1 Node/n              | leaked .2
.1 Node/n/a pool=elsewhere         |                        |
.1 Node/m/a set=b ; .2 Node/o/a set=b |                     |
.1 Node/m/a set=b ; .2 Node/o/a set=b | .1 Node/m           | leaked .2
.1 Node/m/a set=b ; .2 Node/o/a    | .1 Node/m              |
.2 Node/o/a set=b                  | .1 Node/m              | stranger .1:1 ; leaked .2
.2 Node/o/a set=b ; 10.1.0.1 Node/m/a pool=elsewhere | 10.1.0.1 Node/m |
`);

  it.each(partial.map((row) => [row.title, row] as const))("partly shown: %s", (_, { cell }) => {
    const uses = cell("uses").map((text, i) => useOf(spelt(text), i));
    const shows = { owners: new Set(["Node/n"]), sets: new Set(["b"]) };
    expect(findingsOf(cell("record").map(spelt), { uses, shows })).toEqual(cell("findings").map(spelt));
  });

  it("says of which claim set a finding is that only its manifests or nodes tell", () => {
    const pool = poolOf("p", "10.0.0.0/28");
    const lines = [
      "10.0.0.1 Node/m/a",
      "10.0.0.2 Node/m/b set=b",
      "10.0.0.3 Node/n/b set=b",
      "10.0.0.4 Node/n/c set=c",
    ];
    const input = {
      pools: [pool],
      snapshot: recordOf(lines, [pool]),
      uses: [useOf("10.0.0.1 Node/m", 0)],
      owners: new Set(["Node/m"]),
      shows: { owners: new Set(["Node/n"]), sets: new Set(["default", "b"]) },
    };
    expect(audit(input).map(({ kind, line, set }) => [kind, line?.claim, set])).toEqual([
      ["leaked", "Node/m/b", "b"],
      ["leaked", "Node/n/b", undefined],
      ["unknown-owner", "Node/n/b", "b"],
      ["leaked", "Node/n/c", undefined],
    ]);
  });

  it("what an import recorded may be reserved for nobody: a virtual IP; an owner's own address may not", () => {
    const pool = poolOf("p", "10.0.0.0/28", { reservations: [{ address: "10.0.0.1" }, { address: "10.0.0.2" }] });
    const lines = ["10.0.0.1 Node/n/imported/x set=imported", "10.0.0.2 Node/n/a"];
    const found = audit({ pools: [pool], snapshot: recordOf(lines, [pool]) });
    expect(found.map(({ kind, line }) => `${kind} ${line?.claim}`)).toEqual(["excluded Node/n/a"]);
  });

  it("without a list of uses nothing leaks", () => {
    expect(findingsOf(["10.0.0.1 Node/n/a"])).toEqual([]);
  });

  it("finds the proposal's drift: traffic-2 lists no offset 8, its enactment holds 10.10.11.9", () => {
    const traffic = poolOf("traffic-2", "10.10.11.0/24 10.10.11.1 10.10.11.10", {
      exclude: ["10.10.11.4", "10.10.11.7"],
    });
    const listed = [1, 2, 3, 5, 6, 8].map((n) => `10.10.11.${n} Node/node0${n}/static-ip/eth2 pool=traffic-2`);
    const used = [1, 2, 3, 5, 6, 8, 9].map((n, i) => useOf(`10.10.11.${n} Node/node0${n} eth2`, i));
    const found = audit({ pools: [traffic], snapshot: recordOf(listed, [traffic]), uses: used });
    expect(found.map(({ kind, message }) => `${kind}: ${message}`)).toEqual([
      "stranger: 10.10.11.9 of pool traffic-2 is used by Node/node09 eth2, but not recorded",
    ]);
  });

  it("one address in two networks is no duplicate", () => {
    const pools = [poolOf("p", "10.0.0.0/28", { network: "red" }), poolOf("q", "10.0.0.0/28", { network: "blue" })];
    const snapshot = recordOf(["10.0.0.1 Node/n/a", "10.0.0.1 Node/m/a pool=q"], pools);
    expect(audit({ pools, snapshot, uses: ["10.0.0.1 Node/n eth1", "10.0.0.1 Node/m eth1"].map(useOf) })).toEqual([]);
  });
});

it("one address of one node in two networks has the prefix length of each on its NIC", () => {
  const pools = [poolOf("a", "10.0.0.0/28", { network: "red" }), poolOf("b", "10.0.0.0/29", { network: "blue" })];
  const record = recordOf(["10.0.0.1 Node/n/x pool=a if=eth1", "10.0.0.1 Node/n/y pool=b if=eth2"], pools);
  const kinds = (...uses: string[]) =>
    audit({ pools, snapshot: record, uses: uses.map(useOf) }).map(({ kind, at }) => `${kind} ${at?.line}`);
  expect(kinds("10.0.0.1/28 Node/n eth1", "10.0.0.1/29 Node/n eth2")).toEqual([]);
  expect(kinds("10.0.0.1/28 Node/n eth1", "10.0.0.1/28 Node/n eth2")).toEqual(["wrong-prefix 2"]);
});

it("finds nothing strange in an address that is reserved for whoever uses it, or for somebody, where it is only named", () => {
  const reservations = [{ address: "10.0.0.1", owner: "Node/n" }];
  const kept = poolOf("p", "10.0.0.0/24", { reservations });
  const found = (use: string) =>
    audit({ pools: [kept], snapshot: recordOf([], [kept]), uses: [useOf(use, 0)] }).map(({ message }) => message);
  expect([...found("10.0.0.1 Node/n eth0"), ...found("10.0.0.1")]).toEqual([]);
  expect(found("10.0.0.1 Node/m eth0")).toEqual(["10.0.0.1 of pool p is used by Node/m eth0, but not recorded"]);
});

it.each(["in", "outside"])("finds who has a gateway, %s the range, unless it is reserved for nobody", (where) => {
  const gateway = where === "in" ? "10.0.0.7" : "10.0.0.14";
  const found = (reservations: { address: string }[], uses: string[]) => {
    const pools = [poolOf("p", "10.0.0.0/28 10.0.0.1 10.0.0.9", { gateway, reservations })];
    const known = { [where === "in" ? "uses" : "elsewhere"]: uses.map(useOf) };
    return audit({ pools, snapshot: recordOf([], pools), uses: [], ...known }).map(({ message }) => message);
  };
  const message = `${gateway} is used by Node/n eth0, but it is the gateway of pool p`;
  expect(found([], [`${gateway} Node/n eth0`])).toEqual([message]);
  expect(found([{ address: gateway }], [`${gateway} Node/n eth0`])).toEqual([]);
});

it("asks the pools of all networks who has a reservation, in any order", () => {
  const red = poolOf("red", "10.0.0.0/24", { network: "red" });
  const reservations = [{ address: "10.0.0.1", owner: "Node/n" }];
  const blue = poolOf("blue", "10.0.0.0/24", { network: "blue", reservations });
  for (const pools of [
    [red, blue],
    [blue, red],
  ]) {
    const found = (use: string) => audit({ pools, snapshot: recordOf([], pools), uses: [useOf(use, 0)] });
    expect([...found("10.0.0.1 Node/n eth0"), ...found("10.0.0.1")]).toEqual([]);
    expect(found("10.0.0.1 Node/m eth0").map(({ kind }) => kind)).toEqual(["stranger"]);
  }
});

describe("a finding says what is wrong", () => {
  it.each([
    {
      record: ["10.0.0.10 Node/n/a"],
      uses: ["10.0.0.10"],
      message: "10.0.0.10 is recorded for Node/n/a, outside pool p",
    },
    {
      record: ["10.0.0.4 Node/n/a"],
      uses: ["10.0.0.4"],
      message: "10.0.0.4 is recorded for Node/n/a, but pool p excludes it",
    },
    {
      record: ["10.0.0.1 Node/m/a"],
      uses: ["10.0.0.1"],
      message: "10.0.0.1 is recorded for Node/m/a, which does not exist",
    },
    { record: ["10.0.0.1 Node/n/a"], uses: [], message: "10.0.0.1 is recorded for Node/n/a, but nothing uses it" },
    {
      record: [],
      uses: ["10.0.0.1"],
      message: "10.0.0.1 of pool p is named here, and may be given to anybody: exclude or reserve it",
    },
    {
      record: ["10.0.0.1 Node/n/a"],
      uses: ["10.0.0.1 VM/ns:v eth0"],
      message: "10.0.0.1 is used by VM/ns:v eth0, but recorded for Node/n/a",
    },
    {
      record: [],
      uses: ["192.0.2.1 Node/n a", "192.0.2.1 Node/n b"],
      message: "192.0.2.1 is configured on Node/n a and on Node/n b",
    },
  ])("$message", ({ record, uses, message }) => {
    const owners = new Set(["Node/n"]);
    const found = audit({ pools: [pool], snapshot: recordOf(record, [pool]), owners, uses: uses.map(useOf) });
    expect(found.map((finding) => finding.message)).toEqual([message]);
    expect(found[0]?.line !== undefined).toBe(/^[^,]* is recorded/.test(message));
  });
});
