import type { Issue, Parsed } from "../core/index.ts";
import { didYouMean } from "../schema/nearest.ts";
import { type Path, splitDocuments, YamlDocument } from "../schema/yaml.ts";
import { type Config, places } from "./config.ts";
import { configName } from "./files.ts";

const backends = ["lockfile", "kubernetes"];

/** Parses the text of a `nodeippool.yaml`. Every issue has its place. */
export function parseConfig(text: string): Parsed<Config> {
  const [chunk, ...more] = splitDocuments({ path: configName, text });
  if (chunk === undefined) return { value: {} };
  const yaml = new YamlDocument(chunk);
  const issues: Issue[] = [...yaml.errors, ...yaml.traps];
  if (more.length > 0) issues.push({ message: `${configName} must be one YAML document`, at: yaml.at([]) });
  if (issues.length > 0) return { issues };
  const entries = entriesOf(yaml.value, []);
  const wrong = entries.flatMap(({ path, value }) => {
    const found = issueOf(path, value);
    return found === undefined ? [] : { ...found, at: yaml.at(path, found.part) };
  });
  if (wrong.length > 0) return { issues: wrong.map(({ message, at }) => ({ message, at })) };
  return { value: Object.fromEntries(entries.map(({ path, value }) => [path.at(-1), value])) };
}

interface Entry {
  readonly path: Path;
  readonly value: unknown;
}

/** Every value that is no mapping, and where it stands. */
function entriesOf(value: unknown, path: Path): Entry[] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [{ path, value }];
  return Object.entries(value).flatMap(([key, inner]) => entriesOf(inner, [...path, key]));
}

function issueOf(path: Path, value: unknown): { message: string; part: "key" | "value" } | undefined {
  const known = knownIn(path.slice(0, -1));
  const key = `${path.at(-1)}`;
  if (knownIn(path).length > 0) return { message: `expected ${knownIn(path).join(", ")}`, part: "value" };
  if (!known.includes(key)) return { message: `unknown key ${key}${didYouMean(key, known)}`, part: "key" };
  if (typeof value !== "string" || value === "") return { message: `${key} must be a non-empty string`, part: "value" };
  if (key !== "backend" || backends.includes(value)) return undefined;
  return { message: `unknown backend ${value}${didYouMean(value, backends)}`, part: "value" };
}

/** The keys of a mapping; none where there is to be no mapping. */
function knownIn(path: Path): string[] {
  const inside = Object.values(places).filter((place: Path) => path.every((key, i) => place[i] === key));
  return [...new Set(inside.flatMap((place: Path) => place.slice(path.length, path.length + 1).map(String)))];
}
