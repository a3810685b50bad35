import { shortRename } from "../core/claim.ts";
import { advised, formatIssue, type IpamError, type Remedy } from "../core/index.ts";

/** What an app, or the command line beside it, has for a remedy. */
export function remedyText([what, ...words]: Remedy): string {
  switch (what) {
    case "rename":
      return `nodeippool mv ${shortRename(words).join(" ")}, or allowMove: true in AddressPlan.configure`;
    case "allow-move":
      return "allowMove: true in AddressPlan.configure";
    case "explain":
      return `nodeippool explain ${words.join(" ")}`;
    case "release":
      return "nodeippool release";
    case "show":
      return "nodeippool show";
    case "merge":
      return "nodeippool allocate -- npx cdk8s synth";
    case "merge-landed":
      return "nodeippool allocate --landed REV -- npx cdk8s synth (REV: a branch or commit)";
    case "set":
      return "set: NAME in AddressPlan.configure";
  }
}

/** All that an error says, each hint with what it means in an app. */
export function adviceOf({ issues }: IpamError): string {
  return issues.map((issue) => formatIssue(advised(issue, remedyText))).join("\n");
}
