import * as pulumi from "@pulumi/pulumi";
import { type Previous, type SetState, statesOf } from "./set-state.ts";

/** What of claims may be secret, on its way to the provider. */
interface Claims {
  readonly owner?: pulumi.Input<string>;
  readonly address?: pulumi.Input<string>;
}

/**
 * What a provider answers is secret where an input of the same name was. These carry that over from the claims, and from
 * what the stack has of claims that were. `listed` has those that are known now, and may leave out plain ones: thousands
 * of them would be as many outputs.
 */
export function secretness(
  pools: object,
  claims: pulumi.Input<readonly Claims[]>,
  listed: readonly Claims[] | undefined,
  previous: pulumi.Output<Previous>,
) {
  const all: pulumi.Output<unknown> = pulumi.output(claims);
  const blank = (of: pulumi.Input<unknown>) => pulumi.all([of]).apply(() => "");
  const before = (isSecret: (state: SetState) => boolean) =>
    previous.apply((held) => (statesOf(held).some(isSecret) ? pulumi.secret("") : ""));
  const secretPools = ({ secretAddresses = {} }: SetState) => Object.keys(secretAddresses);
  const hadSome = before((state) => state.secret === true || secretPools(state).length > 0);
  const hadHere = before((state) => secretPools(state).some((pool) => pool in pools));
  const owners = blank(listed?.map(({ owner }) => owner) ?? all);
  return {
    addresses: blank([hadHere, listed?.map(({ address }) => address) ?? all]),
    secretAddresses: pulumi.secret(""),
    owners,
    releasing: blank([hadSome, all]),
    secret: pulumi.isSecret(owners),
  };
}
