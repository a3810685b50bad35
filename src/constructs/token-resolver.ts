import { ApiObject, type IResolver, type ResolutionContext } from "cdk8s";
import type { Construct } from "constructs";
import { IpamError } from "../core/index.ts";
import { refuseClaimText } from "./address-claim.ts";
import { type Holders, openToken, replaceTokens, scheme } from "./address-token.ts";

/** Puts addresses in the place of `ippool://` tokens, in values and in keys. */
export class TokenResolver implements IResolver {
  private readonly holders: () => Holders;

  constructor(holders: () => Holders) {
    this.holders = holders;
  }

  resolve(context: ResolutionContext): void {
    const { value } = context;
    if (typeof value === "string") {
      refuseClaimText(value);
      if (value.includes(scheme)) context.replaceValue(replaceTokens(value, this.holders()));
    } else if (typeof value === "object" && value !== null && Object.keys(value).some((key) => key.includes(scheme)))
      context.replaceValue(
        Object.fromEntries(Object.entries(value).map(([key, item]) => [replaceTokens(key, this.holders()), item])),
      );
  }
}

/** Throws `invalid` for tokens of JSON patches: cdk8s applies those to what has been resolved. */
export function refusePatchedTokens(app: Construct): void {
  const issues = app.node.findAll().flatMap((one) => {
    if (!ApiObject.isApiObject(one)) return [];
    // biome-ignore lint/complexity/useLiteralKeys: nothing public tells of patches
    const [token] = one["patches"].length === 0 ? [] : (openToken.exec(textsIn(one["patches"])) ?? []);
    if (token === undefined) return [];
    return {
      message: `${one.node.path}: a JSON patch adds ${token}, and cdk8s looks up no tokens of patches`,
      hint: "Put the token into the object itself.",
    };
  });
  if (issues.length > 0) throw new IpamError("invalid", issues);
}

/** The texts in plain data, a line each. */
function textsIn(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null) return "";
  return Object.values(value).map(textsIn).join("\n");
}
