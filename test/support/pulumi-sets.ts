import { AllocationSet, type AllocationSetArgs } from "nodeippool/provider";

/** A set as data. */
export interface SetSpec extends AllocationSetArgs {
  readonly name: string;
}

/** A Pulumi program that is nothing but its sets, made in this order. */
export default function program(sets: readonly SetSpec[]) {
  return Object.fromEntries(sets.map(({ name, ...args }) => [name, new AllocationSet(name, args).addresses]));
}
