import { objectKey } from "../../../integrations/contract/object-key.ts";
import type { KubeObject, Objects } from "../../../kube/index.ts";
import { asBag, asList, type Bag } from "../../../schema/objects.ts";
import { resources } from "../sim/every-system.ts";

/** The Events and conditions of the objects on a server whose keys begin so, as `REASON: MESSAGE`. */
export async function wordsOn(kube: Objects): Promise<(about: string) => string[]> {
  const events = await kube.list<KubeObject & Bag>({ apiVersion: "v1", plural: "events" });
  const told = events.map(({ involvedObject, ...event }) => {
    const { apiVersion, kind, name, namespace } = asBag(involvedObject) ?? {};
    const metadata = { name, ...(namespace !== undefined && { namespace }) };
    return { key: objectKey({ apiVersion, kind, metadata } as never), words: [event as Bag] };
  });
  const all = Object.entries(resources).map(async ([kind, resource]) => {
    const found = await kube.list<KubeObject & Bag>(resource);
    return found.map((one) => ({
      key: objectKey({ ...one, apiVersion: resource.apiVersion, kind } as never),
      words: asList(asBag(one.status)?.conditions).map((each) => asBag(each) ?? {}),
    }));
  });
  const said = [...told, ...(await Promise.all(all)).flat()];
  return (about) =>
    said
      .filter(({ key }) => key.startsWith(about))
      .flatMap(({ words }) => words.map(({ reason, message }) => `${reason}: ${message}`));
}
