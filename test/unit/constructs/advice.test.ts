import { expect, it } from "vitest";
import { adviceOf, lockOption } from "../../../constructs/advice.ts";
import { IpamError, type Issue } from "../../../core/errors.ts";

it.each<[NonNullable<Issue["remedy"]>, string]>([
  [
    ["rename", "a/x", "b/x", "policy", "storage"],
    "nodeippool mv --lock ../a.lock --set storage a b, or allowMove: true in AddressPlan.configure",
  ],
  [["merge"], "nodeippool allocate --lock ../a.lock -- npx cdk8s synth"],
  [["merge-landed"], "nodeippool allocate --lock ../a.lock --landed REV -- npx cdk8s synth (REV: a branch or commit)"],
])("a hint for the command line names the app's own record and set: %j", (remedy, says) => {
  const error = new IpamError("in-use", [{ message: "no", hint: "Do this.", remedy }]);
  expect(adviceOf(error, " --lock ../a.lock")).toBe(`no\n  Do this: ${says}`);
});

it("a lockfile is one word of a shell", () => {
  expect(lockOption("../a.lock")).toBe(" --lock ../a.lock");
  expect(lockOption("my lock")).toBe(" --lock 'my lock'");
});
