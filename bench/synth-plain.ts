import { ApiObject, App, Chart } from "cdk8s";

/** An object as cdk8s gives it. */
type Manifest = ReturnType<ApiObject["toJson"]>;

/** The objects of `ours`, with nothing but cdk8s. */
export function plain(objects: readonly Manifest[]): App {
  const app = new App();
  const chart = new Chart(app, "network");
  for (const object of objects) new ApiObject(chart, `${object.kind}-${object.metadata.name}`, structuredClone(object));
  return app;
}
