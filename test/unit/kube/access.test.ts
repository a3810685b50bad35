import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { findAccess, podAccess } from "../../../kube/index.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "nodeippool-kube-"));
  mkdirSync(join(folder, ".kube"));
  writeFileSync(join(folder, "ca.crt"), "CA");
  return () => rmSync(folder, { recursive: true });
});

let count = 0;
function file(text: string): string {
  const path = join(folder, `config-${++count}`);
  writeFileSync(path, text);
  return path;
}

/** A kubeconfig with one cluster, user and context of a name. */
const config = (name: string, user = "{}", cluster = "") => `
current-context: ${name}
clusters: [{name: ${name}, cluster: {server: "https://${name}.test:6443"${cluster}}}]
users: [{name: ${name}, user: ${user}}]
contexts: [{name: ${name}, context: {cluster: ${name}, user: ${name}, namespace: n-${name}}}]
`;
const access = (text: string) => findAccess({ kubeconfig: file(text) });
const userOf = (user: string) => access(config("a", user)).user;
const base64 = (text: string) => Buffer.from(text).toString("base64");

describe("a kubeconfig", () => {
  it("says where the cluster is", () => {
    const all = `, certificate-authority: ca.crt, tls-server-name: t, proxy-url: "http://p:1", insecure-skip-tls-verify: true`;
    expect(access(config("a", "{}", all))).toMatchObject({
      name: "context a",
      server: new URL("https://a.test:6443"),
      namespace: "n-a",
      ca: "CA",
      tlsServerName: "t",
      proxy: "http://p:1",
      isInsecure: true,
    });
  });

  it("holds data in base64, which goes before the file of that name", () => {
    const both = `, certificate-authority: none.crt, certificate-authority-data: ${base64("DATA")}`;
    expect(access(config("a", "{}", both)).ca).toBe("DATA");
  });

  it.each([
    ["{token: t}", { token: "t" }],
    ["{tokenFile: token}", { tokenFile: expect.stringMatching(/^\/.*\/token$/) }],
    [`{client-certificate: ca.crt, client-key-data: ${base64("KEY")}}`, { certificate: { cert: "CA", key: "KEY" } }],
    ["{as: jane, as-groups: [a]}", { impersonate: { user: "jane", groups: ["a"] } }],
    [
      "{exec: {apiVersion: client.authentication.k8s.io/v1, command: ./login, args: [a], env: [{name: A, value: b}], interactiveMode: Never}}",
      { exec: { command: expect.stringMatching(/^\/.*\/login$/), args: ["a"], env: { A: "b" }, isInteractive: false } },
    ],
    [
      "{exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: login, args: null, provideClusterInfo: true, installHint: get it}}",
      { exec: { command: "login", args: [], hint: "get it", cluster: { server: "https://a.test:6443" } } },
    ],
    ['{token: "t\\n"}', { token: "t" }],
    ["{auth-provider: {name: oidc, config: {id-token: t}}}", { provider: { name: "oidc" } }],
  ])("says who the user is: %s", (user, expected) => {
    expect(userOf(user)).toMatchObject(expected);
  });

  it.each([
    ["current-context: b", 'no context "b"'],
    ["contexts: []", "names none"],
    ["", "names none"],
    ["a:\n  b: [", ":2:7: Flow sequence"],
    ["- 1", "is not what a kubeconfig has"],
    ["contexts: 1\ncurrent-context: a", "contexts is not"],
    [config("a").replace("cluster: a,", "cluster: b,"), 'no cluster "b"'],
    [config("a").replace("user: a,", "user: b,"), 'no user "b"'],
    [config("a").replace("https:", "ftp:"), "server is not"],
    [config("a", "{}", ", proxy-url: 'socks5://p:1'"), "proxy-url is not"],
    [config("a", "{}", ", certificate-authority: none.crt"), "cannot read"],
    [config("a", "{token: 1}"), "token is not"],
    [config("a", "{exec: {apiVersion: v1, command: a}}"), "apiVersion is not"],
    [config("a", "{exec: {apiVersion: client.authentication.k8s.io/v1}}"), "command is not"],
    [config("a", "{exec: {apiVersion: client.authentication.k8s.io/v1, command: a, args: 1}}"), "args is not"],
  ])("is invalid: %j", (text, message) => {
    const path = file(text);
    expect(() => findAccess({ kubeconfig: path })).toThrow(
      expect.objectContaining({ code: "invalid", message: expect.stringContaining(message) }),
    );
  });
});

describe("which kubeconfig", () => {
  const find = (env: NodeJS.ProcessEnv, context?: string) =>
    findAccess({ env, ...(context === undefined ? {} : { context }) }).server.hostname;
  const list = (...paths: string[]) => ({ KUBECONFIG: paths.join(delimiter) });

  it("the ones that KUBECONFIG lists, less those that do not exist; the first counts", () => {
    const [a, b] = [file(config("a")), file(config("b"))];
    expect(find(list("/none", a, b))).toBe("a.test");
    expect(find(list(b, a))).toBe("b.test");
    expect(find(list(a, b), "b")).toBe("b.test");
    expect(find(list(file(config("a").replace("https://a", "https://first")), a))).toBe("first.test");
  });

  it("else ~/.kube/config, else the cluster of this pod, else none", () => {
    const pod = { HOME: folder, KUBERNETES_SERVICE_HOST: "10.0.0.1" };
    expect(() => find(pod)).toThrow(/cannot read .*serviceaccount/);
    writeFileSync(join(folder, ".kube/config"), config("home"));
    expect(find(pod)).toBe("home.test");
    expect(() => find({ HOME: "/none" })).toThrow("/none/.kube/config does not exist");
    expect(() => find({ HOME: "/none" }, "a")).toThrow('no context "a": there is no kubeconfig /none/.kube/config');
  });

  it("a pod's service account, also at an IPv6 address", () => {
    for (const name of ["namespace", "token"]) writeFileSync(join(folder, name), `${name}\n`);
    const env = { KUBERNETES_SERVICE_HOST: "fd00::1", KUBERNETES_SERVICE_PORT: "6443" };
    expect(podAccess(env, folder)).toEqual({
      name: "this pod's service account",
      server: new URL("https://[fd00::1]:6443"),
      namespace: "namespace",
      ca: "CA",
      user: { tokenFile: join(folder, "token") },
    });
  });
});
