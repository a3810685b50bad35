import { expect, it } from "vitest";
import { tries } from "../support/long.ts";
import { PulumiProject } from "../support/pulumi/engine.ts";
import { Monitor } from "../support/pulumi/monitor.ts";
import { previewIsUp } from "../support/pulumi/previews.ts";
import { ProviderHost } from "../support/pulumi/provider.ts";
import { broken, entered, type Ledger, setsOf, stepsOf } from "../support/pulumi/random.ts";
import { BUILD_TIMEOUT } from "../support/tools/tools.ts";

const [many, few] = [tries(60, 1_000), tries(3, 25)];
const seed = tries(5, Date.now() % 1e6);
/** Of the engine, which takes seconds for each program, also for one that it refuses: of this seed that is one in four. */
const seedOfEngine = tries(12, seed);

// The bulk runs against the stand-in for the engine, with the real program, serialisation, host and provider.
it(`${many} random programs without the engine: what preview shows is what up does`, async () => {
  const host = await ProviderHost.start();
  const monitor = await Monitor.start(host);
  try {
    const figures = await previewIsUp(monitor, many, seed);
    console.log(`preview = up, without the engine: ${JSON.stringify(figures)}, seed ${seed}`);
    expect(figures).toMatchObject({ applied: many });
  } finally {
    await monitor.stop();
    await host.stop();
  }
}, 1_800_000);

// Each of these is a preview and an update of the real engine, which holds the one against the other.
it(
  `${few} random programs on the engine: up --strict does what its preview showed`,
  async () => {
    const project = await PulumiProject.create("");
    const figures = { applied: 0, refused: 0 };
    let ledger: Ledger = {};
    try {
      for (const step of stepsOf(seedOfEngine)) {
        if (figures.applied === few) break;
        const sets = setsOf(step);
        project.program(`const sets = ${JSON.stringify(sets)};
          export const addresses = sets.map(({ name, ...args }) => new AllocationSet(name, args).addresses);`);
        const before = project.sets();
        const { status, text } = await project.run("up", "--yes", "--strict");
        if (status === 0) {
          const next = entered(ledger, sets, project.sets());
          expect(broken(ledger, next, step.release), `seed ${seedOfEngine}`).toBeUndefined();
          ledger = next;
        } else {
          // A program that asks for what it cannot have is refused, and in the preview.
          expect(text, `seed ${seedOfEngine}`).toMatch(/has a problem: (in-use|exhausted|out-of-range):/);
          expect(text, `seed ${seedOfEngine}`).not.toContain("Updating (dev)");
          expect(project.sets(), `seed ${seedOfEngine}`).toEqual(before);
        }
        figures[status === 0 ? "applied" : "refused"]++;
      }
      console.log(`preview = up, on the engine: ${JSON.stringify(figures)}, seed ${seedOfEngine}`);
    } finally {
      project.remove();
    }
  },
  BUILD_TIMEOUT + few * 120_000,
);
