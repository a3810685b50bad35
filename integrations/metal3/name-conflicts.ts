import { formatBlock, type Issue, ownerOfKey } from "../../core/index.ts";
import { issueIn } from "../../schema/objects.ts";
import type { Holdings } from "../integration.ts";
import type { ReadObject } from "../read-each.ts";
import { type Infra, nameOfObjects, objectName, titleOfHost, unitPath } from "./infra.ts";

/**
 * A host must not come under the name of the objects of another one that still has addresses: `a-b` and `c`, and `a` and `b-c`,
 * give one name. Nobody could tell which of the two has what. Of the hosts of one configuration parsing sees to that.
 */
export function nameConflicts(model: readonly ReadObject<Infra>[], { snapshot, set }: Holdings): Issue[] {
  const lines = [...snapshot.allocations, ...snapshot.releasing].filter((line) => line.set === set);
  const byName = Map.groupBy(lines, ({ claim }) => nameOfObjects(claim));
  const conflict = (infra: Infra) =>
    infra.units.flatMap((unit) =>
      unit.hosts.flatMap(({ name: host }): Issue[] => {
        const [name, title] = [objectName(unit.name, host), titleOfHost(unit.name, host)];
        const other = byName.get(name)?.find(({ claim }) => ownerOfKey(claim) !== title);
        if (other === undefined) return [];
        const has = `${ownerOfKey(other.claim)}, which has ${formatBlock(other)}`;
        const message = `the objects of ${title} would be called ${name}, as those of ${has}`;
        return [{ message, hint, path: [...unitPath(unit.name), "macMapping", host] }];
      }),
    );
  return model.flatMap(({ value, source }) => conflict(value).map((issue) => issueIn(source, issue)));
}

const hint = "If it is the same host, declare the rename. Otherwise name it otherwise, or wait until those are free.";
