import { advised, formatIssue, type IpamError, type Remedy } from "../core/index.ts";

/** What an app, or the command line beside it, has for a remedy. */
function remedyText([what, ...words]: Remedy): string {
  switch (what) {
    case "rename":
      return `nodeippool mv ${words.join(" ")}, or allowMove: true in AddressPlan.configure`;
    case "allow-move":
      return "allowMove: true in AddressPlan.configure";
    case "explain":
      return `nodeippool explain ${words.join(" ")}`;
    case "release":
      return "nodeippool release";
    case "show":
      return "nodeippool show";
    case "merge":
    case "merge-landed":
      return "nodeippool merge";
    case "set":
      return "set: NAME in AddressPlan.configure";
  }
}

/** All that an error says, each hint with what it means in an app. */
export function adviceOf({ issues }: IpamError): string {
  return issues.map((issue) => formatIssue(advised(issue, remedyText))).join("\n");
}
