import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { decode } from "../../state/codec.ts";
import { tries } from "../support/long.ts";
import { PulumiProject, setText, short } from "../support/pulumi/engine.ts";
import { broken, entered } from "../support/pulumi/random.ts";
import { duplicates } from "../support/state/record.ts";
import { BUILD_TIMEOUT } from "../support/tools/tools.ts";

const kills = tries(3, 50);
const rounds = tries(2, 50);
const seed = tries(7, Date.now() % 1e6);

const lock = 'allowMove: true, confirmRelease: true, state: { backend: "lockfile", path: "nodeippool.lock" }';
const nodesArb = fc.subarray(["a", "b", "c", "d", "e", "f", "g", "h"], { minLength: 1 });

/** The programs of a test, each with a moment in the life of a command, as a share of how long one takes: all over it. */
function trials(): [nodes: string[], moment: number][] {
  const drawn = fc.sample(fc.tuple(nodesArb, fc.nat({ max: 999 })), { numRuns: kills, seed });
  return drawn.map(([nodes, thousandths], i) => [nodes, (i + thousandths / 1000) / kills]);
}

/** Of an update: the first one, at least, is killed in its middle. */
const inUpdate = (moment: number) => (moment < 1 / kills ? "locked" : moment);

describe("updates that are killed, with all their process group, and recovered as the documentation says", () => {
  let project: PulumiProject;
  /** Milliseconds that the last update took. */
  let usual = 0;
  beforeAll(async () => {
    project = await PulumiProject.create(setText([]));
    await recovered();
  }, BUILD_TIMEOUT);
  afterAll(() => project?.remove());

  /** `moment`: "locked" is as soon as it holds the stack. */
  async function killed(moment: number | "locked", file: string, ...args: string[]): Promise<void> {
    const start = Date.now();
    const { pid, ended } = project.start(file, ...args);
    let isOver = false;
    const over = ended.then(() => {
      isOver = true;
    });
    const isNow = () => (moment === "locked" ? project.isLocked() : Date.now() - start >= moment * usual);
    while (!isOver && !isNow()) await sleep(10);
    try {
      process.kill(-pid, "SIGKILL");
    } catch {
      // It has ended.
    }
    await over;
  }

  async function recovered(): Promise<void> {
    const { text } = await project.run("cancel", "--yes");
    if (text.includes("failed to load checkpoint: EOF")) {
      project.removeEmptyMetadata();
      await project.run("cancel", "--yes");
    }
    const start = Date.now();
    await project.up();
    usual = Date.now() - start;
  }

  const ledger = () =>
    entered({}, [{ name: "ips", pools: { lan: { range: { cidr: "10.0.0.0/24" } } } }], project.sets());

  const live = (claims: Readonly<Record<string, unknown>> | undefined) =>
    Object.keys((claims as { lan?: object } | undefined)?.lan ?? {}).map((key) => key.split("/")[1]);

  it("are read again when what the engine writes is not whole yet, and as the page says where it is never to be", async () => {
    const attrs = JSON.stringify(join(project.folder, "state/.pulumi/stacks/test/dev.json.attrs"));
    const emptied = (then: string) => `
      import { readFileSync, writeFileSync } from "node:fs";
      const whole = readFileSync(${attrs});
      writeFileSync(${attrs}, "");
      ${then}
      ${setText(["a"])}`;
    project.program(setText(["a"]));
    await project.up();
    project.program(emptied(`setTimeout(() => writeFileSync(${attrs}, whole), 300);`));
    await project.ok("preview", "--expect-no-changes");
    project.program(emptied(""));
    expect((await project.run("preview")).text).toContain("failed to load checkpoint: EOF");
    expect((await project.run("cancel", "--yes")).text).toContain("failed to load checkpoint: EOF");
    project.program(setText(["a"]));
    project.removeEmptyMetadata();
    await project.ok("preview", "--expect-no-changes");
  }, 60_000);

  it(
    `${kills} of a record in the stack: none twice, none lost, none moved`,
    async () => {
      const figures = { kills: 0, locked: 0, held: 0 };
      for (const [nodes, moment] of trials()) {
        const [before, was] = [project.sets(), ledger()];
        project.program(setText(nodes, { rest: "confirmRelease: true" }));
        await killed(inUpdate(moment), "pulumi", "up", "--yes", "--skip-preview", "--non-interactive");
        figures.kills++;
        if (project.isLocked()) figures.locked++;
        await recovered();
        const after = project.sets();
        const place = `seed ${seed}, kill ${figures.kills}: ${short(before.ips?.addresses)} -> ${nodes}`;
        expect(broken(was, ledger(), []), place).toBeUndefined();
        expect(live(after.ips?.addresses), place).toEqual(nodes);
        const had = new Set([...live(before.ips?.addresses), ...live(before.ips?.releasing)]);
        expect(live(after.ips?.releasing), place).toEqual(
          [...had].filter((node) => !nodes.includes(node as string)).sort(),
        );
        figures.held += nodes.length;
        project.killOrphans();
      }
      console.log(`kill, stack: ${JSON.stringify(figures)}`);
      expect(figures.locked, "kills in the middle of an update").toBeGreaterThan(0);
    },
    kills * 60_000,
  );

  it(
    `${kills} of a record in a lockfile, and as many of the command that records it`,
    async () => {
      const allocate = ["allocate", "--confirm", "--", "pulumi", "preview", "--non-interactive"];
      await project.ok("destroy", "--yes", "--skip-preview");
      const record = () => decode(project.read("nodeippool.lock"), "nodeippool.lock");
      project.program(setText(["a"], { rest: lock }));
      await project.start("nodeippool", ...allocate).ended;
      const figures = { kills: 0, locked: 0 };
      for (const [i, [nodes, moment]] of trials().entries()) {
        const was = record();
        const before = [...was.allocations, ...was.releasing];
        project.program(setText(nodes, { rest: lock }));
        await killed(moment, "nodeippool", ...allocate);
        expect((await project.start("nodeippool", ...allocate).ended).status).toBe(0);
        await killed(inUpdate(moment), "pulumi", "up", "--yes", "--skip-preview", "--non-interactive");
        figures.kills += 2;
        if (project.isLocked()) figures.locked++;
        await recovered();
        const { allocations, releasing } = record();
        const place = `seed ${seed}, kill ${i + 1}`;
        expect(duplicates(record()), place).toEqual([]);
        expect(allocations.map(({ claim }) => claim.split("/")[1]).sort(), place).toEqual(nodes);
        const after = [...allocations, ...releasing];
        for (const { claim, address } of before)
          expect(after.find((line) => line.claim === claim)?.address, `${place}: ${claim}`).toBe(address);
        expect(live(project.sets().ips?.addresses), place).toEqual(nodes);
        project.killOrphans();
      }
      console.log(`kill, lockfile: ${JSON.stringify(figures)}`);
      expect(figures.locked, "kills in the middle of an update").toBeGreaterThan(0);
    },
    kills * 120_000,
  );
});

