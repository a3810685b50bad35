import { describe, expect, it } from "vitest";
import { kindsOf } from "../../../controller/cache/kinds.ts";
import { refresh } from "../../../controller/cache/refresh.ts";
import type { Seen } from "../../../controller/cache/seen.ts";
import { World } from "../../../controller/cache/world.ts";
import { nmstate } from "../../../integrations/nmstate/index.ts";

const kind = "NodeNetworkConfigurationPolicy";
const name = `${kind}.nmstate.io`;
const key = `${name}/b`;

function policy(uid: string, resourceVersion: string): Seen {
  return { apiVersion: "nmstate.io/v1", kind, metadata: { name: "b", uid, resourceVersion }, spec: {} } as never;
}

describe("an answer that comes after the watch told of the end of the object", () => {
  it("does not bring it back", () => {
    const world = new World(kindsOf([nmstate]), () => {});
    world.set(policy("u1", "5"));
    world.delete(key);
    world.take(world.kind(name), policy("u1", "6"));
    expect(world.get(key)).toBeUndefined();
  });

  it("is not taken for the one that was made since", () => {
    const world = new World(kindsOf([nmstate]), () => {});
    world.set(policy("u1", "5"));
    world.replace(name, [policy("u2", "9")]);
    world.take(world.kind(name), policy("u1", "6"));
    expect(world.get(key)?.metadata.uid).toBe("u2");
  });

  it("does not take away the one that was made since", async () => {
    const world = new World(kindsOf([nmstate]), () => {});
    const get = async () => void world.set(policy("u2", "9"));
    await refresh(key, world, { get } as never);
    expect(world.get(key)?.metadata.uid).toBe("u2");
  });

  it("does not take away the one that was made since, where it is the end itself", () => {
    const world = new World(kindsOf([nmstate]), () => {});
    world.set(policy("u1", "5"));
    world.replace(name, [policy("u2", "9")]);
    const last = policy("u1", "6");
    const ended = { ...last, metadata: { ...last.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } };
    world.take(world.kind(name), ended);
    expect(world.get(key)?.metadata.uid).toBe("u2");
  });

  it("is believed where a restore has brought it back", () => {
    const world = new World(kindsOf([nmstate]), () => {});
    world.set(policy("u1", "5"));
    world.delete(key);
    world.replace(name, [policy("u1", "4")]);
    world.take(world.kind(name), policy("u1", "7"));
    expect(world.get(key)?.metadata.resourceVersion).toBe("7");
  });
});
