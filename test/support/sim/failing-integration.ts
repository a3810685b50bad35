import type { ClusterIntegration } from "../../../integrations/contract/cluster-integration.ts";
import { asBag, type Bag } from "../../../schema/objects.ts";

/** An object with this annotation makes the function of that name of its integration throw. */
export const failsAnnotation = "example.com/fails";

/** An integration with a defect: one of its functions throws where one of the objects that it reads says so. */
export function failing(one: ClusterIntegration): ClusterIntegration {
  const asked = new WeakMap<object, ReadonlySet<unknown>>();
  const check = (name: string, model: unknown) => {
    if (asked.get(model as object)?.has(name)) throw new TypeError(`a planted defect in ${name}`);
  };
  return {
    ...one,
    read: (objects) => {
      const fails = new Set(objects.owned.map(({ object }) => failsIn(object)));
      if (fails.has("read")) throw new TypeError("a planted defect in read");
      const parsed = one.read(objects);
      if (parsed.value !== undefined) {
        const model = { model: parsed.value };
        asked.set(model, fails);
        return { value: model };
      }
      return parsed;
    },
    claims: (model, facts) => {
      check("claims", model);
      return one.claims(inside(model), facts);
    },
    render: (model, facts, holdings) => {
      check("render", model);
      return one.render(inside(model), facts, holdings);
    },
    ...(one.pools && { pools: (model: unknown) => one.pools?.(inside(model)) ?? [] }),
    ...(one.conflicts && {
      conflicts: (...[model, ...rest]: Parameters<NonNullable<ClusterIntegration["conflicts"]>>) => {
        check("conflicts", model);
        return one.conflicts?.(inside(model), ...rest) ?? [];
      },
    }),
  };
}

function inside(model: unknown): never {
  return (model as { readonly model: unknown }).model as never;
}

function failsIn({ metadata }: Bag): unknown {
  return asBag(asBag(metadata)?.annotations)?.[failsAnnotation];
}
