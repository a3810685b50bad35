import { describe, expect, it } from "vitest";
import { proxyFor } from "../../../kube/proxy.ts";

const HTTPS_PROXY = "http://proxy:3128";
const of = (server: string, env: Record<string, string>) => proxyFor(new URL(server), env);

// As golang.org/x/net/http/httpproxy reads them, for kubectl.
describe("the proxy to a server", () => {
  it.each<[string, string, Record<string, string>, string | undefined]>([
    ["of https", "https://api.example.net:6443", { HTTPS_PROXY, HTTP_PROXY: "http://other" }, HTTPS_PROXY],
    ["of http", "http://api.example.net", { HTTPS_PROXY, HTTP_PROXY: "http://other" }, "http://other"],
    ["in small letters", "https://api.example.net", { https_proxy: HTTPS_PROXY }, HTTPS_PROXY],
    ["without a scheme", "https://api.example.net", { HTTPS_PROXY: "proxy:3128" }, HTTPS_PROXY],
    ["with a user", "https://api.example.net", { HTTPS_PROXY: "u:p@proxy:3128" }, "http://u:p@proxy:3128"],
    ["where none is named", "https://api.example.net", {}, undefined],
    ["of this machine", "https://localhost:6443", { HTTPS_PROXY }, undefined],
    ["of this machine, by address", "https://127.0.0.2:6443", { HTTPS_PROXY }, undefined],
    ["of this machine, IPv6", "https://[::1]:6443", { HTTPS_PROXY }, undefined],
  ])("%s", (_, server, env, proxy) => {
    expect(of(server, env)).toBe(proxy);
  });

  it.each<[noProxy: string, server: string, isDirect: boolean]>([
    ["*", "https://api.example.net", true],
    ["example.net", "https://example.net", true],
    ["example.net", "https://api.example.net", true],
    ["example.net", "https://badexample.net", false],
    [".example.net", "https://api.example.net", true],
    [".example.net", "https://example.net", false],
    ["*.example.net", "https://api.example.net", true],
    ["*.example.net", "https://example.net", false],
    ["other, API.Example.Net", "https://api.example.net", true],
    ["api.example.net:6443", "https://api.example.net:6443", true],
    ["api.example.net:443", "https://api.example.net:6443", false],
    ["10.0.0.0/8", "https://10.96.0.1", true],
    ["10.0.0.0/8", "https://11.0.0.1", false],
    ["10.0.0.0/8", "https://api.example.net", false],
    ["10.96.0.1", "https://10.96.0.1:6443", true],
    ["10.96.0.1:443", "https://10.96.0.1:6443", false],
    ["2001:db8::/32", "https://[2001:db8::1]:6443", true],
    ["[2001:db8::1]:6443", "https://[2001:db8::1]:6443", true],
    ["2001:db8::1", "https://[2001:db8::1]:6443", true],
    ["", "https://api.example.net", false],
  ])("NO_PROXY=%s for %s", (NO_PROXY, server, isDirect) => {
    expect(of(server, { HTTPS_PROXY, NO_PROXY })).toBe(isDirect ? undefined : HTTPS_PROXY);
  });

  it("is refused where it speaks SOCKS, without its password", () => {
    const env = { HTTPS_PROXY: "socks5://u:secret@proxy:1080" };
    expect(() => of("https://api.example.net", env)).toThrowError(
      /^the proxy socks5:\/\/proxy:1080 is not an HTTP proxy\n/,
    );
  });
});
