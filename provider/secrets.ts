import * as pulumi from "@pulumi/pulumi";
import { isText } from "./refuse.ts";
import type { Previous, SetState } from "./set-state.ts";

/** What of a claim may be an output. */
interface Claims {
  readonly owner?: pulumi.Input<string>;
  readonly address?: pulumi.Input<string>;
}

/**
 * What a provider answers is secret where an input of the same name was. These carry that over from the claims, and from
 * what the stack has of the set's pools: what was secret stays so. Of an unknown output preview does not know that it is
 * a secret, and the update is to answer alike: owners that are outputs are all taken for secrets.
 */
export function secretMarks(
  pools: object,
  claims: readonly Claims[] | pulumi.Output<unknown>,
  previous: pulumi.Output<Previous>,
) {
  const [late, listed] = pulumi.Output.isInstance(claims) ? [claims, []] : [undefined, claims];
  // Plain ones are left out: thousands of them would be as many outputs.
  const outputs = (field: keyof Claims) =>
    listed.map((claim) => claim[field]).filter((value) => value !== undefined && !isText(value));
  const isOurs = ({ addresses, releasing }: SetState) =>
    Object.keys({ ...addresses, ...releasing }).some((pool) => pool in pools);
  const before = previous.apply(({ own, others }) =>
    [own, ...others.filter(isOurs)].some((one) => one?.secret) ? pulumi.secret("") : "",
  );
  const blank = (...of: unknown[]) => pulumi.all(of).apply(() => "");
  const now = [late, ...outputs("address")];
  return {
    addresses: blank(before, ...now),
    releasing: blank(before, ...now),
    owners: outputs("owner").length > 0 ? pulumi.secret("") : blank(late),
    secret: pulumi.isSecret(blank(...now)),
  };
}
