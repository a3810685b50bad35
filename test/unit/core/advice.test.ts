import { describe, expect, it } from "vitest";
import { adviceOf, remedyText, type Surface } from "../../../core/advice.ts";
import { IpamError, type Remedy } from "../../../core/errors.ts";

describe("a remedy in the words of each surface", () => {
  const rename = ["rename", "a/x", "b/x", "Node/n1"] as const;
  it.each<[Remedy, Surface, string]>([
    [rename, "commandLine", "nodeippool mv Node/n1/a/x Node/n1/b/x, or nodeippool allocate --allow-move"],
    [rename, "cdk8s", "nodeippool mv Node/n1/a/x Node/n1/b/x, or allowMove: true in AddressPlan.configure"],
    [rename, "pulumi", 'moved: [{ from: "Node/n1/a/x", to: "Node/n1/b/x" }], or allowMove: true'],
    [["rename", "a/x", "b/x"], "commandLine", "nodeippool mv a/x b/x, or nodeippool allocate --allow-move"],
    [["rename", "a", "b"], "pulumi", 'moved: [{ from: "OWNER/a", to: "OWNER/b" }], for each owner, or allowMove: true'],
    [["to-set", "a", "lab", "shop"], "pulumi", "nodeippool mv a --set lab --to-set shop"],
    [["record", "landed"], "cdk8s", "nodeippool allocate --landed REV -- npx cdk8s synth"],
    [["record", "init"], "commandLine", "nodeippool allocate --init"],
    [["allow", "release"], "commandLine", "nodeippool allocate --confirm"],
    [["allow", "release"], "cdk8s", "nodeippool allocate --confirm -- npx cdk8s synth"],
    [["allow", "release"], "stack", "confirmRelease: true"],
    [["allow", "move"], "stack", "allowMove: true"],
    [["release"], "pulumi", "nodeippool release"],
    [["release"], "stack", 'release: ["Kind/name"], in an update without this claim'],
    [["record"], "cdk8s", "nodeippool allocate -- npx cdk8s synth"],
    [["record"], "pulumi", "nodeippool allocate -- pulumi preview"],
    [["moved", "file"], "commandLine", "--lock FILE"],
    [["moved", "cluster"], "pulumi", 'state: { backend: "kubernetes", context, namespace }'],
  ])("%j on %s", (remedy, surface, text) => {
    expect(remedyText(remedy, surface)).toBe(text);
  });

  it("stands behind the hint", () => {
    const error = new IpamError("in-use", "it is taken", { hint: "Free it.", remedy: ["release"] });
    expect(adviceOf(error, "commandLine")).toBe("it is taken\n  Free it: nodeippool release");
    expect(error.message).toBe("it is taken\n  Free it.");
  });
});
