import { ApiObject, Chart } from "cdk8s";
import type { Construct } from "constructs";
import { byCodeUnit } from "../core/index.ts";
import type { Rendered, RenderedObject } from "../integrations/contract/integration.ts";
import { Names } from "../pipeline/names.ts";
import type { AppDesired, AppObjects } from "./app-objects.ts";
import { ClusterObject } from "./cluster-object.ts";

/** An object, and where in the tree it goes. */
interface Addition {
  readonly scope: Construct;
  readonly object: RenderedObject;
}

/**
 * Adds what is rendered to the constructs that it is of; clean-up goes to the first chart. Throws IpamError `invalid`, and
 * adds nothing, if an object has the name of another one of the app.
 */
export function addRendered(rendered: Rendered, objects: AppObjects, { constructs, others }: AppDesired): ApiObject[] {
  const [home] = [...objects.pools, ...objects.objects]
    .flatMap(chartOf)
    .sort((a, b) => byCodeUnit(a.node.path, b.node.path));
  const additions = [
    ...[...constructs].flatMap(([source, scope]): Addition[] => {
      const made = rendered.instead.get(source) ?? [];
      return (scope.takes?.(made) ?? made).map((object) => ({ scope, object }));
    }),
    ...(home === undefined ? [] : rendered.added.map((object): Addition => ({ scope: home, object }))),
  ];
  const names = new Names();
  for (const { object, at } of others) names.take(object, at([], "").file);
  for (const { scope, object } of additions) names.take(object, scope.node.path);
  return additions.map(({ scope, object }) => {
    const { name, namespace } = object.metadata;
    // Objects of several kinds may share a name.
    const own = scope.node.tryFindChild(name) === undefined ? name : `${name}-${object.kind}`;
    const id = scope === home ? `nodeippool-releasing-${name}` : own;
    return namespace === undefined ? new ClusterObject(scope, id, object) : new ApiObject(scope, id, object);
  });
}

/** The chart that a construct is in; a pool that another app has need not be in one. */
function chartOf({ node }: Construct): Chart[] {
  return node.scopes.filter((scope) => Chart.isChart(scope)).slice(-1);
}
