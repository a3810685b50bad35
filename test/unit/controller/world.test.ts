import { describe, expect, it } from "vitest";
import { Cache } from "../../../controller/cache/cache.ts";
import { kindsOf } from "../../../controller/cache/kinds.ts";
import { refresh } from "../../../controller/cache/refresh.ts";
import type { Seen } from "../../../controller/cache/seen.ts";
import { World } from "../../../controller/cache/world.ts";
import { nmstateInCluster } from "../../../integrations/nmstate/in-cluster.ts";

const kind = "NodeNetworkConfigurationPolicy";
const name = `${kind}.nmstate.io`;
const key = `${name}/b`;

function policy(uid: string, resourceVersion: string): Seen {
  return { apiVersion: "nmstate.io/v1", kind, metadata: { name: "b", uid, resourceVersion }, spec: {} } as never;
}

it("whose version alone changes, as of a node that is alive, concerns nobody", () => {
  const cache = new Cache(kindsOf([nmstateInCluster]));
  const concerned: string[] = [];
  new World(cache, kindsOf([nmstateInCluster]), (_, about) => void concerned.push(about));
  for (const version of ["5", "6", "7"]) cache.set(policy("u1", version));
  expect(concerned).toEqual([key]);
});

describe("an answer that comes after the watch told of the end of the object", () => {
  it("does not bring it back", () => {
    const cache = new Cache(kindsOf([nmstateInCluster]));
    cache.set(policy("u1", "5"));
    cache.delete(key);
    cache.take(cache.kind(name), policy("u1", "6"));
    expect(cache.get(key)).toBeUndefined();
  });

  it("is not taken for the one that was made since", () => {
    const cache = new Cache(kindsOf([nmstateInCluster]));
    cache.set(policy("u1", "5"));
    cache.replace(name, [policy("u2", "9")]);
    cache.take(cache.kind(name), policy("u1", "6"));
    expect(cache.get(key)?.metadata.uid).toBe("u2");
  });

  it("does not take away the one that was made since", async () => {
    const cache = new Cache(kindsOf([nmstateInCluster]));
    const get = async () => void cache.set(policy("u2", "9"));
    await refresh(key, new World(cache, kindsOf([nmstateInCluster]), () => {}), { get } as never);
    expect(cache.get(key)?.metadata.uid).toBe("u2");
  });

  it("does not take away the one that was made since, where it is the end itself", () => {
    const cache = new Cache(kindsOf([nmstateInCluster]));
    cache.set(policy("u1", "5"));
    cache.replace(name, [policy("u2", "9")]);
    const last = policy("u1", "6");
    const ended = { ...last, metadata: { ...last.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } };
    cache.take(cache.kind(name), ended);
    expect(cache.get(key)?.metadata.uid).toBe("u2");
  });

  it("is believed where a restore has brought it back", () => {
    const cache = new Cache(kindsOf([nmstateInCluster]));
    cache.set(policy("u1", "5"));
    cache.delete(key);
    cache.replace(name, [policy("u1", "4")]);
    cache.take(cache.kind(name), policy("u1", "7"));
    expect(cache.get(key)?.metadata.resourceVersion).toBe("7");
  });
});

it("a version that was overtaken is not believed, but where a list shows it: etcd was restored then", () => {
  const cache = new Cache(kindsOf([nmstateInCluster]));
  const version = () => cache.get(key)?.metadata.resourceVersion;
  cache.take(cache.kind(name), policy("u1", "10"));
  cache.set(policy("u1", "9"));
  expect(version()).toBe("10");
  cache.replace(name, [policy("u1", "9")]);
  expect(version()).toBe("9");
});