describe("two programs that are recorded in one lockfile at the same time", () => {
  let projects: PulumiProject[] = [];
  beforeAll(async () => {
    projects = [await PulumiProject.create(""), await PulumiProject.create("")];
  }, BUILD_TIMEOUT);
  afterAll(() => {
    for (const project of projects) project.remove();
  });

  it(
    `${rounds} times: each gets what it showed, or a conflict and nothing`,
    async () => {
      const path = join(projects[0]?.folder as string, "shared.lock");
      const figures = { won: 0, lost: 0 };
      for (let round = 0; round < rounds; round++) {
        const runs = projects.map(async (project, i) => {
          const nodes = Array.from({ length: round + 1 }, (_, n) => `${"ab"[i]}${n}`);
          const state = `state: { backend: "lockfile", path: ${JSON.stringify(path)} }, set: "${"ab"[i]}"`;
          project.program(setText(nodes, { rest: state }));
          const allocate = ["allocate", "--lock", path, "--", "pulumi", "preview", "--diff", "--non-interactive"];
          const { status, text } = await project.start("nodeippool", ...allocate).ended;
          return { status, text, own: nodes.at(-1) as string };
        });
        const outcomes = await Promise.all(runs);
        const record = decode(readFileSync(path, "utf8"), path);
        expect(duplicates(record)).toEqual([]);
        const said = outcomes.map(({ status, text }) => `exit ${status}:\n${text}`).join("\n");
        expect(
          outcomes.some(({ status }) => status === 0),
          said,
        ).toBe(true);
        for (const { status, text, own } of outcomes) {
          const line = record.allocations.find(({ claim }) => claim === `Node/${own}/eth1`);
          // Not that nothing was written: who comes while the other one writes may have to finish that for it.
          if (status !== 0) expect(text).toContain("changed since this plan was made");
          figures[status === 0 ? "won" : "lost"]++;
          expect(line !== undefined, said).toBe(status === 0);
          if (line !== undefined) expect(text).toContain(`Node/${own}/eth1: "10.0.0.${line.address & 255n}"`);
        }
      }
      console.log(`race, lockfile: ${JSON.stringify(figures)} in ${rounds} rounds`);
    },
    rounds * 120_000,
  );
});
