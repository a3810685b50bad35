/** The one way from objects to addresses: read, plan, ask the guards, commit, render. Every surface goes it. */

// One foreign system.

export type {
  Aliases,
  Conflict,
  DefinedPool,
  Explanations,
  Facts,
  Format,
  Holdings,
  IdleObject,
  Integration,
  Left,
  PoolSelection,
  ReadObjects,
  Rendered,
  RenderedObject,
  UnsoundPool,
  UseKind,
  UseReader,
} from "../integrations/contract/integration.ts";
export type { Unserved } from "../integrations/contract/unserved.ts";

// Objects in: a folder of manifests, or objects of one's own.

export { type Desired, type Part, readDesired, type Source } from "./desired.ts";
export { readFolder, renderFolder } from "./folder.ts";
export { integrations } from "./integrations.ts";

// A plan, what stands against it, and the commit.

export { firstRefusal, type Guard, guards } from "./guards.ts";
export { type PlanOptions, type Proposal, propose, type ReadDesired } from "./proposal.ts";
export { runOnce } from "./run-once.ts";

// What is used: for `audit`, `planImport` and `provenGone`.

export { readEvidence } from "./evidence.ts";
export { findUses } from "./find-uses.ts";
