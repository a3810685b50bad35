import fc from "fast-check";
import { expect, it } from "vitest";
import { claimNameOf, podInterfaceOf, vmOfClaimName } from "../../../integrations/ipamclaim/claim-name.ts";
import { nameIssue } from "../../../schema/names.ts";

it.each([
  ["vm-a", "tenantblue", "vm-a.tenantblue"],
  ["a.b", "c", "a.b.c"],
  ["a", "b.c", "a.b-c-c0620514"],
  ["vm-a", "my_net", "vm-a.my-net-3ebd4baa"],
  ["vm-a", "My-Net", "vm-a.my-net-8d920e5a"],
  ["vm-a", "net-0123abcd", "vm-a.net-0123abcd-1a606b89"],
])("C2, B2: the claim of VM %s on network %s is %s", (vm, network, name) => {
  expect(claimNameOf(vm, network)).toBe(name);
  expect(vmOfClaimName(name)).toBe(vm);
});

it("C2, B2: no two VMs or networks share a claim, and each name is one that Kubernetes takes", () => {
  const vmName = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,5}[a-z0-9])?(\.[a-z0-9]{1,3}){0,2}$/);
  const network = fc.oneof(fc.stringMatching(/^[A-Za-z0-9._-]{1,8}$/), fc.stringMatching(/^[a-z]-[0-9a-f]{8}$/));
  const all = new Map<string, string>();
  fc.assert(
    fc.property(vmName, network, (vm, net) => {
      const name = claimNameOf(vm, net);
      const before = all.get(name) ?? `${vm}/${net}`;
      all.set(name, before);
      expect([nameIssue(name), before]).toEqual([undefined, `${vm}/${net}`]);
    }),
    { numRuns: 5_000 },
  );
});

it("B2: a name that would be too long is cut, and stays a name of its own", () => {
  const long = `${"v".repeat(200)}.${"w".repeat(40)}`;
  const [one, other] = ["net-a-with-a-long-name", "net-b-with-a-long-name"].map((net) => claimNameOf(long, net));
  expect(one).not.toBe(other);
  expect([one, other].map((name) => nameIssue(name))).toEqual([undefined, undefined]);
});

it("C3: the interface in the pod is what KubeVirt calls it", () => {
  expect(podInterfaceOf("blue")).toBe("pod16477688c0e");
});
