import * as pulumi from "@pulumi/pulumi";
import { isUnitTest } from "./pools-of-program.ts";
import { onlyState, type Previous, type SetState } from "./set-state.ts";

/** Where the SDK files a set. */
export const setType = { module: "nodeippool", name: "AllocationSet" } as const;
const type = `pulumi-nodejs:dynamic/${setType.module}:${setType.name}`;

const asked = new WeakMap<object, Promise<Record<string, SetState>>>();

/** The sets that the last update of this stack left, by URN; asked for once in a run. */
function setsOfStack(): Promise<Record<string, SetState>> {
  const root: object = pulumi.runtime.getStackResource() ?? {};
  const sets = asked.get(root) ?? readSets();
  asked.set(root, sets);
  return sets;
}

async function readSets(): Promise<Record<string, SetState>> {
  if (isUnitTest()) return {};
  return Object.fromEntries(
    Object.entries(await readOutputs())
      .filter(([urn]) => urn.split("::")[2]?.split("$").at(-1) === type)
      .map(([urn, { outputs: state }]) => [urn, onlyState(state)]),
  );
}

/**
 * The engine writes the state while programs read it, on a file backend not in one step: what cannot be read is there
 * some milliseconds later (`setAttrs` of gocloud.dev/blob/fileblob).
 */
async function readOutputs(pause = 20): Promise<Record<string, { outputs: SetState }>> {
  try {
    const { outputs } = await pulumi.runtime.invoke("pulumi:pulumi:readStackResourceOutputs", {
      stackName: stackName(),
    });
    return outputs;
  } catch (error) {
    if (pause > 1000) throw error;
    await new Promise((resolve) => setTimeout(resolve, pause));
    return readOutputs(2 * pause);
  }
}

/**
 * The engine looks for a bare name in the default organization of whoever runs it. Backends that have no organizations
 * say "organization", and the older ones of them know no whole names.
 */
function stackName(): string {
  const [organization, stack] = [pulumi.getOrganization(), pulumi.getStack()];
  return organization === "organization" ? stack : `${organization}/${pulumi.getProject()}/${stack}`;
}

/**
 * What the stack held of a set, and of its other sets. `check` gets old inputs too, but not when a resource is
 * replaced, tainted or renamed; addresses must not move then.
 */
export function previousStates(called: string, parent: pulumi.Resource | undefined): pulumi.Output<Previous> {
  return pulumi.output(previousOf(urnOf(called, parent)));
}

async function previousOf(urn: Promise<string>): Promise<Previous> {
  const { [await urn]: own, ...others } = await setsOfStack();
  return { ...(own === undefined ? {} : { own }), others: Object.values(others) };
}

/** No output: that would depend on the parent, which stands for all of its children, and they for this set. */
function urnOf(called: string, parent: pulumi.Resource | undefined): Promise<string> {
  return new Promise((resolve) => pulumi.createUrn(called, type, parent).apply(resolve));
}
