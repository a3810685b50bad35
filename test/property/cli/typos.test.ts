import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { type Address, formatAddress, ownerOfKey, type Snapshot } from "../../../core/index.ts";
import { decode } from "../../../state/codec.ts";
import { tries } from "../../support/long.ts";
import { cli, folderOf, writeFiles } from "../../support/schema/cli.ts";
import { nicPolicyText, poolText } from "../../support/schema/text.ts";
import { seeded } from "../../support/seeded.ts";

// Whoever has had an address has no other one on that NIC, and nobody else has it, whatever is mistyped in between, where plan,
// allocate, render and audit all end with 0 and nobody says --confirm.

const racks = ["a", "b", "c"] as const;
type Rack = (typeof racks)[number];

/** A folder as its owner has it in mind. */
class Fleet {
  readonly nodes: { readonly name: string; readonly rack: Rack }[] = [];
  readonly poolOf: Record<Rack, string> = { a: "p", b: "p", c: "q" };
  private joined = 0;
  private readonly orders: readonly string[];
  private readonly random: () => number;

  constructor(random: () => number) {
    this.random = random;
    this.orders = ["p", "q"].map(() => this.pick(["Lowest", "Hashed", "Next"]));
    for (const rack of racks) for (let i = 1 + this.below(6); i > 0; i--) this.join(rack);
  }
  below = (n: number) => Math.floor(this.random() * n);
  pick = <T>(all: readonly T[]): T => all[this.below(all.length)] as T;

  join(rack: Rack = this.pick(racks)): void {
    this.nodes.push({ name: `node${String(++this.joined).padStart(2, "0")}`, rack });
  }
  /** Nodes come and go. */
  change(): void {
    if (this.random() < 0.5) this.join();
    else if (this.nodes.length > 4) this.nodes.splice(this.below(this.nodes.length), 1);
  }

  files(): Record<string, string> {
    const label = ({ name, rack }: Fleet["nodes"][number]) => `${name} kubernetes.io/hostname=${name},rack=${rack}\n`;
    const specOf = (i: number) => `  range: {cidr: 10.${i}.0.0/24}\n  allocationOrder: ${this.orders[i]}`;
    return {
      ...Object.fromEntries(["p", "q"].map((name, i) => [`manifests/pool-${name}.yaml`, poolText(specOf(i), name)])),
      ...Object.fromEntries(
        racks.map((rack) => [
          `manifests/rack-${rack}.yaml`,
          nicPolicyText(`rack-${rack}`, [this.poolOf[rack]], "eth1", `  nodeSelector: {rack: ${rack}}\n`),
        ]),
      ),
      "nodes.txt": this.nodes.map(label).join(""),
    };
  }
}

/** One letter of a word is another one, is missing, or stands there twice. */
function mistyped(fleet: Fleet, word: string): string {
  const at = fleet.below(word.length);
  const letter = fleet.pick([..."abcdeno012l-", "", word[at] as string, `${word[at]}${word[at]}`]);
  return word.slice(0, at) + letter + word.slice(at + 1);
}

/** Mistypes the files of a day; returns what all commands are told to read, where it is not the usual. */
type Slip = (fleet: Fleet, files: Record<string, string>) => string | undefined;

/** In a file, a word of it. */
const inFile =
  (file: (fleet: Fleet) => string, word: RegExp): Slip =>
  (fleet, files) => {
    const name = file(fleet);
    files[name] = (files[name] ?? "").replace(word, (_, before, found) => before + mistyped(fleet, found));
    return undefined;
  };
const aPolicy = (fleet: Fleet) => `manifests/rack-${fleet.pick(racks)}.yaml`;
const aPool = (fleet: Fleet) => `manifests/pool-${fleet.pick(["p", "q"])}.yaml`;

