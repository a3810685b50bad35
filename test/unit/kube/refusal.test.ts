import { expect, it } from "vitest";
import { IpamError } from "../../../core/index.ts";
import { ipamError, Refusal } from "../../../kube/refusal.ts";

const request = { method: "GET", path: "/api/v1/nodes" } as const;
const hintOf = (body: string) => {
  const error = ipamError(request, new Refusal({ status: 403, headers: {}, body }), "https://server");
  return error instanceof IpamError ? error.issues[0]?.hint : undefined;
};

it("a 403 of an API server is a missing right; one of a proxy is not", () => {
  const status = { kind: "Status", reason: "Forbidden", message: 'nodes is forbidden: User "u" cannot list' };
  expect(hintOf(JSON.stringify(status))).toBe("ask an administrator of the cluster for this right");
  expect(hintOf("<html>Access denied</html>")).toMatch(/^this answer is not an API server's: look at the proxy/);
});
