import { PulumiProject } from "../test/support/pulumi/engine.ts";
import { figures, type Result } from "./measure.ts";

const addresses = 5_000;
const singles = 200;

const programs = {
  empty: "",
  set: setOf(addresses),
  none: setOf(0),
  singles: `for (let i = 0; i < ${singles}; i++)
    new AllocationSet("s" + i, { pools: { ["p" + i]: { range: { cidr: "10." + i + ".0.0/24" } } },
      claims: [{ owner: { kind: "Node", name: "n" }, name: "eth1", pool: "p" + i }] });`,
};

/** Keys of 11 characters. */
function setOf(count: number): string {
  return `new AllocationSet("ips", { pools: { lan: { range: { cidr: "10.0.0.0/16" } } },
    claims: Array.from({ length: ${count} }, (_, i) => (
      { owner: { kind: "VM", name: "n" + String(i).padStart(4, "0") }, name: "e0", pool: "lan" })) });`;
}

/** Milliseconds of each command on a new stack, and the size of the state in the end. */
async function life(program: string) {
  const project = await PulumiProject.create(program);
  const timed = async (...args: string[]) => {
    const start = performance.now();
    await project.ok(...args);
    return performance.now() - start;
  };
  try {
    const preview = await timed("preview");
    const up = await timed("up", "--yes", "--skip-preview");
    const noop = await timed("up", "--yes", "--skip-preview");
    return { preview, up, noop, bytes: project.checkpoint().length };
  } finally {
    project.remove();
  }
}

/** One set of many addresses, and many resources of one, by the real engine; what is over an empty program. */
export async function run(short: boolean): Promise<Result[]> {
  const rounds = short ? 1 : 3;
  const taken = { empty: [] as Life[], set: [] as Life[], none: [] as Life[], singles: [] as Life[] };
  if (!short) await life(programs.empty); // for the file cache
  for (let round = 0; round < rounds; round++)
    for (const name of ["empty", "set", "singles", ...(round === 0 ? (["none"] as const) : [])] as const)
      taken[name].push(await life(programs[name]));
  const over = (name: "set" | "singles", verb: "preview" | "up" | "noop") =>
    taken[name].map((times, round) => times[verb] - (taken.empty[round] as Life)[verb]);
  const [extrapolated, ours] = [over("singles", "up").map((ms) => (ms / singles) * addresses), over("set", "up")];
  const each = ((taken.set[0] as Life).bytes - (taken.none[0] as Life).bytes) / addresses;
  const title = `${addresses.toLocaleString("en")} addresses in one set, over an empty program`;
  const times = (["preview", "up", "noop"] as const).map(
    (verb): Result => ({
      name: `${verb === "noop" ? "up that changes nothing" : verb}: ${title}`,
      ...figures(over("set", verb)),
      unit: "ms",
      goal: 3_000,
      ...(verb === "up"
        ? {
            ratios: [
              {
                to: `resources of one address (${singles} measured)`,
                value: figures(ours).figure / figures(extrapolated).figure,
              },
            ],
          }
        : {}),
    }),
  );
  return [
    { name: "up of an empty program", ...figures(taken.empty.map(({ up }) => up)), unit: "ms" },
    ...times,
    { name: "state for each address, with a key of 11 letters", ...figures([each]), unit: "bytes", goal: 70 },
  ];
}

type Life = Awaited<ReturnType<typeof life>>;
