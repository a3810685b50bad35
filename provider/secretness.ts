import * as pulumi from "@pulumi/pulumi";
import { isText } from "./refuse.ts";
import { entriesOf, type Previous, type SetState, statesOf } from "./set-state.ts";

/** A claim on its way to the provider, and what of it may be secret. */
interface Claims {
  readonly key: string;
  readonly pool: string;
  readonly owner?: pulumi.Input<string>;
  readonly address?: pulumi.Input<string>;
}

/**
 * What a provider answers is secret where an input of the same name was. These carry that over from the claims, and from
 * what the stack has of claims that were. Of an unknown output preview does not know that it is a secret, and the update is
 * to answer alike: owners that are outputs are all taken for secrets.
 */
export function secretness(
  pools: object,
  claims: readonly Claims[] | pulumi.Output<Claims[]>,
  previous: pulumi.Output<Previous>,
) {
  const before = (isSecret: (state: SetState) => boolean) =>
    previous.apply((held) => (statesOf(held).some(isSecret) ? pulumi.secret("") : ""));
  const entries = ({ secretAddresses = {} }: SetState) => entriesOf(secretAddresses);
  const late = pulumi.Output.isInstance(claims) ? claims : undefined;
  const listed = late === undefined ? (claims as readonly Claims[]) : [];
  // Plain ones are left out: thousands of them would be as many outputs.
  const outputs = (field: "owner" | "address") =>
    listed.map((claim) => claim[field]).filter((value) => value !== undefined && !isText(value));
  const blank = (...of: unknown[]) => pulumi.all(of).apply(() => "");
  const plain = new Set(listed.filter(({ address }) => isText(address)).map(textOfClaim));
  const hadSome = before((state) => state.secret === true || entries(state).length > 0);
  const hadHere = before((state) =>
    entries(state).some(({ pool, claim }) => pool in pools && !plain.has(textOfClaim({ pool, key: claim }))),
  );
  const owners = outputs("owner");
  return {
    addresses: blank(hadHere, late, ...outputs("address")),
    secretAddresses: pulumi.secret(""),
    owners: owners.length > 0 ? pulumi.secret("") : blank(late),
    releasing: blank(hadSome, late),
    secret: pulumi.isSecret(blank(late, ...owners)),
  };
}

function textOfClaim({ pool, key }: Pick<Claims, "pool" | "key">): string {
  return `${pool} ${key}`;
}
