import { describe, expect, it } from "vitest";
import { credentialsOf } from "../../../src/kube/credentials.ts";

const apiVersion = "client.authentication.k8s.io/v1";
const server = new URL("https://a.test");
const ask = (script: string, more: object = {}) => {
  const exec = {
    apiVersion,
    command: "sh",
    args: ["-c", script],
    env: { GREETING: "hi" },
    isInteractive: true,
    ...more,
  };
  return credentialsOf({ name: "a", server, namespace: "default", user: { exec } }).get();
};
const print = (content: object) =>
  `printf '%s' '${JSON.stringify({ apiVersion, kind: "ExecCredential", ...content })}'`;

describe("a credential plugin", () => {
  it("is told of the cluster and of its environment", async () => {
    const script = `[ "$GREETING" = hi ] || exit 3; printf '{"apiVersion":"${apiVersion}","status":{"token":%s}}' "$(printf '%s' "$KUBERNETES_EXEC_INFO" | base64 -w0 | sed 's/.*/"&"/')"`;
    const { headers } = await ask(script, { cluster: { server: "s" } });
    const told = Buffer.from(String(headers.authorization).replace("Bearer ", ""), "base64").toString();
    const spec = { interactive: false, cluster: { server: "s" } };
    expect(JSON.parse(told)).toEqual({ apiVersion, kind: "ExecCredential", spec });
  });

  it.each([
    ["exit 3", "ended with 3"],
    ["kill -9 $$", "ended with a signal"],
    ["echo hello", "printed no JSON"],
    ["echo null", "did not print a credential"],
    [print({ apiVersion: "v1", status: { token: "t" } }), "did not print a credential"],
    [print({ status: {} }), "printed neither a token nor a certificate"],
    [print({ status: { clientCertificateData: "c" } }), "printed neither a token nor a certificate"],
  ])("%s: %s", async (script, message) => {
    await expect(ask(script, { hint: "install it" })).rejects.toMatchObject({
      code: "invalid",
      message: expect.stringMatching(new RegExp(`^the credential plugin sh ${message}[^]*install it$`)),
    });
  });

  it("that does not exist", async () => {
    const missing = ask("", { command: "/none/login", hint: "install it" });
    await expect(missing).rejects.toThrow(
      /^the credential plugin \/none\/login did not run: .*ENOENT\n {2}install it$/,
    );
  });
});
