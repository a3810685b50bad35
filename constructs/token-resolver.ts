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
    } else if (typeof value === "object" && value !== null) {
      const keys = Object.keys(value).filter((key) => key.includes("ippool"));
      for (const key of keys) refuseClaimText(key);
      if (!keys.some((key) => key.includes(scheme))) return;
      context.replaceValue(
        Object.fromEntries(Object.entries(value).map(([key, item]) => [replaceTokens(key, this.holders()), item])),
      );
    }
  }
}

/** How many patches of an object have been looked through: cdk8s validates once for each chart. */
const seen = new WeakMap<ApiObject, number>();

/** Throws `invalid` for tokens of JSON patches: cdk8s applies those to what has been resolved. */
export function refusePatchedTokens(app: Construct): void {
  const issues = app.node.findAll().flatMap((one) => {
    if (!ApiObject.isApiObject(one)) return [];
    // biome-ignore lint/complexity/useLiteralKeys: nothing public tells of patches
    const patches: readonly unknown[] = one["patches"];
    if (patches.length === (seen.get(one) ?? 0)) return [];
    const [token] = openToken.exec(textOf(patches)) ?? [];
    if (token === undefined) {
      seen.set(one, patches.length);
      return [];
    }
    return {
      message: `${one.node.path}: a JSON patch adds ${token}, and cdk8s looks up no tokens of patches`,
      hint: "Put the token into the object itself.",
    };
  });
  if (issues.length > 0) throw new IpamError("invalid", issues);
}

/** Paths and values of patches; of what is no JSON, nothing: synthesis itself says why. In a path `~1` is a `/`. */
function textOf(patches: readonly unknown[]): string {
  try {
    return JSON.stringify(patches).replaceAll("~1", "/");
  } catch {
    return "";
  }
}
