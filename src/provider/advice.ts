import type { IpamCode, Issue, Remedy, RenameRemedy } from "../core/index.ts";
import { advised, formatIssue, renamesOf } from "../core/index.ts";
import type { SetInputs } from "./set-state.ts";

/** What a program has for a remedy. */
function input(remedy: Remedy, backend: SetInputs["state"]["backend"]): string {
  const [what, ...words] = remedy;
  switch (remedy[0]) {
    case "rename":
      return `${movedInput(remedy)}, or allowMove: true`;
    case "allow-move":
      return "allowMove: true";
    case "release":
      return backend === "stack" ? 'release: ["Kind/name"], in an update without this claim' : "nodeippool release";
    case "set":
      return 'set: "NAME"';
    case "moved":
      return words[0] === "file"
        ? 'state: { backend: "lockfile", path }'
        : 'state: { backend: "kubernetes", context, namespace }';
    case "merge":
      return "nodeippool allocate -- pulumi preview";
    case "merge-landed":
      return "nodeippool allocate --landed REV -- pulumi preview (REV: a branch or commit)";
    case "explain":
    case "show":
      return `nodeippool ${[what, ...words].join(" ")}`;
  }
}

/** A claim is declared by its whole key: of a name that nobody has any more, for each owner. */
function movedInput(remedy: RenameRemedy): string {
  const [what, from, to, reach] = remedy;
  const isOfSome = typeof reach !== "string";
  const renames = renamesOf([what, from, to, isOfSome ? reach : ["OWNER"]]);
  const list = renames.map(([old, fresh]) => `{ from: "${old}", to: "${fresh}" }`).join(", ");
  return `moved: [${list}]${isOfSome ? "" : ", for each owner"}`;
}

/**
 * What the engine prints of a mistake: `code: path: message`, and what to do about it. The names of secret claims are
 * struck out.
 */
export function reasonOf(code: IpamCode, issue: Issue, { state, secret, claims }: SetInputs): string {
  const text = formatIssue(advised(issue, (remedy) => input(remedy, state.backend)));
  const place = (issue.path ?? [])
    .map((part, i) => (typeof part === "number" ? `[${part}]` : `${i === 0 ? "" : "."}${part}`))
    .join("");
  const reason = `${code}: ${place === "" ? "" : `${place}: `}${text}`;
  return secret && Array.isArray(claims) ? struck(reason, claims) : reason;
}

function struck(text: string, claims: Exclude<SetInputs["claims"], string>): string {
  const words = claims.flatMap(({ key, owner = "", address = "" }) => {
    const name = (owner === "" ? key : owner).split("/")[1] ?? "";
    return [name, name.split(":").at(-1) as string, key, owner, address];
  });
  const found = [...new Set(words)].filter((word) => word !== "" && text.includes(word));
  return found.sort((a, b) => b.length - a.length).reduce((now, word) => now.replaceAll(word, "[secret]"), text);
}
