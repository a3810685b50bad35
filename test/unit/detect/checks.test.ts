import { describe, expect, it } from "vitest";
import { parseAddress, unwrap } from "../../../core/index.ts";
import { checksOf } from "../../../detect/checks.ts";
import { parseNics } from "../../../detect/nics.ts";

const nics = (...names: readonly string[]) =>
  parseNics(
    JSON.stringify(
      names.map((ifname, i) => ({
        ...{ ifname, flags: ["LOWER_UP"] },
        addr_info: [{ local: `10.${i}.0.1`, prefixlen: 24, scope: "global" }],
      })),
    ),
  );
const scope = { addresses: [], gateways: [unwrap(parseAddress("10.0.0.254"))], conflicts: true };

describe("a pod without a NIC but eth0", () => {
  it("is refused, as nothing found would look like good news", () => {
    expect(() => checksOf(nics("eth0"), { ...scope, mayBeNone: false })).toThrow("no NIC but lo and eth0");
  });

  it("has nothing to look at, where what added the container does not know its NICs", () => {
    expect(checksOf(nics("eth0"), { ...scope, mayBeNone: true })).toEqual([]);
    expect(checksOf(nics("net1", "eth0"), { ...scope, mayBeNone: true })).toHaveLength(2);
  });
});
