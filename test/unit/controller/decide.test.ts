import { describe, expect, it } from "vitest";
import { decide } from "../../../controller/allocate/decide.ts";
import { type Claim, formatBlock, formatOwner, ownerOfKey } from "../../../core/index.ts";
import { claimOf, poolOf, recordOf, shown } from "../../support/core/text.ts";

const pools = [poolOf("p", "10.0.0.0/24 10.0.0.1 10.0.0.3"), poolOf("q", "10.0.1.0/24 10.0.1.1 10.0.1.1")];

interface Case {
  readonly name: string;
  readonly record?: string[];
  readonly claims?: string[];
  /** Each claim by itself is for another integration. */
  readonly isApart?: boolean;
  /** Owners that are not Ready. */
  readonly waiting?: string[];
  /** Those of them that show to have what they ask for. */
  readonly showing?: string[];
  /** Claims that want what somebody else shows to have. */
  readonly refused?: string[];
  /** Claims that cannot hold together with what somebody has. */
  readonly conflicting?: string[];
  /** Claims whose lines stay. */
  readonly held?: string[];
  /** Addresses known to be off their owners. */
  readonly gone?: string[];
  readonly want: string[];
  readonly pending?: string[];
}

describe("decide", () => {
  const cases: Case[] = [
    { name: "a new claim gets an address", claims: ["Node/a/x"], want: ["assign 10.0.0.1 Node/a/x"] },
    {
      name: "a claim keeps its line",
      record: ["10.0.0.2 Node/a/x"],
      claims: ["Node/a/x"],
      want: ["keep 10.0.0.2 Node/a/x"],
    },
    {
      name: "a claim in place of another one waits until that is released",
      record: ["10.0.0.2 Node/a/y if=eth1"],
      claims: ["Node/a/x if=eth1"],
      want: ["releasing 10.0.0.2 Node/a/y if=eth1"],
      pending: ["in-use Node/a/x"],
    },
    { name: "an owner that waits gets nothing new", claims: ["Node/a/x"], waiting: ["Node/a"], want: [] },
    {
      name: "an owner that waits gets what it shows to have",
      claims: ["Node/a/x", "Node/b/x"],
      waiting: ["Node/a", "Node/b"],
      showing: ["Node/a"],
      want: ["assign 10.0.0.1 Node/a/x"],
    },
    {
      name: "a claim that is refused gets nothing, nor what goes with it; the owner keeps what it has",
      record: ["10.0.0.2 Node/a/z"],
      claims: ["Node/a/x", "Node/a/y", "Node/a/z", "Node/b/x"],
      refused: ["Node/a/x"],
      want: ["assign 10.0.0.1 Node/b/x", "keep 10.0.0.2 Node/a/z"],
      pending: ["in-use Node/a/x"],
    },
    {
      name: "an owner that waits keeps what it has",
      record: ["10.0.0.2 Node/a/x"],
      claims: ["Node/a/x", "Node/a/y"],
      waiting: ["Node/a"],
      want: ["keep 10.0.0.2 Node/a/x"],
    },
    {
      name: "an owner that waits is no reason to withhold from others",
      claims: ["Node/a/x", "Node/b/x"],
      waiting: ["Node/a"],
      want: ["assign 10.0.0.1 Node/b/x"],
    },
    {
      name: "all new claims of an owner or none: what it does not get goes to others",
      record: ["10.0.1.1 Node/z/y pool=q"],
      claims: ["Node/a/x", "Node/a/y pool=q", "Node/b/x", "Node/z/y pool=q"],
      want: ["assign 10.0.0.1 Node/b/x", "keep 10.0.1.1 Node/z/y pool=q"],
      pending: ["exhausted Node/a/y"],
    },
    {
      name: "what one integration does not get for an owner keeps nothing from another one",
      record: ["10.0.1.1 Node/z/y pool=q"],
      claims: ["Node/a/x", "Node/a/y pool=q", "Node/z/y pool=q"],
      isApart: true,
      want: ["assign 10.0.0.1 Node/a/x", "keep 10.0.1.1 Node/z/y pool=q"],
      pending: ["exhausted Node/a/y"],
    },
    {
      name: "an old claim of an owner that gets nothing new is kept",
      record: ["10.0.0.3 Node/a/w", "10.0.1.1 Node/z/y pool=q"],
      claims: ["Node/a/w", "Node/a/x", "Node/a/y pool=q", "Node/z/y pool=q"],
      want: ["keep 10.0.0.3 Node/a/w", "keep 10.0.1.1 Node/z/y pool=q"],
      pending: ["exhausted Node/a/y"],
    },
    {
      name: "a claim that gets nothing says so",
      claims: ["Node/a/x", "Node/b/x", "Node/c/x", "Node/d/x"],
      want: ["assign 10.0.0.1 Node/a/x", "assign 10.0.0.2 Node/b/x", "assign 10.0.0.3 Node/c/x"],
      pending: ["exhausted Node/d/x"],
    },
    {
      name: "a claim that no record can hold gets nothing, and keeps nothing from others",
      claims: ["Node/a/x if=eth1\u200b", "Node/a/y", "Node/b/x"],
      want: ["assign 10.0.0.1 Node/a/y", "assign 10.0.0.2 Node/b/x"],
      pending: ["invalid Node/a/x"],
    },
    {
      name: "a claim in conflict keeps what it has, and gets nothing new",
      record: ["10.0.0.3 Node/a/w"],
      claims: ["Node/a/w", "Node/a/x", "Node/a/y"],
      conflicting: ["Node/a/w", "Node/a/x"],
      want: ["assign 10.0.0.1 Node/a/y", "keep 10.0.0.3 Node/a/w"],
      pending: ["invalid Node/a/w", "invalid Node/a/x"],
    },
    {
      name: "a claim that is refused, and in conflict, says the first reason alone",
      claims: ["Node/a/x"],
      refused: ["Node/a/x", "Node/a/x"],
      conflicting: ["Node/a/x"],
      want: [],
      pending: ["in-use Node/a/x"],
    },
    {
      name: "a live line without a claim is releasing",
      record: ["10.0.0.2 Node/a/x"],
      want: ["releasing 10.0.0.2 Node/a/x"],
    },
    { name: "a live line that is held stays", record: ["10.0.0.2 Node/a/x"], held: ["Node/a/x"], want: [] },
    {
      name: "a new claim on another NIC than a line that is held gets an address beside that",
      record: ["10.0.0.2 Node/a/x if=eth1"],
      claims: ["Node/a/y if=eth2"],
      held: ["Node/a/x"],
      want: ["assign 10.0.0.1 Node/a/y if=eth2"],
    },
    {
      name: "a new claim on the NIC of a line that is held waits",
      record: ["10.0.0.2 Node/a/x if=eth1"],
      claims: ["Node/a/y if=eth1"],
      held: ["Node/a/x"],
      want: [],
      pending: ["in-use Node/a/y"],
    },
    { name: "a releasing line stays without evidence", record: ["10.0.0.2 Node/a/x releasing"], want: [] },
    {
      name: "a releasing line that is known to be off is free",
      record: ["10.0.0.2 Node/a/x releasing"],
      gone: ["10.0.0.2"],
      want: ["free 10.0.0.2 Node/a/x"],
    },
    {
      name: "a releasing line that is claimed again is live, whatever the evidence",
      record: ["10.0.0.2 Node/a/x releasing"],
      claims: ["Node/a/x"],
      gone: ["10.0.0.2"],
      want: ["keep 10.0.0.2 Node/a/x, was 10.0.0.2 Node/a/x"],
    },
    {
      name: "what is freed goes to nobody in the same plan",
      record: ["10.0.0.1 Node/a/x releasing", "10.0.0.2 Node/b/x", "10.0.0.3 Node/c/x"],
      claims: ["Node/b/x", "Node/c/x", "Node/d/x"],
      gone: ["10.0.0.1"],
      want: ["free 10.0.0.1 Node/a/x", "keep 10.0.0.2 Node/b/x", "keep 10.0.0.3 Node/c/x"],
      pending: ["exhausted Node/d/x"],
    },
  ];
  it.each(cases)(
    "$name",
    ({
      record = [],
      claims = [],
      isApart,
      waiting = [],
      showing = [],
      refused = [],
      conflicting = [],
      held = [],
      gone = [],
      want,
      pending = [],
    }) => {
      const snapshot = recordOf(record, pools);
      const asked = claims.map(claimOf);
      const lines = [...snapshot.allocations, ...snapshot.releasing];
      const owners = new Set([...claims, ...lines.map(({ claim }) => claim)].map(ownerOfKey));
      const question = {
        pools,
        claims: asked,
        owners,
        set: "default",
        isWaiting: ({ owner }: Claim) => waiting.includes(formatOwner(owner)) && !showing.includes(formatOwner(owner)),
        refused: refused.map((claim) => ({ claim, pool: "p", code: "in-use" as const, message: "" })),
        isObserved: ({ owner }: Claim) => showing.includes(formatOwner(owner)),
        conflicting: new Map(conflicting.map((claim) => [claim, { message: "refused" }])),
        shareOf: isApart ? (claim: string) => claim : ownerOfKey,
        isHeld: ({ claim }: { readonly claim: string }) => held.includes(claim),
        gone: snapshot.releasing.filter((line) => gone.includes(formatBlock(line))),
      };
      const decision = decide(question, snapshot);
      expect(shown({ ...decision.plan, pending: [] })).toEqual([...want].sort());
      expect(decision.pending.map(({ code, claim }) => `${code} ${claim}`)).toEqual(pending);
    },
  );
});
