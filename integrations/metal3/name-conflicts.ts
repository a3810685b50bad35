import { type Allocation, formatBlock, type Issue, isOfOtherSet, ownerOfKey } from "../../core/index.ts";
import type { Holdings } from "../contract/integration.ts";
import type { ReadObject } from "../contract/read-each.ts";
import { hostPath, type Infra, nameOfObjects, objectName, titleOfHost } from "./infra.ts";

/**
 * Hosts whose objects would have the name of others: `a-b` and `c`, and `a` and `b-c`, give one name. Nobody could tell who has what,
 * or whichever is applied last would win. Of the hosts of one configuration parsing sees to that.
 *
 *  who has addresses under that name | of this claim set            | of another one
 *  ----------------------------------+------------------------------+------------------------------------
 *  the host itself                   | no conflict                  | conflict; not where it is releasing
 *  another host                      | conflict, also of releasing  | the same
 */
export function nameConflicts(model: readonly ReadObject<Infra>[], { snapshot, set }: Holdings): Issue[] {
  const own = [...snapshot.allocations, ...snapshot.releasing].filter((line) => line.set === set);
  const theirs = snapshot.allocations.filter((line) => isOfOtherSet(line, set));
  const byName = Map.groupBy([...theirs, ...own], ({ claim }) => nameOfObjects(claim));
  return model.flatMap(({ value: infra, source }) =>
    infra.units.flatMap((unit) =>
      unit.hosts.flatMap(({ name: host }): Issue[] => {
        const [name, title] = [objectName(unit.name, host), titleOfHost(unit.name, host)];
        const isOther = (line: Allocation) => line.set !== set || ownerOfKey(line.claim) !== title;
        const other = byName.get(name)?.find(isOther);
        const at = source.at(hostPath(unit.name, host), host, "key");
        return other === undefined ? [] : [{ ...conflict(title, name, other, set), at }];
      }),
    ),
  );
}

function conflict(title: string, name: string, line: Allocation, set: string): Issue {
  if (line.set !== set)
    return {
      message: `${title} is in a file of claim set ${line.set}, too (${formatBlock(line)} of ${line.pool}): both would render ${name}`,
      hint: "Give the unit or the host another name in one of the files.",
    };
  return {
    message: `the objects of ${title} would be called ${name}, as those of ${ownerOfKey(line.claim)}, which has ${formatBlock(line)}`,
    hint: "If it is the same host, declare the rename. Otherwise name it otherwise, or wait until those are free.",
  };
}
