import * as pulumi from "@pulumi/pulumi";
import { AllocationSet, type AllocationSetArgs } from "nodeippool/provider";

/** A set as data. */
export interface SetSpec extends AllocationSetArgs {
  readonly name: string;
  /** The type of a component that it is in. */
  readonly inside?: string;
  readonly opts?: pulumi.CustomResourceOptions;
}

/** A Pulumi program that is nothing but its sets, made in this order. */
export default function program(sets: readonly SetSpec[]) {
  const made = ({ name, inside, opts, ...args }: SetSpec) => {
    const parent = inside === undefined ? {} : { parent: new pulumi.ComponentResource(`test:index:${inside}`, name) };
    return new AllocationSet(name, args, { ...parent, ...opts }).addresses;
  };
  return Object.fromEntries(sets.map((set) => [set.name, made(set)]));
}
