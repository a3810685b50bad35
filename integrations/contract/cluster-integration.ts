import type { Detection } from "./detection.ts";
import type { Facts } from "./facts.ts";
import type { Integration } from "./integration.ts";
import type { Known } from "./known.ts";
import type { MadeObjects } from "./made-objects.ts";
import type { Recording } from "./recording.ts";
import type { Step } from "./step.ts";

/**
 * An integration that the controller serves. Beside what every surface asks:
 *
 * | part        | question it answers                                                     |
 * | ----------- | ----------------------------------------------------------------------- |
 * | `recording` | whom does a change concern, and which addresses are off their owners    |
 * | `detection` | at which of its addresses does another host answer                      |
 * | `made`      | which objects of others are taken over, and what holds back those made  |
 * | `report`    | what does an object that asks say of how it stands                      |
 */
export interface ClusterIntegration<Model = unknown> extends Integration<Model>, ClusterPart {}

/** The parts of an integration that only the controller uses. */
export interface ClusterPart {
  readonly recording: Recording;
  /** Absent where its owners do not find that out. */
  readonly detection?: Detection;
  /** Absent where it takes over no object, and nothing delays its own. */
  readonly made?: MadeObjects;
  /**
   * The steps by which an object that asks says how it stands. Of those about its spec and status, none is taken after one that must wait.
   * Absent where it says nothing.
   */
  report?(known: Known, facts: Facts): readonly Step[];
}
