import { type Allocation, nameOfKey, ownerInPool, ownerName, type Plan, shellWord } from "../../core/index.ts";
import { mvCommand } from "../advice.ts";
import { plural } from "../terminal.ts";

/** A line that keeps its address, and what it was before. */
interface Rewritten {
  readonly now: Allocation;
  readonly was: Allocation;
}

/** Asks whether claims that exchange their NICs have only exchanged their names. `before` says what to do first. */
export function swapQuestions({ keep, set }: Plan, before: () => string): string[] {
  const rewritten = keep.flatMap(({ allocation: now, was }) => (was === undefined ? [] : { now, was }));
  return swapNotes(rewritten, (a, b) => {
    const mv = mvCommand(set);
    const [one, other, between] = [a, b, `${a}-was`].map(shellWord);
    const commands = `${mv} ${one} ${between}; ${mv} ${other} ${one}; ${mv} ${between} ${other}`;
    return `; if only their names were exchanged, ${before()}: ${commands}`;
  });
}

/** Says which claims of one owner on one pool exchange their NICs, and so move their addresses. `more` ends the sentence. */
export function swapNotes(lines: readonly Rewritten[], more: (a: string, b: string) => string): string[] {
  const moved = lines.filter(({ now, was }) => was.claim === now.claim && was.interface !== now.interface);
  const groups = Map.groupBy(moved, ({ now }) => ownerInPool(now));
  const isSwap = (a: Rewritten, b: Rewritten) =>
    a.now.interface === b.was.interface && b.now.interface === a.was.interface;
  const pairs = [...groups.values()].flatMap((group) =>
    group.flatMap((a, i) => group.slice(i + 1).flatMap((b) => (isSwap(a, b) ? [[a, b] as const] : []))),
  );
  const alike = Map.groupBy(pairs, (pair) => pair.map(({ now }) => `${nameOfKey(now.claim)} ${now.interface}`).join());
  return [...alike.values()].flatMap(([pair, ...others]) => {
    if (pair === undefined) return [];
    const [a, b] = pair.map(({ now }) => nameOfKey(now.claim)) as [string, string];
    const nics = pair.map(({ was }) => was.interface).join(" and ");
    const whose = ownerName(pair[0].now.claim) + (others.length === 0 ? "" : ` and ${plural(others.length, "other")}`);
    return `Note: ${a} and ${b} of ${whose} exchange ${nics}, and their addresses go along${more(a, b)}`;
  });
}
