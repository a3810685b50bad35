import { join, relative } from "node:path";
import { afterEach, expect, it, vi } from "vitest";
import { emptySnapshot } from "../../../core/allocation.ts";
import { offerVariable, otherRecord, recordOfLock, takeOffers, withOffers } from "../../../state/offer.ts";
import { folderOf } from "../../support/schema/cli.ts";

afterEach(() => vi.unstubAllEnvs());

/** Makes this process one that runs under `nodeippool allocate`, for this record. */
function runFor(record: string): void {
  const folder = folderOf({});
  takeOffers(folder, record);
  vi.stubEnv(offerVariable, folder);
}

it("a run is for one record, by whatever name", () => {
  const lock = join(folderOf({}), "nodeippool.lock");
  expect(otherRecord(lock)).toBeUndefined();
  runFor(recordOfLock(lock));
  for (const name of [lock, relative(process.cwd(), lock)]) expect(withOffers(emptySnapshot, name)).toBe(emptySnapshot);
  expect(otherRecord("nodeippool.lock")).toBe(recordOfLock(lock));
  expect(() => withOffers(emptySnapshot, "nodeippool.lock")).toThrow(
    `this plan is for nodeippool.lock, but the run that it is part of records in ${recordOfLock(lock)}`,
  );
});

it("a record in a cluster has its own name", () => {
  runFor("ConfigMaps of namespace net/a");
  expect(otherRecord("ConfigMaps of namespace net/a")).toBeUndefined();
  expect(otherRecord("ConfigMaps of namespace net/b")).toBe("ConfigMaps of namespace net/a");
});