const slips: Readonly<Record<string, Slip>> = {
  "a value of a selector": inFile(aPolicy, /(nodeSelector: \{rack: )(\w+)/),
  "a key of a selector": inFile(aPolicy, /(nodeSelector: \{)(rack)/),
  "a pool of a policy": inFile(aPolicy, /(ippool\.)(\w+)/),
  "the name of a policy": inFile(aPolicy, /(metadata: \{name: )([\w-]+)/),
  "the name of a pool": inFile(aPool, /(metadata: \{name: )(\w+)/),
  "the subnet of a pool": inFile(aPool, /(cidr: )([\d.]+)/),
  "the name of a node": inFile(() => "nodes.txt", /(\n)(node)/),
  "a label of nodes": (fleet, files) => {
    const rack = fleet.pick(racks);
    files["nodes.txt"] = (files["nodes.txt"] ?? "").replaceAll(`rack=${rack}\n`, `rack=${mistyped(fleet, rack)}\n`);
    return undefined;
  },
  "the owner of a reservation": (fleet, files) => {
    const owner = `Node/${mistyped(fleet, fleet.pick(fleet.nodes).name)}`;
    const reservations = `\n  reservations: [{address: 10.0.0.${fleet.below(220) + 1}, owner: ${owner}}]\n`;
    files["manifests/pool-p.yaml"] = (files["manifests/pool-p.yaml"] ?? "").trimEnd() + reservations;
    return undefined;
  },
  "a list of nodes that ends early": (fleet, files) => {
    const lines = (files["nodes.txt"] ?? "").split("\n");
    files["nodes.txt"] = lines.slice(0, fleet.below(lines.length)).join("\n");
    return undefined;
  },
  "nodes for manifests": () => "nodes.txt",
  "rendered files for manifests": () => "rendered",
  "another folder": (_, files) => {
    files["docs/read.me"] = "";
    return "docs";
  },
};

/** What plan, allocate, render and audit end with. */
async function day(folder: string, where: string | undefined): Promise<readonly number[]> {
  const read = where === undefined ? [] : [where];
  const ended: number[] = [];
  for (const words of [
    ["plan", ...read],
    ["allocate", ...read],
    ["render", ...read, "--out", "rendered"],
    ["audit", "rendered"],
  ])
    ended.push((await cli(words, folder)).status);
  return ended;
}

/** Who has had which address on which NIC since the history began. */
class Memory {
  private readonly addressOf = new Map<string, Address>();
  private readonly holderOf = new Map<Address, string>();

  /** Returns what a record says otherwise. */
  wrongIn({ allocations }: Snapshot): string[] {
    return allocations.flatMap(({ address, claim, interface: nic }) => {
      const holder = `${ownerOfKey(claim)} ${nic}`;
      const [had, before] = [this.addressOf.get(holder) ?? address, this.holderOf.get(address) ?? holder];
      this.addressOf.set(holder, address);
      this.holderOf.set(address, holder);
      return [
        ...(had === address ? [] : [`${holder} had ${formatAddress(had)}, and has ${formatAddress(address)}`]),
        ...(before === holder ? [] : [`${before} had ${formatAddress(address)}, and ${holder} has it`]),
      ];
    });
  }
}

it("whoever has an address keeps it through random days, every other one with a slip", async () => {
  const found: string[] = [];
  const days = new Map<string, number>();
  for (let seed = 1; seed <= tries(8, 10_000); seed++) {
    const fleet = new Fleet(seeded(seed));
    const [folder, memory] = [folderOf({}), new Memory()];
    for (let step = 0; step < 6; step++) {
      const files = fleet.files();
      const slip = step % 2 === 0 ? "none" : fleet.pick(Object.keys(slips));
      const where = slips[slip]?.(fleet, files);
      writeFiles(folder, files);
      const isFine = (await day(folder, where)).every((status) => status === 0);
      const line = `${slip}: ${isFine ? "fine" : "stopped"}`;
      days.set(line, (days.get(line) ?? 0) + 1);
      if (isFine) {
        const record = decode(readFileSync(join(folder, "nodeippool.lock"), "utf8"), "nodeippool.lock");
        found.push(...memory.wrongIn(record).map((what) => `seed ${seed}, day ${step}, ${slip}: ${what}`));
      }
      fleet.change();
    }
    rmSync(folder, { recursive: true });
  }
  expect(found).toEqual([]);
  if (process.env.NODEIPPOOL_LONG !== undefined)
    console.log(
      [...days]
        .sort()
        .map((one) => one.join(" "))
        .join("\n"),
    );
}, 86_400_000);
