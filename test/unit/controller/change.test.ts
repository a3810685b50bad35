import { describe, expect, it } from "vitest";
import { keep, type Seen } from "../../../controller/cache/seen.ts";
import { changeOf, fingerprint } from "../../../controller/write/change.ts";
import type { RenderedObject } from "../../../integrations/contract/integration.ts";
import { managedBy } from "../../../integrations/contract/managed-by.ts";
import type { WatchedKind } from "../../../integrations/contract/watched-kind.ts";
import type { Bag } from "../../../schema/objects.ts";
import { tableOf } from "../../support/core/table.ts";

const kind: WatchedKind = {
  apiVersion: "v1",
  kind: "Thing",
  plural: "things",
  keep: ({ spec }) => ({ spec }),
  fixed: ({ spec }) => (spec as Bag | undefined)?.capture,
};
const owner = (uid: string) => [{ apiVersion: "v1", kind: "Node", name: "n", uid }];
const wanted = {
  apiVersion: "v1",
  kind: "Thing",
  metadata: { name: "t", labels: { a: "1" }, annotations: { b: "2" }, ownerReferences: owner("u1") },
  spec: { capture: { x: "1" }, desiredState: { ip: "10.0.0.1", "prefix-length": 24 } },
} as unknown as RenderedObject;

/** Ours as it should be, but for what is said. */
function there({ metadata = {}, spec = {}, labels = {} }: { metadata?: Bag; spec?: Bag; labels?: Bag }): Seen {
  const own = wanted as unknown as { metadata: Bag; spec: Bag };
  return keep(kind, {
    ...wanted,
    metadata: {
      ...own.metadata,
      uid: "u",
      resourceVersion: "1",
      labels: { ...(own.metadata.labels as Bag), ...managedBy, ...labels },
      ...metadata,
    },
    spec: { ...own.spec, ...spec },
  });
}

const protection = "example.org/protection";
const deleted = { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: [protection] };
const states: Readonly<Record<string, Seen | undefined>> = {
  no: undefined,
  theirs: there({ labels: { "app.kubernetes.io/managed-by": "helm" } }),
  ours: there({}),
  "ours, fields in another order": there({ spec: { desiredState: { "prefix-length": 24, ip: "10.0.0.1" } } }),
  "ours, with a label of others": there({ labels: { c: "3" } }),
  "ours, other content": there({ spec: { desiredState: { ip: "10.0.0.2" } } }),
  "ours, other label": there({ labels: { a: "9" } }),
  "ours, no annotation": there({ metadata: { annotations: {} } }),
  "ours, of another owner": there({ metadata: { ownerReferences: owner("u2") } }),
  "ours, other capture": there({ spec: { capture: { x: "2" } } }),
  "other capture, was applied": there({ spec: { capture: { x: "2" } } }),
  "ours, being deleted": there({ metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } }),
  "protected, being deleted": there({ metadata: deleted }),
  "protected, deleted, other": there({ metadata: deleted, spec: { capture: { x: "2" } } }),
};

describe("an object that somebody else made, and that is to be taken over", () => {
  const taken = (object: Seen, isWanted = true) =>
    changeOf(isWanted ? fingerprint(wanted, kind) : undefined, object, 0, { isTakenOver: true });
  const labels = { "app.kubernetes.io/managed-by": "helm" };

  it("is replaced, whatever it says, but while it is being deleted", () => {
    expect(taken(there({ labels }))).toBe("replace");
    expect(taken(there({ labels, spec: { capture: { x: "2" } } }))).toBe("replace");
    expect(taken(there({ labels, metadata: { ...deleted, labels } }))).toBe("none");
  });

  it("is deleted where nothing of it is wanted: it goes with its owner", () => {
    expect(taken(there({ labels }), false)).toBe("delete");
    const ending = there({ labels, metadata: { ...deleted, labels } });
    expect(changeOf(undefined, ending, 0, { isTakenOver: true, protection })).toBe("unprotect");
  });
});

describe("a status", () => {
  const digests = (own: WatchedKind) =>
    ["a", "b"].map((block) => fingerprint({ ...wanted, status: { block } } as RenderedObject, own).digest);

  it("is content where its kind has none of its own, and else what others say", () => {
    expect(new Set(digests(kind)).size).toBe(1);
    expect(new Set(digests({ ...kind, hasNoStatusSubresource: true })).size).toBe(2);
  });

  it("that somebody has changed is replaced where it is content", () => {
    const plain = { ...kind, hasNoStatusSubresource: true };
    const mine = { ...wanted, status: { block: "a" } } as unknown as RenderedObject;
    const metadata = { ...mine.metadata, labels: { a: "1", ...managedBy }, uid: "u", resourceVersion: "1" };
    const change = (status: Bag) => changeOf(fingerprint(mine, plain), keep(plain, { ...mine, metadata, status }), 0);
    expect([change({ block: "a" }), change({ block: "b" })]).toEqual(["none", "replace"]);
  });
});

describe("changeOf", () => {
  it.each(
    tableOf(`
      is there                      | reports | wanted  | not wanted
      no                            | 0       | create  | none
      no                            | 1       | none    | none
      theirs                        | 0       | refuse  | none
      ours                          | 0       | none    | delete
      ours                          | 1       | none    | delete
      ours, fields in another order | 0       | none    | delete
      ours, with a label of others  | 0       | none    | delete
      ours, other content           | 1       | replace | delete
      ours, other label             | 0       | replace | delete
      ours, no annotation           | 0       | replace | delete
      ours, of another owner        | 0       | replace | delete
      ours, other capture           | 0       | delete  | delete
      other capture, was applied    | 0       | none    | delete
      ours, being deleted           | 0       | none    | none
      protected, being deleted      | 0       | none    | unprotect
      protected, deleted, other     | 0       | unprotect | unprotect
    `),
  )("$title", ({ cell }) => {
    const state = `${cell("is there")[0]}`;
    expect(Object.keys(states)).toContain(state);
    const change = (object: RenderedObject | undefined) =>
      changeOf(object && fingerprint(object, kind), states[state], Number(cell("reports")[0]), {
        protection,
        wasApplied: state.endsWith("was applied"),
      });
    expect([change(wanted), change(undefined)]).toEqual([cell("wanted")[0], cell("not wanted")[0]]);
  });
});
