import type { IResolver, ResolutionContext } from "cdk8s";
import { refuseClaimText } from "./address-claim.ts";
import { type Holders, replaceTokens, scheme } from "./address-token.ts";

/** Puts addresses in the place of `ippool://` tokens, in values and in keys. */
export class TokenResolver implements IResolver {
  private readonly holders: () => Holders | undefined;

  /** Where nobody is known yet to hold anything, tokens stay. */
  constructor(holders: () => Holders | undefined) {
    this.holders = holders;
  }

  resolve(context: ResolutionContext): void {
    const { value } = context;
    if (typeof value === "string") {
      refuseClaimText(value);
      if (value.includes(scheme)) this.replace(context, (holders) => replaceTokens(value, holders));
    } else if (typeof value === "object" && value !== null) {
      const keys = Object.keys(value).filter((key) => key.includes("ippool"));
      for (const key of keys) refuseClaimText(key);
      if (!keys.some((key) => key.includes(scheme))) return;
      this.replace(context, (holders) =>
        Object.fromEntries(Object.entries(value).map(([key, item]) => [replaceTokens(key, holders), item])),
      );
    }
  }

  private replace(context: ResolutionContext, replaced: (holders: Holders) => unknown): void {
    const holders = this.holders();
    if (holders !== undefined) context.replaceValue(replaced(holders));
  }
}
